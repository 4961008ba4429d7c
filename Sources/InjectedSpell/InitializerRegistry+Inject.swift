public import SpellRegistry

extension InitializerRegistry {
  /// Fills all of an object's `@Injected` properties together, or none of them.
  ///
  /// All values are created first, from this registry and in one resolution, so that the properties share values of
  /// scope `.graph`. The values are stored only when all of them exist. After that, the injection hooks are called. If
  /// the object is a `PostInjectable`, its method ``/SpellRegistry/PostInjectable/postInject()`` is called last.
  ///
  /// A property that has a value keeps it. A property of an Optional type stays nil if nothing is registered for it.
  /// Properties that ask the registry at every read or hold their value weakly aren't filled.
  ///
  /// Reflection finds the properties in about a microsecond each. It reads them, so no other task may be using the
  /// object. For a `Sendable` object, such as a main-actor object, also pass key paths of its properties.
  ///
  /// - Throws: The error of the first property whose value can't be created, in which case the method stores no value.
  ///   The error's code is `.noInjectableProperties` if reflection shows no `@Injected` property. This happens if the
  ///   class has none, has a custom mirror, or was built without reflection metadata. If `onCompletion` hooks
  ///   cause each other to run without end, the method throws `.cycle`, although it has stored the values.
  public func inject<Object: AnyObject>(into object: Object) throws(InjectionError) {
    try injectAll(into: object)
  }

  /// Fills all of an actor's `@Injected` properties together, or none of them, in the actor's isolation.
  public func inject<Object: Actor>(into object: isolated Object) throws(InjectionError) {
    try injectAll(into: object)
  }

  /// Fills the given `@Injected` properties of an object together, or none of them.
  ///
  /// ```swift
  /// try registry.inject(into: screen, \.$tracker, \.$clock)
  /// ```
  ///
  /// The compiler checks that the caller runs in the isolation of the properties, for example on the main actor.
  ///
  /// A key path may lead to a property of an inner object, as in `\.header.$clock`. That property then gets what is
  /// registered for the inner object's class.
  ///
  /// - Precondition: Each key path leads to the projection of an `@Injected` property.
  public func inject<Object: AnyObject>(
    into object: Object, _ property: PartialKeyPath<Object>, _ others: PartialKeyPath<Object>...
  ) throws(InjectionError) {
    try inject(into: object, at: [property] + others)
  }

  /// Always throws, because another task may be using a `Sendable` object, whose isolation isn't known to this method.
  ///
  /// - Throws: An error of code `.wrongIsolation`.
  @available(*, deprecated, message: "name the properties: inject(into: object, \\.$property)")
  @MainActor public func inject<Object: AnyObject & Sendable>(into object: Object) throws(InjectionError) {
    throw InjectionError(
      .wrongIsolation, through: [InjectionStep(Service(Object.self))],
      advice:
        "Name its properties, so that the compiler checks where they are used: inject(into: object, \\.$property).")
  }

  private func injectAll(into object: AnyObject) throws(InjectionError) {
    let properties = InjectableProperties.of(object)
    guard !properties.isEmpty else { throw InjectionError.noInjectableProperties(in: object) }
    try inject(properties.map { ($0.wrapper, object) }, into: object)
  }

  private func inject(into object: AnyObject, at paths: [AnyKeyPath]) throws(InjectionError) {
    try inject(InjectableProperties.of(object, at: paths), into: object)
  }

  private func inject(
    _ properties: [(property: any InjectableProperty, container: AnyObject)], into object: AnyObject
  ) throws(InjectionError) {
    // One resolution for all properties lets them share values of scope `.graph`.
    try Self.resolvingTogether { () throws(InjectionError) in
      var prepared: [() throws(InjectionError) -> () -> Void] = []
      for (property, container) in properties {
        if let store = try property.prepare(in: container, from: self) { prepared.append(store) }
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
    InjectionError(
      .noInjectableProperties, through: [InjectionStep(Service(type(of: object)))],
      advice: """
        Reflection shows no @Injected property in \(TypeName.of(type(of: object))): it has none, has a custom mirror, or \
        was built with -disable-reflection-metadata. Read its properties one by one instead.
        """)
  }
}

// MARK: Properties that can be filled

/// An `@Injected` property whose type is known only at run time.
protocol InjectableProperty: NamedProperty {
  /// Returns the property's own name, or nil if reflection doesn't show it.
  func name(in container: AnyObject) -> String?
  /// Creates the property's value, and returns a function that stores it.
  ///
  /// The result is nil if the property already has a value, doesn't have the policy `.once`, or is an Optional for
  /// which nothing is registered. The returned function itself returns a second function, which calls the injection
  /// hooks. If the property has another value by the time of the call, neither function does anything.
  func prepare(
    in container: AnyObject, from registry: InitializerRegistry
  ) throws(InjectionError) -> (() throws(InjectionError) -> () -> Void)?
  /// Injects a service into the property, unless the service's type doesn't fit the property.
  ///
  /// If the service is an object that is already the property's value, the function doesn't store it or call hooks.
  ///
  /// - Returns: Whether the service's type fits the property.
  func inject(_ service: any Sendable, in container: AnyObject) throws(InjectionError) -> Bool
}

/// The projection `$property` of an `@Injected` property whose type is known only at run time.
private protocol InjectableProjection {
  var property: any InjectableProperty { get }
  var container: AnyObject? { get }
}

extension Injected.Projection: InjectableProjection {
  fileprivate var property: any InjectableProperty { injected }
}

extension Injected: InjectableProperty {
  func name(in container: AnyObject) -> String? { storage.point(in: container).declaredName }

  func prepare(
    in container: AnyObject, from registry: InitializerRegistry
  ) throws(InjectionError) -> (() throws(InjectionError) -> () -> Void)? {
    guard case .once = policy else { return nil }
    try cell.waitForValue()
    guard !storage.hasValue, let made = try storage.prepared(in: container, from: registry, hook: hook) else {
      return nil
    }
    return { () throws(InjectionError) in
      try storage.store(made.value, replacing: false, inEpoch: made.epoch) ? made.callHooks : {}
    }
  }

  func inject(_ service: any Sendable, in container: AnyObject) throws(InjectionError) -> Bool {
    guard let value = service as? Value else { return false }
    // While a re-injection replaces the property's value, the property still has the old value.
    try cell.waitForValue()
    if holds(service) { return true }
    if case .weak(let weakStorage) = policy {
      try weakStorage.store(WeakValue(holding: value), replacing: true)
    } else {
      try storage.store(value, replacing: true)
    }
    storage.callHooks(value, in: container, hook: hook)
    return true
  }

  /// Returns whether the service is an object that the property already has as its value.
  private func holds(_ service: any Sendable) -> Bool {
    let value: Value? = if case .weak(let weak) = policy { weak.value.map { $0.value() } } else { storage.value }
    guard let value, type(of: service as Any) is any AnyObject.Type else { return false }
    let held = (value as? any OptionalValue).map(\.content) ?? value
    return (held as AnyObject?) === (service as AnyObject)
  }
}

enum InjectableProperties {
  /// Returns an object's `@Injected` properties, with the properties of superclasses first.
  static func of(_ object: AnyObject) -> [(name: String, wrapper: any InjectableProperty)] {
    WrappedProperties.of(object, as: (any InjectableProperty).self) { $0 is any InjectableProperty.Type }
  }

  /// Returns the `@Injected` properties whose projections are at the given key paths, with the objects that have them.
  static func of(
    _ object: AnyObject, at paths: [AnyKeyPath]
  ) -> [(property: any InjectableProperty, container: AnyObject)] {
    paths.map { path in
      if let projection = (object as Any)[keyPath: path] as? any InjectableProjection {
        return (projection.property, projection.container ?? object)
      }
      trap("\(path) isn't the projection of an @Injected property. Write its name with a dollar sign: \\.$property.")
    }
  }
}
