/// A request for a value, which is never copied; user code gets its ``point`` instead.
///
/// Its references to key, container and property aren't counted: the function that makes a request holds them.
@usableFromInline package struct Request: ~Copyable {
  let type: any Any.Type
  private let key: Borrowed<InjectionKeys>?
  private let owner: Borrowed<AnyObject>?
  /// The storage of the property that asks, nil if none does; `property` is the address of its gate.
  private let cell: Borrowed<PropertyCell>?
  let property: UInt?
  let requestedName: RequestedName?
  /// The container's class, for a request without a container.
  private let knownContainerType: (any AnyObject.Type)?

  init(
    _ type: any Any.Type, _ key: InjectionKeys? = nil, of cell: PropertyCell? = nil,
    named requestedName: RequestedName? = nil, in container: AnyObject? = nil,
    inClass containerType: (any AnyObject.Type)? = nil
  ) {
    self.type = type
    self.key = key.map { Borrowed($0) }
    owner = container.map { Borrowed($0) }
    self.cell = cell.map { Borrowed($0) }
    property = cell.map { $0.memory.head.gate.id }
    (self.requestedName, knownContainerType) = (requestedName, containerType)
  }

  /// Creates a request for a service, on behalf of any object of a class.
  init(_ service: borrowing Service, named name: String?, inClass containerType: (any AnyObject.Type)? = nil) {
    self.init(service.type, service.key, named: name.map { RequestedName($0) }, inClass: containerType)
  }

  /// The identity of the key or, without one, of the type, by which a registry finds the service.
  var id: ObjectIdentifier { key?.id ?? ObjectIdentifier(type) }
  var service: Service { Service(type, key: key?.object) }
  var container: AnyObject? { owner?.object }
  /// The origin of the request, by which a frame detects cycles.
  var asker: Frame.Asker {
    Frame.Asker(container: owner?.id, property: property, name: requestedName.map { Borrowed($0) })
  }
  var containerType: (any AnyObject.Type)? { container.map { Swift.type(of: $0) } ?? knownContainerType }
  var name: String? { requestedName?.name ?? point.propertyName }
  var mayHaveName: Bool { requestedName != nil || cell != nil && owner != nil }
  var point: InjectionPoint { InjectionPoint(service, of: cell?.object, named: requestedName, in: container) }
  func step(_ record: RegistrationRecord? = nil) -> InjectionStep { point.step(record) }
  func forWrapped(_ type: any Any.Type) -> Request {
    Request(type, of: cell?.object, named: requestedName, in: container)
  }
}

/// The name that `resolve` or a property's declaration uses instead of the property's own.
///
/// The name is in an object, so that the many requests without a name stay small.
final class RequestedName: Sendable {
  let name: String

  init(_ name: String) { self.name = name }
}
