/// What a registration is for.
///
/// A registration with the same key replaces the older one.
struct RegistrationKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let container: ContainerLimit?
  let name: PropertyName?
  let servesSupertypes: Bool
  let arguments: ObjectIdentifier?

  /// Whether it is for any container and any name, so that there is nothing to it but the type.
  var isPlain: Bool { container == nil && name == nil && !servesSupertypes && arguments == nil }

  static func == (left: Self, right: Self) -> Bool {
    left.type == right.type && left.container?.key == right.container?.key && left.name == right.name
      && left.servesSupertypes == right.servesSupertypes && left.arguments == right.arguments
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    hasher.combine(container?.key)
    hasher.combine(name)
  }
}

/// The class that a registration is limited to.
struct ContainerLimit: Sendable {
  struct Key: Hashable, Sendable {
    let type: ObjectIdentifier
    let subclasses: Bool
  }

  let type: any AnyObject.Type
  let key: Key
  private let isSuperclass: @Sendable (any AnyObject.Type) -> Bool

  init<Container: AnyObject>(_ type: Container.Type, subclasses: Bool) {
    self.type = type
    key = Key(type: ObjectIdentifier(type), subclasses: subclasses)
    isSuperclass = { $0 is Container.Type }
  }

  /// How close the limit is to a class: exactly it, then with subclasses it or its nearest superclass.
  enum Match {
    case exactly
    case withSubclasses
  }

  func match(_ container: any AnyObject.Type) -> Match? {
    if key.subclasses { return isSuperclass(container) ? .withSubclasses : nil }
    return key.type == ObjectIdentifier(container) ? .exactly : nil
  }

  /// Whether this class is below the other, and so nearer to any class below both.
  func isNearer(than other: ContainerLimit) -> Bool {
    key.type != other.key.type && other.isSuperclass(type)
  }
}
