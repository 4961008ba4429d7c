/// A request for a value: what is asked for, by which name, for which container, and by which property.
///
/// User code never gets a request, only the request's ``point``. A request doesn't retain the key, the container and
/// the property's storage. The function that makes the request must keep these objects alive.
@usableFromInline package struct Request: ~Copyable {
  let type: any Any.Type
  private let key: Borrowed<InjectionKeys>?
  private let owner: Borrowed<AnyObject>?
  /// The storage of the requesting property; nil if no property makes the request.
  private let cell: Borrowed<PropertyCell>?
  /// The name that a call of `resolve` gives.
  private let givenName: String?
  /// Whether the requesting property will store the value.
  let isForStorage: Bool
  /// Whether a registry may keep the object, or the factory, that makes the request.
  ///
  /// The value then becomes part of what that registry keeps. If this is false, the frames of the thread and the task's
  /// context decide.
  let isFromKept: Bool
  /// The class of the container, for a request without a container object.
  private let knownContainerType: (any AnyObject.Type)?

  init(
    _ type: any Any.Type, _ key: InjectionKeys? = nil, of cell: PropertyCell? = nil, named name: String? = nil,
    in container: AnyObject? = nil, inClass containerType: (any AnyObject.Type)? = nil, isForStorage: Bool = false,
    isFromKept: Bool = false
  ) {
    self.type = type
    self.key = key.map { Borrowed($0) }
    owner = container.map { Borrowed($0) }
    self.cell = cell.map { Borrowed($0) }
    (givenName, knownContainerType) = (name, containerType)
    (self.isForStorage, self.isFromKept) = (isForStorage, isFromKept)
  }

  /// Creates a request for a service without a container object.
  ///
  /// - Parameter containerType: The class of the container, or nil if the request has no container. Registrations that
  ///   are limited to containers of this class also count.
  init(_ service: Service, named name: String?, inClass containerType: (any AnyObject.Type)? = nil) {
    self.init(service.type, service.key, named: name, inClass: containerType)
  }

  /// The identity by which a registry finds the service: the key's identity or, without a key, the type's identity.
  var id: ObjectIdentifier { key?.id ?? ObjectIdentifier(type) }
  var service: Service { Service(type, key: key?.object) }
  var container: AnyObject? { owner?.object }
  var containerType: (any AnyObject.Type)? { container.map { Swift.type(of: $0) } ?? knownContainerType }
  /// The name that a call of `resolve` or a property's declaration gives, in place of a property's own name.
  var requestedName: String? { givenName ?? cell?.object.fields.requestedName }
  var name: String? { requestedName ?? point.propertyName }
  var mayHaveName: Bool { requestedName != nil || cell != nil && owner != nil }
  var point: InjectionPoint { InjectionPoint(service, of: cell?.object, named: requestedName, in: container) }
  /// The address of the `CreationGate` of the property that will store the value; nil if no property stores it.
  var gate: UInt? { isForStorage ? cell?.object.memory.head.gate.id : nil }
  func step(_ record: RegistrationRecord? = nil) -> InjectionStep { point.step(record) }

  /// Returns whether both requests are from the same property, for the same container and with the same name.
  ///
  /// A request completes a cycle if an enclosing request has the same origin, the same registration and the same
  /// registry.
  @inline(__always) func hasOrigin(of other: borrowing Request) -> Bool {
    owner == other.owner && cell == other.cell && requestedName == other.requestedName
  }

  /// Returns the same request for the type that the requested Optional wraps.
  func forWrapped(_ type: any Any.Type) -> Request {
    Request(
      type, of: cell?.object, named: givenName, in: container, isForStorage: isForStorage, isFromKept: isFromKept)
  }
}
