/// How closely a registration fits a property: the container counts first, then the name, the kind, and age.
struct RegistrationRank {
  private let container: (limit: ContainerLimit, match: ContainerLimit.Match)?
  private let name: Int
  private let kind: Int
  private let age: UInt64

  /// Nil where the registration is for other properties.
  ///
  /// - Parameter name: The property's name, asked for only by a registration that has one.
  init?(
    of entry: any AnyRegistrationEntry, in containerType: (any AnyObject.Type)?, named name: () -> String?
  ) {
    if let limit = entry.key.container {
      guard let containerType, let match = limit.match(containerType) else { return nil }
      container = (limit, match)
    } else {
      container = nil
    }
    if let expected = entry.key.name {
      guard let rank = expected.rank(for: name()) else { return nil }
      self.name = rank
    } else {
      self.name = 2
    }
    kind = entry.key.servesSupertypes ? 1 : 0
    age = entry.age
  }

  func wins(over other: RegistrationRank) -> Bool {
    switch compareContainers(with: other) {
    case let order where order != 0: order < 0
    case _ where name != other.name: name < other.name
    case _ where kind != other.kind: kind < other.kind
    default: age > other.age
    }
  }

  /// Below zero where this container is the more specific.
  private func compareContainers(with other: RegistrationRank) -> Int {
    switch (container, other.container) {
    case (nil, nil): 0
    case (_?, nil): -1
    case (nil, _?): 1
    case (let mine?, let others?):
      if mine.match != others.match {
        mine.match == .exactly ? -1 : 1
      } else if mine.limit.key.type == others.limit.key.type {
        0
      } else {
        mine.limit.isNearer(than: others.limit) ? -1 : 1
      }
    }
  }
}
