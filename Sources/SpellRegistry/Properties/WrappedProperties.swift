internal import Support

/// The wrapped properties of objects, as reflection shows them.
package enum WrappedProperties {
  private struct Key: Hashable {
    let container: ObjectIdentifier
    let place: SourcePlace
  }

  /// A property's position in its object: the number of steps up to its class, its index in that class, and its name.
  private struct Position: Sendable {
    let level: Int
    let index: Int
    let name: String
  }

  private static let known = Lock<[Key: Position]>([:])

  /// Returns the mirror of an object and those of its superclasses; a custom mirror may itself read the properties, so
  /// an object that has one isn't reflected.
  private static func mirrors(of object: AnyObject) -> [Mirror] {
    object is any CustomReflectable ? [] : Array(sequence(first: Mirror(reflecting: object), next: \.superclassMirror))
  }

  /// Returns the name of the property with this identity, or nil if reflection shows no such property.
  ///
  /// The first search for a class and a declaration looks at all properties of the object. Later searches look only at
  /// the known position, and check that the property there has this storage, because one place can declare several
  /// properties if a function makes their wrappers. Looking at a property copies it for a moment, so call this only
  /// where the object may be read: in its own isolation, in the read that needs the name.
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

  /// Returns an object's wrappers of one type with the names of their properties, those of superclasses first.
  ///
  /// Reads every stored property, so call it where the object may be read; for an actor, that is on the actor.
  package static func of<Wrapper>(_ object: AnyObject, as: Wrapper.Type) -> [(name: String, wrapper: Wrapper)] {
    mirrors(of: object).reversed().flatMap { mirror in
      mirror.children.compactMap { child in
        guard let name = child.label.flatMap(name(of:)), let wrapper = child.value as? Wrapper else { return nil }
        return (name, wrapper)
      }
    }
  }

  /// Returns the property's name for the label of a stored property; nil for storage of a `lazy var` or an actor.
  private static func name(of label: String) -> String? {
    if label.hasPrefix("$") { return nil }
    return label.hasPrefix("_") ? String(label.dropFirst()) : label
  }
}
