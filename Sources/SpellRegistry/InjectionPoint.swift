/// The destination of a value: the property that asks for it, and the object that holds the property.
///
/// Every initializer that takes a ``Resolver`` and every hook gets one. It is valid while that initializer or hook
/// runs, and holds its container strongly for just as long.
public struct InjectionPoint {
  /// The declared type of the property, or the type that `resolve` was called with.
  public var propertyType: any Any.Type { service.type }
  /// What is asked for: that type, or a declared key of it.
  let service: Service
  /// The object that holds the property; nil for a struct, a local, a plain constant, and a direct `resolve`.
  public let container: AnyObject?
  let property: Property

  enum Property {
    case unnamed
    case named(String)
    /// A wrapped property, and the name that its declaration gave instead of its own.
    case wrapped(PropertyIdentity, alias: String?)
    /// The same, with the property's own name, which was found before.
    case found(PropertyIdentity, alias: String?, name: String?)
  }

  init(_ service: Service, in container: AnyObject?, _ property: Property) {
    self.service = service
    self.container = container
    self.property = property
  }

  /// The point of a direct request.
  @usableFromInline init(_ service: Service, named name: String?, in container: AnyObject?) {
    self.init(service, in: container, name.map { .named($0) } ?? .unnamed)
  }

  /// The point of a property that declares no name to ask with.
  @usableFromInline init(_ service: Service, of identity: PropertyIdentity, in container: AnyObject?) {
    self.init(service, in: container, .wrapped(identity, alias: nil))
  }

  /// The point of a property that an enclosing instance holds.
  ///
  /// - Parameters:
  ///   - propertyType: The property's declared type.
  ///   - container: The object that holds it, if one does.
  ///   - identity: The property's storage, by which reflection finds its name.
  ///   - alias: The name to ask with instead of the property's own, as in `@Injected("backup")`.
  public init(
    _ propertyType: any Any.Type, in container: AnyObject?, property identity: PropertyIdentity,
    alias: String? = nil
  ) {
    self.init(Service(propertyType), in: container, .wrapped(identity, alias: alias))
  }

  /// The dynamic class of the container.
  public var containerType: (any AnyObject.Type)? { container.map { type(of: $0) } }

  /// The name that the value is asked with: the property's own, unless its declaration or `resolve` gave another.
  ///
  /// Found by reflection once for each class and property (about a microsecond), then looked up. It is nil for
  /// structs, locals and plain constants, and in a program that was built without reflection metadata.
  public var propertyName: String? {
    switch property {
    case .unnamed: nil
    case .named(let name): name
    case .wrapped(_, let alias?): alias
    case .found(_, let alias, let name): alias ?? name
    case .wrapped(let identity, nil): container.flatMap { PropertyNames.name(of: identity, in: $0) }
    }
  }

  /// The property's own name, whatever it is asked with.
  var declaredName: String? {
    if case .found(_, _, let name) = property { return name }
    guard case .wrapped(let identity, _) = property, let container else { return propertyName }
    return PropertyNames.name(of: identity, in: container)
  }

  /// The same point, which keeps its name when the object gets other storage for the property.
  func withKnownName() -> InjectionPoint {
    guard case .wrapped(let identity, let alias) = property else { return self }
    return InjectionPoint(service, in: container, .found(identity, alias: alias, name: declaredName))
  }

  /// The point as a step of an error's path.
  package func step(_ type: any Any.Type) -> InjectionStep { step(Service(type)) }

  func step(_ service: Service, registration: SourcePlace? = nil) -> InjectionStep {
    var step = InjectionStep(service, registration: registration?.description)
    switch property {
    case .unnamed: return step
    case .named(let name): step.name = name
    case .wrapped(let identity, let alias), .found(let identity, let alias, _):
      step.name = alias
      step.declaration = identity.place.description
    }
    if case .named = property { return step }
    step.property = container.map { container in
      "\(TypeName.of(Swift.type(of: container))).\(declaredName ?? "(unnamed: built without reflection metadata)")"
    }
    return step
  }
}
