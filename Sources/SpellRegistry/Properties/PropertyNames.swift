internal import Locking

/// The names of wrapped properties, as reflection tells them.
enum PropertyNames {
  private struct Key: Hashable {
    let container: ObjectIdentifier
    let place: SourcePlace
  }

  /// By class and place of declaration.
  ///
  /// A place that two properties of a class share is not kept.
  private static let known = Lock<[Key: String]>([:])

  /// The name of the property that `identity` is the storage of, or nil where reflection shows no such property.
  ///
  /// The container's properties are walked once for each class and property. That copies each of them for a moment, so
  /// it happens where the container may be read: in its own isolation, in the read that needs the name.
  static func name(of identity: PropertyIdentity, in container: AnyObject) -> String? {
    let key = Key(container: ObjectIdentifier(type(of: container)), place: identity.place)
    if let name = known.withLock({ $0[key] }) { return name }
    let properties = WrappedProperties.of(container, as: (any NamedProperty).self)
    guard let found = properties.first(where: { $0.wrapper.identity.address == identity.address }) else {
      return nil
    }
    if properties.count(where: { $0.wrapper.identity.place == identity.place }) == 1 {
      known.withLock { $0[key] = found.name }
    }
    return found.name
  }
}

/// The wrapped properties that reflection shows of an object.
package enum WrappedProperties {
  /// The wrappers of a kind with their properties' names, superclasses' first.
  ///
  /// Reads each stored property of the object, so call it where the object may be read: an actor's on the actor.
  package static func of<Wrapper>(_ object: AnyObject, as: Wrapper.Type) -> [(name: String, wrapper: Wrapper)] {
    var found: [[(name: String, wrapper: Wrapper)]] = []
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      found.append(
        current.children.compactMap { child in
          guard let label = child.label, !label.hasPrefix("$"), let wrapper = child.value as? Wrapper else {
            return nil
          }
          return (label.hasPrefix("_") ? String(label.dropFirst()) : label, wrapper)
        })
      mirror = current.superclassMirror
    }
    return found.reversed().flatMap(\.self)
  }
}
