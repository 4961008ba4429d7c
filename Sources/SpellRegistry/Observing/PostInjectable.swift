/// An object with something left to do once everything is injected into it.
public protocol PostInjectable {
  /// Called after `registry.inject(into:)` has filled the object, and by ``InitializerRegistry/postInjectInstances()`` on
  /// registered instances.
  func postInject()
}

extension InitializerRegistry {
  /// Calls `postInject()` on every registered instance that has it, in the order of registration, with no lock held.
  ///
  /// Instances are those of `register(instance:)` in this registry; one that is registered twice is called once.
  public func postInjectInstances() {
    var called: Set<ObjectIdentifier> = []
    for registration in registrations {
      guard let instance = registration.instance(as: (any PostInjectable).self) else { continue }
      let isObject = type(of: instance as Any) is any AnyObject.Type
      if isObject && !called.insert(ObjectIdentifier(instance as AnyObject)).inserted { continue }
      instance.postInject()
    }
  }
}
