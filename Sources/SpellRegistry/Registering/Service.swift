/// A service that can be asked for: a type or, of that type, a declared key.
package struct Service: Sendable, Hashable {
  private let erased: ErasedType
  package let key: InjectionKeys?

  package init(_ type: any Any.Type, key: InjectionKeys? = nil) {
    erased = ErasedType(type)
    self.key = key
  }

  package var type: any Any.Type { erased.type }
  /// The key's identity or the type's, by which a registry finds it.
  var id: ObjectIdentifier { key.map { ObjectIdentifier($0) } ?? erased.id }
  /// The service in words: `Clock`, or `Clock of the key declared at App/Keys.swift:3`.
  package var name: String { TypeName.of(type) + (key.map { "\(Self.keyPreposition)\($0.place)" } ?? "") }
  /// The text between a type and the place of its key.
  package static let keyPreposition = " of the key declared at "
  /// The same with the type's module.
  package var qualifiedName: String { _typeName(type, qualified: true) + name.dropFirst(TypeName.of(type).count) }

  /// The service that an Optional one wraps.
  var wrapped: Service? { key == nil ? (type as? any OptionalValue.Type).map { Service($0.wrappedType) } : nil }

  package static func == (left: Service, right: Service) -> Bool { left.id == right.id }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
