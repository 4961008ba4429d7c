/// The registrations of one registry; the registry's lock guards them.
///
/// Most types are registered once, for any container and name: such a plain registration has the type for its key. Beside
/// the table there is an index of them, which is read without the lock.
struct RegistrationTable: Sendable {
  private var plain: [ObjectIdentifier: any AnyRegistrationEntry] = [:]
  /// Those with a container, a name or arguments, and those that serve supertypes.
  private var special: [RegistrationKey: any AnyRegistrationEntry] = [:]
  /// The special ones that type alone can find, by property type.
  private var specialByType: [ObjectIdentifier: [any AnyRegistrationEntry]] = [:]
  /// Instances that serve any supertype.
  private(set) var universal: [any AnyRegistrationEntry] = []
  let index: RegistrationIndex

  init(_ index: RegistrationIndex) { self.index = index }

  /// Adds an entry; returns the one with the same key that it replaces.
  mutating func insert(_ entry: any AnyRegistrationEntry) -> (any AnyRegistrationEntry)? {
    if entry.key.isPlain {
      let replaced = plain.updateValue(entry, forKey: entry.key.type)
      updateIndex(entry.key.type)
      return replaced
    }
    let replaced = special.updateValue(entry, forKey: entry.key)
    list(entry, inPlaceOf: replaced)
    return replaced
  }

  /// Removes just this entry; false where it was replaced or removed before.
  @discardableResult
  mutating func remove(_ entry: any AnyRegistrationEntry) -> Bool {
    guard self[entry.key] === entry else { return false }
    if entry.key.isPlain {
      plain[entry.key.type] = nil
      updateIndex(entry.key.type)
    } else {
      special[entry.key] = nil
      unlist(entry)
    }
    return true
  }

  /// Empties the table; returns what was in it.
  mutating func removeAll() -> [any AnyRegistrationEntry] {
    let removed = all
    // Nobody finds one entry where another has gone already: they wait for the lock.
    index.close()
    for entry in removed { remove(entry) }
    index.update(universal: universal)
    return removed
  }

  subscript(key: RegistrationKey) -> (any AnyRegistrationEntry)? { key.isPlain ? plain[key.type] : special[key] }

  /// The entries that make exactly this type, in no particular order.
  func entries(for type: any Any.Type) -> [any AnyRegistrationEntry] {
    let special = specialByType[ObjectIdentifier(type), default: []]
    return plain[ObjectIdentifier(type)].map { special + [$0] } ?? special
  }

  /// Every entry, in the order of registration.
  var all: [any AnyRegistrationEntry] { (Array(plain.values) + special.values).sorted { $0.age < $1.age } }

  /// Makes an entry one that type alone can find; one with the same key goes in the same moment.
  private mutating func list(_ entry: any AnyRegistrationEntry, inPlaceOf replaced: (any AnyRegistrationEntry)?) {
    if entry.key.arguments != nil { return }
    if entry.key.container != nil && replaced == nil { index.addLimits(1) }
    if entry.key.servesSupertypes {
      universal.removeAll { $0 === replaced }
      universal.append(entry)
      index.update(universal: universal)
    } else {
      specialByType[entry.key.type]?.removeAll { $0 === replaced }
      specialByType[entry.key.type, default: []].append(entry)
      updateIndex(entry.key.type)
    }
  }

  private mutating func unlist(_ entry: any AnyRegistrationEntry) {
    if entry.key.arguments != nil { return }
    if entry.key.container != nil { index.addLimits(-1) }
    if entry.key.servesSupertypes {
      universal.removeAll { $0 === entry }
      index.update(universal: universal)
    } else {
      specialByType[entry.key.type]?.removeAll { $0 === entry }
      if specialByType[entry.key.type]?.isEmpty == true { specialByType[entry.key.type] = nil }
      updateIndex(entry.key.type)
    }
  }

  private func updateIndex(_ type: ObjectIdentifier) {
    let isAlone = specialByType.isEmpty || specialByType[type] == nil
    index.update(type, to: isAlone ? plain[type].map { .one($0) } ?? .nothing : .several)
  }
}
