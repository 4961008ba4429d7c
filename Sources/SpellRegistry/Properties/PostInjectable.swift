/// A type whose instances finish their setup in a method that is called after the injection of their properties.
public protocol PostInjectable {
  /// Finishes the setup of the object.
  ///
  /// `registry.inject(into:)` calls this method after it has injected the object's properties.
  /// ``InitializerRegistry/postInjectInstances()`` calls it on each registered instance.
  func postInject()
}
