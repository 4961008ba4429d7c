public import SpellRegistry
internal import Support

/// A property of the running program that has a wrapper, found without an object.
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
/// A wrapper is any type that is a `NamedProperty`: those of this package, and spells of your own. A constant, as
/// `let clock = Injected<Clock>()`, is listed too. Statics, locals, properties of generic types and inherited properties
/// aren't; the latter are the superclass's.
public struct WrappedProperty: Sendable, CustomStringConvertible {
  /// The property's name.
  public let name: String
  /// The wrapper's name, such as `Injected`.
  public let wrapper: String
  /// The type of the property.
  public let valueType: any Any.Type
  /// The type that declares the property.
  public let containerType: any Any.Type
  /// The name of the module that declares the type.
  public let module: String
  /// The name of the type that declares the property, with those of the types that it is declared in.
  let containerName: String
  /// The outcome for the property if nothing serves it.
  let necessity: PropertyNeed.Necessity
  /// The types that the property asks for, one after the other; a registration of one suffices.
  fileprivate let types: [any Any.Type]
  /// The name that it asks with; nil for one that asks with none.
  fileprivate let requestedName: String?
  /// Whether the declaration may give another name, or a key.
  fileprivate let takesNameOrKey: Bool
  /// The class that it asks for; nil for a struct's property, and for a constant.
  fileprivate let requestedContainer: (any AnyObject.Type)?

  init(
    _ label: String, of valueType: any Any.Type, in containerType: any Any.Type, named containerName: String,
    module: String, wrapper: String, need: PropertyNeed, mayHaveKey: Bool
  ) {
    name = label.hasPrefix("_") ? String(label.dropFirst()) : label
    self.wrapper = wrapper
    self.valueType = valueType
    self.containerType = containerType
    self.containerName = containerName
    self.module = module
    types = (need.asksForValue ? [valueType] : []) + need.services
    let isOptional = need.asksForValue && types.count == 1 && valueType is any OptionalValue.Type
    necessity = mayHaveKey ? .unknown : isOptional ? .optional : need.necessity
    // A constant is the wrapper itself, and a struct's property asks like one: with no name, and for no container.
    requestedContainer = name == label ? nil : containerType as? any AnyObject.Type
    requestedName = requestedContainer == nil ? nil : name
    takesNameOrKey = need.takesNameOrKey
  }

  /// The property and the types that it is in: `Menu.Item.price`.
  public var description: String { "\(containerName).\(name)" }
}

// MARK: Listing

extension WrappedProperty {
  /// Whether the program's types can be listed here.
  ///
  /// True on Linux, Android and the 64-bit systems of Apple; elsewhere, and in a build with signed pointers (arm64e), the
  /// lists are empty.
  public static var isSupported: Bool { LoadedImages.isSupported }

  /// Returns the properties of the running program that have a wrapper, those of private and nested types included.
  ///
  /// Creates nothing: types are found by what the compiler tells the runtime of them, in every image that is loaded.
  /// Properties of generic types, and of modules that are built with `-disable-reflection-metadata`, are left out. Costs
  /// milliseconds, and nothing is kept, so list the properties once in a test. Safe to call from any thread, while no
  /// image is being unloaded.
  ///
  /// - Parameter modules: The names of the modules whose types are listed, as in `import`; all modules of the program if
  ///   there are none. The linker leaves out what a program doesn't use of a library.
  /// - Returns: The properties, in the order of the program's types.
  public static func all(inModules modules: String...) -> [WrappedProperty] {
    ProgramListing(ofModules: Set(modules)).properties
  }
}

// MARK: Checking

extension InitializerRegistry {
  /// Returns an error for each property that would stop the program at its first read, since nothing is registered for it
  /// in this registry or a parent.
  ///
  /// ```swift
  /// let properties = WrappedProperty.all(inModules: "MyApp")
  /// #expect(registry.validate(properties: properties).isEmpty)
  /// ```
  ///
  /// Creates nothing, and reports nothing that may be right:
  ///
  /// - a property whose declaration may give a name, as `@Injected("night")`, is served by a registration with any name;
  /// - a class's property is served by what is registered for a subclass, since the class may have no objects of its own;
  /// - an Optional may be nil, unless something that would fit is registered as another type;
  /// - a `@Lazy` may have an expression, and a `@Final` be assigned before it is read: they are never reported.
  ///
  /// ``validate(keys:)`` checks the registrations themselves.
  ///
  /// - Parameter properties: The properties to check.
  /// - Returns: An error for each property that nothing serves, with the line to write.
  public func validate(properties: [WrappedProperty]) -> [InjectionError] {
    properties.compactMap { property in
      guard property.necessity != .unknown, record(serving: property) == nil, let service = property.decisiveService
      else { return nil }
      if property.necessity == .required { return missing(service, for: property.description) }
      guard property.takesNameOrKey, let wrapped = property.wrappedService, fits(wrapped) else { return nil }
      return missing(wrapped, for: property.description)
    }
  }

  /// Whether a value of another type than a service's is registered that would fit it.
  private func fits(_ service: Service) -> Bool {
    let isSubtype = subtypes(of: service.type)
    return reachable.map(\.record).contains { record in
      record.isUnlimited && record.service.key == nil && (isSubtype(record.service.type) || record.serves(service))
    }
  }

  /// Returns what ``graph()`` returns, and each type that has a property which a registration serves.
  ///
  /// A type that is needed by a property and that nothing serves is missing in the graph. A property that does without has
  /// an edge if something serves it.
  ///
  /// - Parameter properties: The properties to draw.
  /// - Returns: The graph.
  public func graph(properties: [WrappedProperty]) -> DependencyGraph {
    let graph = graph()
    var (nodes, edges) = (graph.nodes, graph.edges)
    let registered = Set(nodes.map(\.type))
    for property in properties {
      let missing = property.necessity == .required ? property.decisiveService : nil
      guard let needed = record(serving: property)?.service ?? missing else { continue }
      let container = TypeName.of(property.containerType)
      let from = registered.contains(container) ? container : property.containerName
      nodes += [.init(type: from, isContainer: true), .init(type: needed.name)]
      edges.append(.init(from: from, to: needed.name))
    }
    return DependencyGraph(nodes: nodes, edges: edges)
  }

  /// The registration that serves a property, or may: the one that wins for an object of the declaring class, else one
  /// for a subclass of it, or for another name if the declaration may give one; nil if there is none.
  private func record(serving property: WrappedProperty) -> RegistrationRecord? {
    let winner = property.services.lazy.compactMap { self.provider(serving: $0, for: property)?.record }.first
    return winner ?? lineage.lazy.flatMap { $0.registrations.reversed() }.first { $0.mayServe(property) }
  }

  private func provider(serving service: Service, for property: WrappedProperty) -> Provider? {
    provider(serving: service, named: property.requestedName, in: property.requestedContainer)
  }
}

extension WrappedProperty {
  /// The services that the property asks for.
  fileprivate var services: [Service] { types.map { Service($0) } }

  /// The service to register if nothing serves the property: the last one, which serves many properties, as a loader does.
  fileprivate var decisiveService: Service? { services.last }

  /// The service that an Optional property's type wraps.
  fileprivate var wrappedService: Service? { (valueType as? any OptionalValue.Type).map { Service($0.wrappedType) } }

  /// Whether a constraint is for objects that have the property, or for some of them.
  fileprivate func mayBe(in constraint: ClassConstraint) -> Bool {
    guard let container = requestedContainer else { return false }
    func isSuperclass<Container: AnyObject>(_: Container.Type) -> Bool { constraint.type is Container.Type }
    return constraint.includes(container) || isSuperclass(container)
  }

  /// Whether the property may ask with a name that is meant.
  fileprivate func mayAsk(with name: PropertyName) -> Bool { takesNameOrKey || name.rank(for: requestedName) != nil }
}

extension RegistrationRecord {
  /// Whether this is for some object that has the property, under a name that the property may ask with.
  fileprivate func mayServe(_ property: WrappedProperty) -> Bool {
    if hasArguments || container.map(property.mayBe(in:)) == false || name.map(property.mayAsk(with:)) == false {
      return false
    }
    return property.services.contains { service in
      let wrapped = (service.type as? any OptionalValue.Type).map { Service($0.wrappedType) }
      return [service, wrapped].compactMap(\.self).contains { self.service == $0 || servesSupertypes && serves($0) }
    }
  }
}
