/// A request for a value, as the registry hands it on: an ``InjectionPoint`` that is never copied.
///
/// It counts no references: the function that makes one holds what it names until the request has ended.
@usableFromInline package struct Request: ~Copyable {
  let type: any Any.Type
  private let key: Borrowed<InjectionKeys>?
  private let owner: Borrowed<AnyObject>?
  /// The storage of the property that asks, if one does, and its address.
  private let cell: Borrowed<PropertyCell>?
  let property: UInt?
  let alias: Alias?
  /// The container's class, if there is no container to ask.
  private let knownContainerType: (any AnyObject.Type)?

  init(
    _ type: any Any.Type, _ key: InjectionKeys? = nil, of cell: PropertyCell? = nil, named alias: Alias? = nil,
    in container: AnyObject? = nil, inClass containerType: (any AnyObject.Type)? = nil
  ) {
    self.type = type
    self.key = key.map { Borrowed($0) }
    owner = container.map { Borrowed($0) }
    self.cell = cell.map { Borrowed($0) }
    property = cell.map { $0.memory.head.gate.id }
    self.alias = alias
    knownContainerType = containerType
  }

  /// A request for any object of a class.
  init(_ service: borrowing Service, named name: String?, inClass containerType: (any AnyObject.Type)? = nil) {
    self.init(service.type, service.key, named: name.map { Alias($0) }, inClass: containerType)
  }

  /// The key's identity or the type's, by which a registry finds it.
  var id: ObjectIdentifier { key?.id ?? ObjectIdentifier(type) }
  var service: Service { Service(type, key: key?.object) }
  var container: AnyObject? { owner?.object }
  /// The identity that two requests share if they need each other's result.
  var asker: Frame.Asker {
    Frame.Asker(container: owner?.id, property: property, name: alias.map { Borrowed($0) })
  }
  var containerType: (any AnyObject.Type)? { container.map { Swift.type(of: $0) } ?? knownContainerType }
  var name: String? { alias?.name ?? point.propertyName }
  var mayHaveName: Bool { alias != nil || cell != nil && owner != nil }
  var point: InjectionPoint { InjectionPoint(service, of: cell?.object, named: alias, in: container) }
  func step(_ record: RegistrationRecord? = nil) -> InjectionStep { point.step(record) }
  func forWrapped(_ type: any Any.Type) -> Request {
    Request(type, of: cell?.object, named: alias, in: container)
  }
}

/// The name that a request gives, behind a reference: most give none.
final class Alias: Sendable {
  let name: String

  init(_ name: String) { self.name = name }
}
