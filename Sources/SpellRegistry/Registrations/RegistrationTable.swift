/// The registrations of one registry; the registry's lock guards them.
///
/// Beside the lists of all there is an index for what most questions are about: a type that is registered once, for any
/// container and name. It is read without the lock.
struct RegistrationTable: Sendable {
  private var byKey: [RegistrationKey: any AnyRegistrationEntry] = [:]
  /// What type alone can find, by property type, in the order of registration.
  private var byType: [ObjectIdentifier: [any AnyRegistrationEntry]] = [:]
  /// Instances that serve any supertype.
  private(set) var universal: [any AnyRegistrationEntry] = []
  let index: RegistrationIndex

  init(_ index: RegistrationIndex) { self.index = index }

  /// Adds an entry; returns the one with the same key that it replaces.
  mutating func insert(_ entry: any AnyRegistrationEntry) -> (any AnyRegistrationEntry)? {
    let replaced = byKey.updateValue(entry, forKey: entry.key)
    if let replaced { unlist(replaced) }
    list(entry)
    return replaced
  }

  /// Removes just this entry; false where it was replaced or removed before.
  @discardableResult
  mutating func remove(_ entry: any AnyRegistrationEntry) -> Bool {
    guard byKey[entry.key] === entry else { return false }
    byKey[entry.key] = nil
    unlist(entry)
    return true
  }

  /// Empties the table; returns what was in it.
  mutating func removeAll() -> [any AnyRegistrationEntry] {
    let removed = all
    for entry in removed { remove(entry) }
    return removed
  }

  subscript(key: RegistrationKey) -> (any AnyRegistrationEntry)? { byKey[key] }

  /// The entries that make exactly this type.
  func entries(for type: any Any.Type) -> [any AnyRegistrationEntry] { byType[ObjectIdentifier(type)] ?? [] }

  /// Every entry, in the order of registration.
  var all: [any AnyRegistrationEntry] { byKey.values.sorted { $0.age < $1.age } }

  private mutating func list(_ entry: any AnyRegistrationEntry) {
    if entry.key.arguments != nil { return }
    if entry.key.container != nil { index.addLimits(1) }
    if entry.key.servesSupertypes {
      universal.append(entry)
      index.update(universal: universal)
    } else {
      byType[entry.key.type, default: []].append(entry)
      index.update(entry.key.type, to: byType[entry.key.type, default: []])
    }
  }

  private mutating func unlist(_ entry: any AnyRegistrationEntry) {
    if entry.key.arguments != nil { return }
    if entry.key.container != nil { index.addLimits(-1) }
    if entry.key.servesSupertypes {
      universal.removeAll { $0 === entry }
      index.update(universal: universal)
    } else {
      let entries = byType[entry.key.type, default: []].filter { $0 !== entry }
      byType[entry.key.type] = entries.isEmpty ? nil : entries
      index.update(entry.key.type, to: entries)
    }
  }
}
