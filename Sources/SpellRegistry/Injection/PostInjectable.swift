/// An object with something left to do once everything is injected into it.
public protocol PostInjectable {
  /// Called after `registry.inject(into:)` has filled the object, and by ``InitializerRegistry/postInject()`` on
  /// registered instances.
  func postInject()
}

extension InitializerRegistry {
  /// Calls `postInject()` on every registered instance that has it, in the order of registration, with no lock held.
  ///
  /// Instances are those of `register(instance:)` in this registry; one that is registered twice is called once.
  public func postInject() {
    var called: Set<ObjectIdentifier> = []
    for entry in entries {
      guard let instance = entry.instance(as: (any PostInjectable).self) else { continue }
      let isObject = type(of: instance as Any) is any AnyObject.Type
      if isObject && !called.insert(ObjectIdentifier(instance as AnyObject)).inserted { continue }
      instance.postInject()
    }
  }
}
