/// The destination of a value: the property that asks for it, and the object that holds the property.
///
/// Every initializer that takes a ``Resolver`` and every hook gets one. It is valid while that initializer or hook
/// runs, and holds its container strongly for just as long. What runs on the main actor gets a point without a container.
public struct InjectionPoint {
  /// The service that is asked for: a type, or a declared key of it.
  package let service: Service
  /// The object that holds the property; nil for a struct, a local, a plain constant, and a direct `resolve`.
  public private(set) var container: AnyObject?
  /// The storage of the property that asks, if one does.
  private let cell: PropertyCell?
  /// The name that `resolve` or the property's declaration gives.
  private let givenName: Alias?
  /// The parts that few points have: apart, so that the others are small.
  private var details: Details?

  private final class Details {
    let identity: PropertyIdentity?
    /// The property's own name, if it was found before.
    let name: String??
    /// The container's class, if there is no container to ask.
    let containerType: (any AnyObject.Type)?

    init(identity: PropertyIdentity?, name: String??, containerType: (any AnyObject.Type)?) {
      (self.identity, self.name, self.containerType) = (identity, name, containerType)
    }
  }

  init(_ service: Service, of cell: PropertyCell? = nil, named alias: Alias? = nil, in container: AnyObject? = nil) {
    self.service = service
    self.container = container
    self.cell = cell
    givenName = alias
  }

  /// Creates the point of a property that an enclosing instance holds.
  ///
  /// - Parameters:
  ///   - propertyType: The property's declared type.
  ///   - container: The object that holds it, if one does.
  ///   - identity: The property's storage, by which reflection finds its name.
  ///   - alias: The name to ask with instead of the property's own, as in `@Injected("backup")`.
  public init(
    _ propertyType: any Any.Type, in container: AnyObject?, property identity: PropertyIdentity, alias: String? = nil
  ) {
    self.init(Service(propertyType), named: alias.map { Alias($0) }, in: container)
    details = Details(identity: identity, name: nil, containerType: nil)
  }

  var identity: PropertyIdentity? { cell?.identity ?? details?.identity }

  /// The declared type of the property, or the type that `resolve` was called with.
  public var propertyType: any Any.Type { service.type }

  /// The dynamic class of the container.
  public var containerType: (any AnyObject.Type)? { container.map { type(of: $0) } ?? details?.containerType }

  /// The name that the value is asked with: the property's own, unless its declaration or `resolve` gave another.
  ///
  /// Found by reflection once for each class and property (about a microsecond), then looked up. It is nil for
  /// structs, locals and plain constants, and in a program that was built without reflection metadata.
  public var propertyName: String? { alias ?? ownName }

  private var alias: String? { givenName?.name }

  /// The property's own name, whatever it is asked with.
  var declaredName: String? { identity == nil || containerType == nil ? alias : ownName }

  private var ownName: String? {
    if let name = details?.name { return name }
    guard let identity, let container else { return nil }
    return WrappedProperties.name(of: identity, in: container)
  }

  /// The same point, which keeps its name when the object gets other storage for the property.
  func withKnownName() -> InjectionPoint {
    var point = self
    point.details = Details(identity: details?.identity, name: .some(ownName), containerType: containerType)
    return point
  }

  /// The same point without its container, for code that may be isolated otherwise.
  func withoutContainer() -> InjectionPoint {
    var point = withKnownName()
    point.container = nil
    return point
  }

  /// The point as a step of an error's path.
  package func step(_ record: RegistrationRecord? = nil) -> InjectionStep {
    var step = InjectionStep(record?.service ?? service, registration: record?.place)
    step.name = alias
    guard let identity else { return step }
    step.declaration = identity.place.description
    step.property = containerType.map { type in
      "\(TypeName.of(type)).\(declaredName ?? "(unnamed: built without reflection metadata)")"
    }
    return step
  }
}
