/// A type whose objects finish their setup after their properties are injected.
public protocol PostInjectable {
  /// Finishes the setup; called after `registry.inject(into:)` has filled the object, and by
  /// ``InitializerRegistry/postInjectInstances()`` on registered instances.
  func postInject()
}
