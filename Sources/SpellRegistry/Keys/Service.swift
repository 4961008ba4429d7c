/// What is asked for: a type or, of that type, a declared key.
@usableFromInline struct Service: Sendable {
  @usableFromInline let type: any Any.Type
  /// The key; nil for the type itself.
  @usableFromInline let key: InjectionKeys?

  @inlinable init(_ type: any Any.Type, key: InjectionKeys? = nil) {
    self.type = type
    self.key = key
  }

  /// What a registry finds it by: the key's address or the type's.
  var identifier: ObjectIdentifier { key.map { ObjectIdentifier($0) } ?? ObjectIdentifier(type) }

  /// The service in words: `Clock`, or `Clock of the key declared at App/Keys.swift:3`.
  var name: String { TypeName.of(type) + (key.map { "\(Self.keyPreposition)\($0.place)" } ?? "") }

  /// What is between a type and the place of its key.
  static let keyPreposition = " of the key declared at "
}

extension Service: Equatable {
  @usableFromInline static func == (left: Service, right: Service) -> Bool { left.identifier == right.identifier }
}
