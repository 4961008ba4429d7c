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
  /// The property's storage, if a wrapped property asks.
  let identity: PropertyIdentity?
  /// The name that `resolve` or the property's declaration gives.
  let alias: String?
  /// The property's own name, if it was found before.
  private var foundName: String?

  init(_ service: Service, of identity: PropertyIdentity? = nil, named alias: String? = nil, in container: AnyObject?) {
    self.service = service
    self.container = container
    self.identity = identity
    self.alias = alias
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
    self.init(Service(propertyType), of: identity, named: alias, in: container)
  }

  /// The dynamic class of the container.
  public var containerType: (any AnyObject.Type)? { container.map { type(of: $0) } }

  /// The name that the value is asked with: the property's own, unless its declaration or `resolve` gave another.
  ///
  /// Found by reflection once for each class and property (about a microsecond), then looked up. It is nil for
  /// structs, locals and plain constants, and in a program that was built without reflection metadata.
  public var propertyName: String? { alias ?? ownName }

  /// The property's own name, whatever it is asked with.
  var declaredName: String? { identity == nil || container == nil ? alias : ownName }

  private var ownName: String? {
    guard let identity, let container else { return nil }
    return foundName ?? WrappedProperties.name(of: identity, in: container)
  }

  /// The same point, which keeps its name when the object gets other storage for the property.
  func withKnownName() -> InjectionPoint {
    var point = self
    point.foundName = ownName
    return point
  }

  /// The point as a step of an error's path.
  package func step(_ type: any Any.Type) -> InjectionStep { step(Service(type)) }

  func step(_ service: Service, registration: SourcePlace? = nil) -> InjectionStep {
    var step = InjectionStep(service, registration: registration)
    step.name = alias
    guard let identity else { return step }
    step.declaration = identity.place.description
    step.property = container.map { container in
      "\(TypeName.of(Swift.type(of: container))).\(declaredName ?? "(unnamed: built without reflection metadata)")"
    }
    return step
  }
}
