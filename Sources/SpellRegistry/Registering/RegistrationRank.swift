/// The rank of a registration for a request: by container, then name, kind, and age.
struct RegistrationRank {
  private let container: ClassConstraint?
  /// 0 for one class of containers only, 1 for a class with its subclasses, 2 for any container.
  private let distance: Int
  private let name: Int
  private let kind: Int
  private let age: UInt64

  /// Creates the rank of a registration; nil if the registration is for other properties.
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
