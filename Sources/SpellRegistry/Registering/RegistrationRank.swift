/// The precedence of a registration for a request, decided by its container, name, kind, and age, in this order.
///
/// The kind is 1 for an instance that is also registered for its supertypes, and 0 for any other registration.
struct RegistrationRank {
  private let container: ClassConstraint?
  /// The rank of the container: 0 for exactly one class, 1 for a class with its subclasses, 2 for any container.
  private let distance: Int
  private let name: Int
  private let kind: Int
  private let age: UInt64

  /// Creates the rank of a registration, or returns nil if the registration is for other containers or names.
  init?(of record: RegistrationRecord, in containerType: (any AnyObject.Type)?, named requested: String?) {
    if let constraint = record.container, !(containerType.map(constraint.includes) ?? false) { return nil }
    guard let name = record.name.map({ $0.rank(for: requested) }) ?? 2 else { return nil }
    (container, age) = (record.container, record.age)
    distance = record.container.map { $0.subclasses ? 1 : 0 } ?? 2
    self.name = name
    kind = record.servesSupertypes ? 1 : 0
  }

  func wins(over other: RegistrationRank) -> Bool {
    if distance == 1, other.distance == 1, let mine = container, let others = other.container, mine != others {
      return mine.isNarrower(than: others)
    }
    return (distance, name, kind, other.age) < (other.distance, other.name, other.kind, age)
  }
}
