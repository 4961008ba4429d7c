internal import Support

/// A namespace of functions that find the wrapped properties of an object by reflection.
package enum WrappedProperties {
  private struct Key: Hashable {
    let container: ObjectIdentifier
    let place: SourcePlace
  }

  /// Returns the name of the property whose storage has a label in reflection; nil for hidden storage.
  ///
  /// The storage of a `lazy var` or an actor is hidden, for example.
  package static func name(ofLabel label: String) -> String? {
    if label.hasPrefix("$") { return nil }
    return label.hasPrefix("_") ? String(label.dropFirst()) : label
  }

  private static let known = Lock<[Key: StoredField]>([:])

  /// Returns the wrapped properties of an object, or an empty array if the object's class has a custom mirror.
  private static func fields(of object: AnyObject) -> [StoredField] {
    if object is any CustomReflectable { return [] }
    return StoredField.all(of: object).filter { $0.name != nil && $0.type is any NamedProperty.Type }
  }

  /// Returns the name of the property with the given identity, or nil if reflection doesn't find the property.
  ///
  /// The search looks at all wrapped properties of `container`. It remembers the field that it finds. Later searches
  /// for the same class and source location try that field first. They still check the identity, because several
  /// properties have one source location if a function makes the wrappers.
  ///
  /// If a wrapper contains a reference to the property's storage, the search finds the wrapper without copying it. If
  /// no wrapper does, the search copies each wrapper for a property of type `type`, to compare the identity. If the
  /// wrapper in the remembered field is for this type and contains no such reference, it is copied before the search
  /// looks at the other wrappers. No other thread may be changing a wrapper while the search copies it.
  ///
  /// An initializer may have assigned the property that it serves. The wrapper then has new storage, but still the same
  /// source location, which is enough if no other property of that type has it.
  ///
  /// - Parameters:
  ///   - type: The type of the property.
  ///   - cell: The storage of the property, if the wrapper uses a ``PropertyStorage``.
  static func name(
    of identity: PropertyIdentity, _ type: any Any.Type, storedIn cell: PropertyCell?, in container: AnyObject
  ) -> String? {
    let storage = cell.map { UInt(bitPattern: ObjectIdentifier($0)) }
    func holdsStorage(_ field: StoredField) -> Bool { field.contains(identity.address, or: storage, in: container) }
    func isForType(_ field: StoredField) -> Bool { (field.type as? any NamedProperty.Type)?.valueType == type }
    func copiedIdentity(_ field: StoredField) -> PropertyIdentity? {
      isForType(field) ? (field.value(in: container) as? any NamedProperty)?.identity : nil
    }
    func hasIdentity(_ field: StoredField) -> Bool { copiedIdentity(field)?.address == identity.address }
    let key = Key(container: ObjectIdentifier(Swift.type(of: container)), place: identity.place)
    if let field = known.withLock({ $0[key] }), holdsStorage(field) || hasIdentity(field) { return field.name }
    let fields = fields(of: container)
    // Properties of the given type come first, so that the search rarely looks at properties of other types.
    let found =
      fields.first { isForType($0) && holdsStorage($0) } ?? fields.first { !isForType($0) && holdsStorage($0) }
      ?? fields.first(where: hasIdentity)
    if let found {
      known.withLock { $0[key] = found }
      return found.name
    }
    let declared = fields.filter { copiedIdentity($0)?.place == identity.place }
    return declared.count == 1 ? declared[0].name : nil
  }

  /// Returns an object's property wrappers that have the type `Wrapper`, with the names of the wrapped properties.
  ///
  /// Properties of superclasses come first. The function reads only the wrappers that it returns. The caller must be
  /// allowed to read them: if the object is an actor, for example, the call must run on that actor.
  ///
  /// - Parameter isWrapper: Returns whether a type is `Wrapper` or conforms to it.
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
  fileprivate var name: String? { WrappedProperties.name(ofLabel: label) }
}
