/// A type whose objects finish their setup after their properties are injected.
public protocol PostInjectable {
  /// Finishes the setup of the object.
  ///
  /// `registry.inject(into:)` calls this method after it has injected the object's properties, and
  /// ``InitializerRegistry/postInjectInstances()`` calls it on registered instances.
  func postInject()
}
