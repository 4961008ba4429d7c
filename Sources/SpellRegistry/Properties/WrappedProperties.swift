internal import Support

/// The wrapped properties of objects, as reflection shows them.
package enum WrappedProperties {
  private struct Key: Hashable {
    let container: ObjectIdentifier
    let place: SourcePlace
  }

  /// The property of a class that had a declaration place before: which class's in its ancestry, and which of that one's.
  private struct Position: Sendable {
    let level: Int
    let index: Int
    let name: String
  }

  private static let known = Lock<[Key: Position]>([:])

  /// An object's mirror, then its superclasses'.
  private static func mirrors(of object: AnyObject) -> some Sequence<Mirror> {
    sequence(first: Mirror(reflecting: object), next: \.superclassMirror)
  }

  /// The name of the property that `identity` is the storage of, or nil if reflection shows no such property.
  ///
  /// The object's properties are walked once for each class and property; after that only the property that was found is
  /// looked at. One place may declare several properties, if a function makes their wrappers, so what was found before is
  /// believed only if that property has this storage. Reading a property copies it for a moment, so this is called where
  /// the object may be read: in its own isolation, in the read that needs the name.
  static func name(of identity: PropertyIdentity, in container: AnyObject) -> String? {
    let key = Key(container: ObjectIdentifier(type(of: container)), place: identity.place)
    if let position = known.withLock({ $0[key] }), isStorage(identity, at: position, of: container) {
      return position.name
    }
    for (level, mirror) in mirrors(of: container).enumerated() {
      for (index, child) in mirror.children.enumerated() where isStorage(identity, child) {
        guard let name = child.label.flatMap(name(of:)) else { continue }
        known.withLock { $0[key] = Position(level: level, index: index, name: name) }
        return name
      }
    }
    return nil
  }

  private static func isStorage(_ identity: PropertyIdentity, _ child: Mirror.Child) -> Bool {
    (child.value as? any NamedProperty)?.identity.address == identity.address
  }

  private static func isStorage(_ identity: PropertyIdentity, at position: Position, of container: AnyObject) -> Bool {
    var mirror: Mirror? = Mirror(reflecting: container)
    for _ in 0..<position.level { mirror = mirror?.superclassMirror }
    guard let children = mirror?.children, position.index < children.count else { return false }
    return isStorage(identity, children[children.index(children.startIndex, offsetBy: position.index)])
  }

  /// The wrappers of a kind with their properties' names, superclasses' first.
  ///
  /// Reads each stored property of the object, so call it where the object may be read: an actor's on the actor.
  package static func of<Wrapper>(_ object: AnyObject, as: Wrapper.Type) -> [(name: String, wrapper: Wrapper)] {
    mirrors(of: object).reversed().flatMap { mirror in
      mirror.children.compactMap { child in
        guard let name = child.label.flatMap(name(of:)), let wrapper = child.value as? Wrapper else { return nil }
        return (name, wrapper)
      }
    }
  }

  /// The property's name of a stored property's label; nil for a projection's.
  private static func name(of label: String) -> String? {
    if label.hasPrefix("$") { return nil }
    return label.hasPrefix("_") ? String(label.dropFirst()) : label
  }
}
