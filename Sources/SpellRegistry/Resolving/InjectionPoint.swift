/// The destination of a value: the property that asks for it, and the object that holds the property.
///
/// Every initializer that takes a ``Resolver``, and every hook, gets a point. The point is valid, and keeps its
/// container alive, while that code runs. Main-actor initializers and hooks, and completions, get a point without a
/// container.
public struct InjectionPoint {
  /// The service that is requested: a type, or a declared key for a value of the type.
  package let service: Service
  /// The object that holds the property or was passed to `resolve`; nil for structs, locals and plain constants.
  public private(set) var container: AnyObject?
  /// The storage of the property that asks; nil if none does.
  private let cell: PropertyCell?
  /// The name that `resolve` or the property's declaration gives.
  private let requestedName: RequestedName?
  /// The parts that few points have, stored separately to keep other points small.
  private var details: Details?

  private final class Details {
    let identity: PropertyIdentity?
    /// The property's own name, if reflection has already looked for it.
    let name: String??
    /// The container's class, for a point without a container.
    let containerType: (any AnyObject.Type)?

    init(identity: PropertyIdentity?, name: String??, containerType: (any AnyObject.Type)?) {
      (self.identity, self.name, self.containerType) = (identity, name, containerType)
    }
  }

  init(
    _ service: Service, of cell: PropertyCell? = nil, named requestedName: RequestedName? = nil,
    in container: AnyObject? = nil
  ) {
    (self.service, self.container, self.cell, self.requestedName) = (service, container, cell, requestedName)
  }

  /// Creates the point of a property that an enclosing instance holds.
  ///
  /// - Parameters:
  ///   - propertyType: The property's declared type.
  ///   - container: The object that holds the property; nil if none does.
  ///   - identity: The identity of the property's storage, by which reflection finds the property's name.
  ///   - name: The name to ask with instead of the property's own, as in `@Injected("backup")`.
  public init(
    _ propertyType: any Any.Type, in container: AnyObject?, property identity: PropertyIdentity,
    named name: String? = nil
  ) {
    self.init(Service(propertyType), named: name.map { RequestedName($0) }, in: container)
    details = Details(identity: identity, name: nil, containerType: nil)
  }

  var identity: PropertyIdentity? { cell?.identity ?? details?.identity }

  /// The declared type of the property, or the type that `resolve` was called with.
  public var propertyType: any Any.Type { service.type }

  /// The dynamic class of the container.
  public var containerType: (any AnyObject.Type)? { container.map { type(of: $0) } ?? details?.containerType }

  /// The name in the request: the property's own, unless its declaration or `resolve` specifies another.
  ///
  /// Reflection finds the property's own name once for each class, in about a microsecond. After that, the name is in a
  /// table. The name is nil for structs, locals and plain constants, and in a program built without reflection
  /// metadata.
  public var propertyName: String? { requestedName?.name ?? ownName }

  /// The property's own name, even if the request has another; without a property, the name that the request has.
  package var declaredName: String? { identity == nil || containerType == nil ? requestedName?.name : ownName }

  private var ownName: String? {
    if let name = details?.name { return name }
    guard let identity, let container else { return nil }
    return WrappedProperties.name(of: identity, propertyType, storedIn: cell, in: container)
  }

  /// Returns a copy that keeps the property's name, which can't be found once the property has other storage.
  func withKnownName() -> InjectionPoint {
    var point = self
    point.details = Details(identity: details?.identity, name: .some(ownName), containerType: containerType)
    return point
  }

  /// Returns a copy without the container, for code that may have another isolation than the container.
  func withoutContainer() -> InjectionPoint {
    var point = withKnownName()
    point.container = nil
    return point
  }

  /// Returns the point as a step of an error's path.
  package func step(_ record: RegistrationRecord? = nil) -> InjectionStep {
    var step = InjectionStep(record?.service ?? service, registration: record?.place)
    step.name = requestedName?.name
    guard let identity else { return step }
    step.declaration = identity.place.description
    step.property = containerType.map { type in
      "\(TypeName.of(type)).\(declaredName ?? "(unnamed: built without reflection metadata)")"
    }
    return step
  }
}
