/// An object with something left to do once everything is injected into it.
public protocol PostInjectable {
  /// Called after `registry.inject(into:)` has filled the object, and by ``InitializerRegistry/postInjectInstances()`` on
  /// registered instances.
  func postInject()
}
