/// The registrations of one registry.
struct RegistrationTable: Sendable {
  private var byKey: [RegistrationKey: any AnyRegistrationEntry] = [:]
  /// What type alone can find, by property type, in the order of registration.
  private var byType: [ObjectIdentifier: [any AnyRegistrationEntry]] = [:]
  /// Instances that serve any supertype.
  private(set) var universal: [any AnyRegistrationEntry] = []

  /// Adds an entry; returns the one with the same key that it replaces.
  mutating func insert(_ entry: any AnyRegistrationEntry) -> (any AnyRegistrationEntry)? {
    let replaced = byKey[entry.key]
    if let replaced { remove(replaced) }
    byKey[entry.key] = entry
    guard entry.key.arguments == nil else { return replaced }
    if entry.key.servesSupertypes {
      universal.append(entry)
    } else {
      byType[entry.key.type, default: []].append(entry)
    }
    return replaced
  }

  /// Removes just this entry; false where it was replaced or removed before.
  @discardableResult
  mutating func remove(_ entry: any AnyRegistrationEntry) -> Bool {
    guard byKey[entry.key] === entry else { return false }
    byKey[entry.key] = nil
    byType[entry.key.type]?.removeAll { $0 === entry }
    if entry.key.servesSupertypes { universal.removeAll { $0 === entry } }
    return true
  }

  /// Empties the table; returns what was in it.
  mutating func removeAll() -> [any AnyRegistrationEntry] {
    let removed = all
    self = RegistrationTable()
    return removed
  }

  subscript(key: RegistrationKey) -> (any AnyRegistrationEntry)? { byKey[key] }

  /// The entries that make exactly this type.
  func entries(for type: any Any.Type) -> [any AnyRegistrationEntry] { byType[ObjectIdentifier(type)] ?? [] }

  /// Every entry, in the order of registration.
  var all: [any AnyRegistrationEntry] { byKey.values.sorted { $0.age < $1.age } }
}
