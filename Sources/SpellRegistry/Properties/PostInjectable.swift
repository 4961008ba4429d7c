/// A type whose instances finish their setup in a method that is called after the injection of their properties.
public protocol PostInjectable {
  /// Finishes the setup of the object.
  ///
  /// `registry.inject(into:)` calls this method after it has injected the object's properties.
  /// ``InitializerRegistry/postInjectInstances()`` calls it on each registered instance.
  func postInject()
}

extension InitializerRegistry {
  /// Calls `postInject()` on each registered ``PostInjectable`` instance, in the order of registration.
  ///
  /// This method holds no lock during the calls, and ignores instances that are registered in a parent. An object that
  /// is registered twice gets only one call of `postInject()`.
  public func postInjectInstances() {
    var called: Set<ObjectIdentifier> = []
    for record in registrations {
      // The cast also unwraps an Optional, so that the next check sees the wrapped object, not the Optional.
      guard let instance = record.instance as? any PostInjectable else { continue }
      let isObject = type(of: instance) is any AnyObject.Type
      if isObject && !called.insert(ObjectIdentifier(instance as AnyObject)).inserted { continue }
      instance.postInject()
    }
  }
}
