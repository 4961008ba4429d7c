/// A service that can be requested: a type, or a declared key for a value of the type.
package struct Service: Sendable, Hashable {
  private let erased: ErasedType
  package let key: InjectionKeys?

  package init(_ type: any Any.Type, key: InjectionKeys? = nil) {
    (erased, self.key) = (ErasedType(type), key)
  }

  package var type: any Any.Type { erased.type }
  /// The identity by which a registry finds the service: the key's identity or, without a key, the type's identity.
  var id: ObjectIdentifier { key.map { ObjectIdentifier($0) } ?? erased.id }
  /// The service in words: `Clock`, or `Clock of the key declared at App/Keys.swift:3`.
  package var name: String { TypeName.of(type) + keySuffix }
  /// The end of the service's name, such as ` of the key declared at App/Keys.swift:3`; empty without a key.
  package var keySuffix: String { key.map { " of the key declared at \($0.place)" } ?? "" }
  /// The type's name with its module.
  package var qualifiedName: String { _typeName(type, qualified: true) }

  /// The service's type if it is an Optional.
  ///
  /// A request for this type gets nil if nothing is registered. This property is nil if the type isn't an Optional, or
  /// if the service has a key.
  var optional: (any OptionalValue.Type)? { key == nil ? type as? any OptionalValue.Type : nil }
  /// The service of the wrapped type if the service's type is an Optional.
  ///
  /// Registrations of the wrapped type also provide values for requests of the Optional type. This property is nil if
  /// the type isn't an Optional, or if the service has a key.
  package var wrapped: Service? { optional.map { Service($0.wrappedType) } }

  package static func == (left: Service, right: Service) -> Bool { left.id == right.id }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
