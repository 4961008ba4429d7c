public import SpellRegistry

extension InitializerRegistry {
  /// Fills all of an object's `@Injected` properties at once, or none.
  ///
  /// Every value is made first, with this registry, and stored only when all are there; then the hooks are called, and
  /// ``PostInjectable/postInject()``, where the object has it. Properties that have a value keep it, Optional ones with
  /// nothing registered stay nil, and those that ask at every read or hold weakly are left to do so.
  ///
  /// Finds the properties by reflection, a microsecond each, so call it where the object may be read: for an actor, on
  /// the actor.
  ///
  /// - Throws: Why the first property could not be filled; nothing is changed then. `.noInjectableProperties` where
  ///   reflection shows none: the class has none, has a custom mirror, or was built without reflection metadata.
  public func inject(into object: AnyObject) throws(InjectionError) {
    (object as? any Actor)?.preconditionIsolated()
    let properties = InjectableProperties.of(object)
    guard !properties.isEmpty else { throw InjectionError.noInjectableProperties(in: object) }
    var prepared: [() throws(InjectionError) -> () -> Void] = []
    for property in properties {
      if let store = try property.wrapper.prepare(in: object, from: self) { prepared.append(store) }
    }
    var hooks: [() -> Void] = []
    for store in prepared { hooks.append(try store()) }
    for callHooks in hooks { callHooks() }
    (object as? any PostInjectable)?.postInject()
  }
}

extension InjectionError {
  static func noInjectableProperties(in object: AnyObject) -> InjectionError {
    let name = TypeName.of(type(of: object))
    return InjectionError(
      .noInjectableProperties, through: [InjectionStep(type(of: object))],
      notes: [
        """
        Reflection shows no @Injected property in \(name): it has none, has a custom mirror, or was built with \
        -disable-reflection-metadata. Read its properties one by one instead.
        """
      ])
  }
}
