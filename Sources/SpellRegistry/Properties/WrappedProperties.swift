internal import Support

/// The wrapped properties of objects, as reflection shows them.
package enum WrappedProperties {
  private struct Key: Hashable {
    let container: ObjectIdentifier
    let place: SourcePlace
  }

  private static let known = Lock<[Key: StoredField]>([:])

  /// Returns the wrapped properties of an object; a class that has a custom mirror shows none.
  private static func fields(of object: AnyObject) -> [StoredField] {
    if object is any CustomReflectable { return [] }
    return StoredField.all(of: object).filter { $0.name != nil && $0.type is any NamedProperty.Type }
  }

  /// Returns the name of the property with this identity, or nil if reflection shows no such property.
  ///
  /// The first search for a class and a declaration looks at all wrapped properties of the object. Later searches look
  /// only at the property that was found, and check that it has this storage: if a function makes wrappers, one place
  /// declares several properties. A wrapper that holds its storage is found without a copy. Otherwise, the wrappers of
  /// the same type are copied and asked for their identity.
  ///
  /// - Parameters:
  ///   - type: The type of the property.
  ///   - cell: The storage of the property, if it is a ``PropertyStorage``.
  static func name(
    of identity: PropertyIdentity, _ type: any Any.Type, storedIn cell: PropertyCell?, in container: AnyObject
  ) -> String? {
    let storage = cell.map { UInt(bitPattern: ObjectIdentifier($0)) }
    func holdsStorage(_ field: StoredField) -> Bool { field.contains(identity.address, or: storage, in: container) }
    func isForType(_ field: StoredField) -> Bool { (field.type as? any NamedProperty.Type)?.valueType == type }
    func hasIdentity(_ field: StoredField) -> Bool {
      isForType(field) && (field.value(in: container) as? any NamedProperty)?.identity.address == identity.address
    }
    let key = Key(container: ObjectIdentifier(Swift.type(of: container)), place: identity.place)
    if let field = known.withLock({ $0[key] }), holdsStorage(field) || hasIdentity(field) { return field.name }
    let fields = fields(of: container)
    // The properties of the same type come first, so that the search seldom looks at others.
    let found =
      fields.first { isForType($0) && holdsStorage($0) } ?? fields.first { !isForType($0) && holdsStorage($0) }
      ?? fields.first(where: hasIdentity)
    if let found { known.withLock { $0[key] = found } }
    return found?.name
  }

  /// Returns an object's wrappers of one type with the names of their properties, those of superclasses first.
  ///
  /// Reads these wrappers and no other property, so call it where they may be read; for an actor, that is on the actor.
  ///
  /// - Parameter isWrapper: Whether a type is `Wrapper` or conforms to it.
  package static func of<Wrapper>(
    _ object: AnyObject, as: Wrapper.Type, if isWrapper: (any Any.Type) -> Bool
  ) -> [(name: String, wrapper: Wrapper)] {
    fields(of: object).filter { isWrapper($0.type) }.compactMap { field in
      guard let name = field.name, let wrapper = field.value(in: object) as? Wrapper else { return nil }
      return (name, wrapper)
    }
  }
}

extension StoredField {
  /// The property's name; nil for storage of a `lazy var` or an actor.
  fileprivate var name: String? {
    if label.hasPrefix("$") { return nil }
    return label.hasPrefix("_") ? String(label.dropFirst()) : label
  }
}
