public import SpellRegistry
internal import Support

/// A wrapped property of a type in the running program, found without an instance of the type.
///
/// ```swift
/// @Test func everyPropertyIsServed() {
///   let registry = InitializerRegistry()
///   registerServices(in: registry)
///   let properties = WrappedProperty.all(inModules: "MyApp")
///   #expect(registry.validate(properties: properties).isEmpty)
/// }
/// ```
///
/// A wrapper is any type that conforms to `NamedProperty`, from this package or your own. A constant such as
/// `let clock = Injected<Clock>()` is also listed. Static properties, local variables, and the properties of generic
/// types aren't listed. An inherited property is listed only for the superclass that declares it.
public struct WrappedProperty: Sendable, CustomStringConvertible {
  /// The property's name in source.
  public let name: String
  /// The wrapper's name, such as `Injected`.
  public let wrapper: String
  /// The type of the property's value, such as `Clock` for `@Injected var clock: Clock`.
  public let valueType: any Any.Type
  /// The type that declares the property.
  public let containerType: any Any.Type
  /// The name of the module in which ``containerType`` is declared.
  public let module: String
  /// The name of the type that declares the property, after the names of its enclosing types, such as `Menu.Item`.
  let containerName: String
  /// The effect of a read if no registration serves the property.
  let necessity: PropertyNeed.Necessity
  /// The types that the property asks for, in order; a registration for one of them suffices.
  fileprivate let types: [any Any.Type]
  /// The name with which the property asks a registry, unless the declaration specifies another name.
  ///
  /// This is nil for a struct's property, and for a constant such as `let clock = Injected<Clock>()`.
  fileprivate let requestedName: String?
  /// Whether the declaration may specify a name other than ``requestedName``, or a key.
  fileprivate let takesNameOrKey: Bool
  /// The declaring class, which the property's request names as its container; nil if ``requestedName`` is nil.
  fileprivate let requestedContainer: (any AnyObject.Type)?

  init(
    _ label: String, of valueType: any Any.Type, in containerType: any Any.Type, named containerName: String,
    module: String, wrapper: String, need: PropertyNeed, mayHaveKey: Bool
  ) {
    name = WrappedProperties.name(ofLabel: label) ?? label
    self.wrapper = wrapper
    self.valueType = valueType
    self.containerType = containerType
    self.containerName = containerName
    self.module = module
    types = (need.asksForValue ? [valueType] : []) + need.services
    let isOptional = need.asksForValue && types.count == 1 && valueType is any OptionalValue.Type
    necessity = mayHaveKey ? .unknown : isOptional ? .optional : need.necessity
    // The label of `@Injected var clock` is `_clock`, but the label of `let clock = Injected<Clock>()` is `clock`. The
    // request of a constant, or of a struct's property, has neither a name nor a container. A constant whose own name
    // begins with an underscore can't be told apart from a wrapped property.
    requestedContainer = name == label ? nil : containerType as? any AnyObject.Type
    requestedName = requestedContainer == nil ? nil : name
    takesNameOrKey = need.takesNameOrKey
  }

  /// The property's name after the names of its enclosing types, such as `Menu.Item.price`.
  public var description: String { "\(containerName).\(name)" }
}

// MARK: Listing

extension WrappedProperty {
  /// Whether the program's types can be listed on this platform and in this build.
  ///
  /// This property is true on Linux, Android and Apple's 64-bit platforms. On other platforms, and in a build with
  /// signed pointers (arm64e), ``all(inModules:)`` returns no properties.
  public static var isSupported: Bool { LoadedImages.isSupported }

  /// Returns the properties of the running program that have a wrapper, including those of private and nested types.
  ///
  /// No object is created. The types are found in the metadata that the compiler leaves for the runtime in the
  /// program and each loaded library. Properties of generic types, and of modules that are built with
  /// `-disable-reflection-metadata`, are left out. A call takes milliseconds, and nothing is cached, so list the
  /// properties once in a test. Any thread may call this method while no library is being unloaded.
  ///
  /// - Parameter modules: The names of the modules whose types are listed, as in `import`. If none are given, the types
  ///   of all modules are listed. Types that the linker leaves out, because the program doesn't use them,
  ///   aren't listed.
  /// - Returns: The properties, in the order of the program's types.
  public static func all(inModules modules: String...) -> [WrappedProperty] {
    ProgramListing(ofModules: Set(modules)).properties
  }
}

// MARK: Checking

extension InitializerRegistry {
  /// Returns an error for each property that needs a registration, if none in this registry or a parent serves it.
  ///
  /// A required property without a registration would stop the program at its first read.
  ///
  /// ```swift
  /// let properties = WrappedProperty.all(inModules: "MyApp")
  /// #expect(registry.validate(properties: properties).isEmpty)
  /// ```
  ///
  /// A property is reported too if it needs an async value that no scope keeps, directly or through autowired
  /// initializers. The check creates no values, and doesn't report a property that may be correct:
  ///
  /// - A registration with any name serves a property whose declaration may give a name, as in `@Injected("night")`.
  /// - A registration for a subclass of the declaring class serves the property, because the declaring class may have
  ///   no instances except those of its subclasses.
  /// - An Optional may be nil. It is reported only if a value that would fit is registered as another type.
  /// - An `@Injected` property may use a declared key of its type. If the program declares a key of that type, the
  ///   property is never reported. Keys that a generic function creates may not be found.
  /// - A `@Lazy` property may have an expression, and a `@Final` property may be assigned before it is read. These
  ///   properties are never reported.
  ///
  /// ``validate(keys:)`` checks the registrations themselves.
  ///
  /// - Parameter properties: The properties to check.
  /// - Returns: An error for each property that the check reports, with the line to add.
  public func validate(properties: [WrappedProperty]) -> [InjectionError] {
    properties.compactMap { property in
      guard property.necessity != .unknown, let service = property.decisiveService else { return nil }
      if let chosen = chosenRecord(for: property) { return unreadiness(of: chosen, for: property, service) }
      if record(serving: property) != nil { return nil }
      if property.necessity == .required { return missing(service, for: property) }
      guard property.takesNameOrKey, let wrapped = property.wrappedService, fits(wrapped) else { return nil }
      return missing(wrapped, for: property)
    }
  }

  /// Returns an error if the registration that serves a property needs an async value that no scope keeps; nil otherwise.
  private func unreadiness(
    of record: RegistrationRecord, for property: WrappedProperty, _ service: Service
  ) -> InjectionError? {
    var seen: Set<ObjectIdentifier> = []
    guard property.necessity == .required,
      let way = wayToAsync(from: record, named: property.requestedName, &seen), let last = way.last
    else { return nil }
    let step = InjectionStep(service, servedBy: record, ofProperty: property.name, in: property.containerType)
    return InjectionError(
      .notReady, through: [step] + way.dropFirst().map(\.step),
      advice: """
        A property can't await, and scope .\(last.scopeName) keeps no value for it. Keep the value, \
        registry.register(\(TypeName.source(of: last.service.type)), scope: .singleton, .async { … }), and await it before the \
        property is read.
        """)
  }

  /// Returns the registrations from `record` to an async one that it needs, if no scope keeps a value on the way.
  ///
  /// - Parameters:
  ///   - name: The name in the request that `record` serves.
  ///   - seen: The registrations that were searched already.
  private func wayToAsync(
    from record: RegistrationRecord, named name: String?, _ seen: inout Set<ObjectIdentifier>
  ) -> [RegistrationRecord]? {
    if record.lifetime.isShared || !seen.insert(ObjectIdentifier(record)).inserted { return nil }
    if record.isAsync { return [record] }
    for case (_, let name, let need?) in needs(of: record, named: name) {
      if let way = wayToAsync(from: need.record, named: name, &seen) { return [record] + way }
    }
    return nil
  }

  /// Returns whether a registration that isn't limited to a name or a class makes values that fit the service.
  ///
  /// A value fits if it has the service's type or a subtype, or if it is a function that returns the service's type.
  private func fits(_ service: Service) -> Bool {
    let isSubtype = subtypes(of: service.type)
    return reachable.map(\.record).contains { record in
      record.isUnlimited && record.service.key == nil
        && (isSubtype(record.service.type) || record.serves(service) || record.returns(service.type))
    }
  }

  /// Returns ``graph()`` extended with the types that declare the properties, and with the properties' dependencies.
  ///
  /// The type that a required property asks for appears as missing if no registration serves the property. Any other
  /// property has an edge only if a registration serves the property.
  ///
  /// - Parameter properties: The properties to draw.
  /// - Returns: The graph with the properties' types.
  public func graph(properties: [WrappedProperty]) -> DependencyGraph {
    let links = properties.compactMap { property -> PropertyLink? in
      let provider = record(serving: property)
      let missing = property.necessity == .required ? property.decisiveService : nil
      guard let service = provider?.service ?? missing else { return nil }
      return PropertyLink(
        container: Service(property.containerType), containerName: property.containerName, provider: provider,
        service: service)
    }
    return graph(with: [], properties: links)
  }

  /// Returns the registration that serves a property, or may serve it; nil if there is none.
  ///
  /// The result is the registration that this registry chooses for an object of the declaring class. If there is none,
  /// the result is the newest registration for a subclass, or for another name that the declaration may specify. This
  /// registration comes from the nearest registry that has one.
  private func record(serving property: WrappedProperty) -> RegistrationRecord? {
    chosenRecord(for: property) ?? lineage.lazy.flatMap { $0.registrations.reversed() }.first { $0.mayServe(property) }
  }

  private func chosenRecord(for property: WrappedProperty) -> RegistrationRecord? {
    property.services.lazy.compactMap { self.provider(serving: $0, for: property)?.record }.first
  }

  private func provider(serving service: Service, for property: WrappedProperty) -> Provider? {
    provider(serving: service, named: property.requestedName, in: property.requestedContainer)
  }
}

extension WrappedProperty {
  /// The services that the property asks for, in order.
  fileprivate var services: [Service] { types.map { Service($0) } }

  /// The service to register if no registration serves the property: the last one that the property asks for.
  fileprivate var decisiveService: Service? { services.last }

  /// The service of the wrapped type; nil if the property's type isn't an Optional.
  fileprivate var wrappedService: Service? { (valueType as? any OptionalValue.Type).map { Service($0.wrappedType) } }

  /// Returns whether a registration's class constraint includes all or some of the objects that have the property.
  fileprivate func mayBe(in constraint: ClassConstraint) -> Bool {
    guard let container = requestedContainer else { return false }
    func isSuperclass<Container: AnyObject>(_: Container.Type) -> Bool { constraint.type is Container.Type }
    return constraint.includes(container) || isSuperclass(container)
  }

  /// Returns whether the property may request its value with a name that matches a registration's name.
  fileprivate func mayAsk(with name: PropertyName) -> Bool { takesNameOrKey || name.rank(for: requestedName) != nil }
}

extension RegistrationRecord {
  /// Returns whether the registration may serve the property, for some object and a name that the property may use.
  fileprivate func mayServe(_ property: WrappedProperty) -> Bool {
    if container.map(property.mayBe(in:)) == false || name.map(property.mayAsk(with:)) == false {
      return false
    }
    return property.services.contains { service in
      let wrapped = (service.type as? any OptionalValue.Type).map { Service($0.wrappedType) }
      return [service, wrapped].compactMap(\.self).contains(where: isRegistered(for:))
    }
  }
}
