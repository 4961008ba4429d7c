public import SpellRegistry

extension InitializerRegistry {
  /// Fills all of an object's `@Injected` properties at once, or none.
  ///
  /// Every value is made first, from this registry and in one resolution, so that the properties share values of scope
  /// `.graph`. They are stored only when all are there; then the hooks are called, and
  /// ``PostInjectable/postInject()``, if the object has it. Properties that have a value keep it, Optional ones with
  /// nothing registered stay nil, and those that ask at every read or hold weakly are left to do so.
  ///
  /// Finds the properties by reflection, a microsecond each, which reads every stored property of the object: the object
  /// must be the caller's own. A main-actor object is filled on the main actor, and an actor by itself; both have a form
  /// of this method that the compiler chooses.
  ///
  /// - Throws: Why the first property could not be filled; nothing is changed then. `.noInjectableProperties` if
  ///   reflection shows none: the class has none, has a custom mirror, or was built without reflection metadata.
  public func inject<Object: AnyObject>(into object: Object) throws(InjectionError) {
    try injectUnchecked(into: object)
  }

  /// Fills a `Sendable` object on the main actor, as `inject(into:)` does.
  ///
  /// A class with wrapped properties is `Sendable` only if it is isolated to the main actor or declared
  /// `@unchecked Sendable`. This method fills objects of both.
  @MainActor public func inject<Object: AnyObject & Sendable>(into object: Object) throws(InjectionError) {
    try injectUnchecked(into: object)
  }

  /// Fills an actor, on the actor, as `inject(into:)` does.
  public func inject<Object: Actor>(into object: isolated Object) throws(InjectionError) {
    try injectUnchecked(into: object)
  }

  private func injectUnchecked(into object: AnyObject) throws(InjectionError) {
    let properties = InjectableProperties.of(object)
    guard !properties.isEmpty else { throw InjectionError.noInjectableProperties(in: object) }
    // One resolution for all, so that they share values of scope `.graph`.
    try resolvingTogether(type(of: object)) { () throws(InjectionError) in
      var prepared: [() throws(InjectionError) -> () -> Void] = []
      for property in properties {
        if let store = try property.wrapper.prepare(in: object, from: self) { prepared.append(store) }
      }
      var hooks: [() -> Void] = []
      for store in prepared { hooks.append(try store()) }
      for callHooks in hooks { callHooks() }
    }
    (object as? any PostInjectable)?.postInject()
  }
}

extension InjectionError {
  static func noInjectableProperties(in object: AnyObject) -> InjectionError {
    let name = TypeName.of(type(of: object))
    return InjectionError(
      .noInjectableProperties, through: [InjectionStep(Service(type(of: object)))],
      advice: """
        Reflection shows no @Injected property in \(name): it has none, has a custom mirror, or was built with \
        -disable-reflection-metadata. Read its properties one by one instead.
        """)
  }
}

// MARK: Properties that can be filled

/// An `@Injected` property whose type only the runtime knows.
protocol InjectableProperty: NamedProperty {
  /// Makes the value; the result stores it, and returns what calls the hooks.
  func prepare(
    in container: AnyObject, from registry: InitializerRegistry
  ) throws(InjectionError) -> (() throws(InjectionError) -> () -> Void)?
  /// Injects a service, if it is of the property's type; says whether it was.
  func inject(_ service: any Sendable, in container: AnyObject) throws(InjectionError) -> Bool
}

extension Injected: InjectableProperty {
  func prepare(
    in container: AnyObject, from registry: InitializerRegistry
  ) throws(InjectionError) -> (() throws(InjectionError) -> () -> Void)? {
    guard case .once = policy else { return nil }
    return try storage.prepareValue(in: container, from: registry)
  }

  func inject(_ service: any Sendable, in container: AnyObject) throws(InjectionError) -> Bool {
    guard let value = service as? Value else { return false }
    if case .weak(let weakValue) = policy {
      weakValue.hold(value)
    } else if !holds(service) {
      try storage.inject(value, in: container)
    }
    return true
  }

  /// Whether the property has this very object already.
  private func holds(_ service: any Sendable) -> Bool {
    guard let value = storage.value, type(of: service as Any) is any AnyObject.Type else { return false }
    let held = (value as? any OptionalValue).map(\.content) ?? value
    return (held as AnyObject?) === (service as AnyObject)
  }
}

enum InjectableProperties {
  /// The `@Injected` properties of an object, superclasses' first.
  static func of(_ object: AnyObject) -> [(name: String, wrapper: any InjectableProperty)] {
    WrappedProperties.of(object, as: (any InjectableProperty).self)
  }
}
