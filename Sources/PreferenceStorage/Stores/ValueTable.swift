/// The contents of a store: the text of each key's value, and the order in which the keys were first written.
///
/// Strings that Swift considers equal, such as two spellings of `é`, are one key in memory, in transactions and in the
/// file. A key keeps the spelling with which it was first written, until it is removed.
struct ValueTable: Sendable {
  private struct Entry: Sendable {
    var text: JSONText
    var order: Int
  }

  private var entries: [String: Entry] = [:]
  private var nextOrder = 0

  var isEmpty: Bool { entries.isEmpty }

  func text(forKey key: String) -> JSONText? { entries[key]?.text }

  /// Returns the key as the table spells it, with its text; nil if the key has no text.
  func entry(forKey key: String) -> PreferenceChange? {
    entries.index(forKey: key).map { PreferenceChange(key: entries.keys[$0], text: entries.values[$0].text) }
  }

  /// The keys in the order in which they were first written; sorted at each access.
  var keys: [String] { entries.sorted { $0.value.order < $1.value.order }.map(\.key) }

  /// Every key with its text, in the order in which the keys were first written; sorted at each access.
  var allEntries: [PreferenceChange] { keys.map { PreferenceChange(key: $0, text: text(forKey: $0)) } }

  /// The approximate length in bytes of a file with one line for each key.
  private(set) var fileLength = Line.header.count

  /// Reserves space for a number of keys, so that the table isn't reallocated while it is filled.
  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// Makes the change, and returns whether the key's text has changed.
  ///
  /// The change takes a single lookup (benchmark "Open a store of 100,000 keys").
  @discardableResult
  mutating func apply(_ change: PreferenceChange) -> Bool {
    let old = ValueTable.set(change.text, order: nextOrder, in: &entries[change.key])
    if old == change.text { return false }
    if old == nil { nextOrder += 1 }
    func length(_ text: JSONText?) -> Int { text.map { 15 + change.key.utf8.count + $0.string.utf8.count } ?? 0 }
    fileLength += length(change.text) - length(old)
    return true
  }

  /// Sets the entry's text, or removes the entry if `text` is nil, and returns the former text.
  ///
  /// An existing entry keeps its order, and only a new entry gets `order`.
  private static func set(_ text: JSONText?, order: Int, in entry: inout Entry?) -> JSONText? {
    let old = entry
    if old?.text != text { entry = text.map { Entry(text: $0, order: old?.order ?? order) } }
    return old?.text
  }

  /// Returns the changes that turn the other table into this one.
  func changes(since other: ValueTable) -> [PreferenceChange] {
    var changes: [PreferenceChange] = []
    for (key, entry) in entries where other.entries[key]?.text != entry.text {
      changes.append(PreferenceChange(key: key, text: entry.text))
    }
    for key in other.entries.keys where entries[key] == nil { changes.append(PreferenceChange(key: key, text: nil)) }
    return changes
  }

  /// Throws `.invalidKey` if the key is empty or too long.
  static func check(_ key: String) throws(PreferenceError) {
    let length = key.utf8.count
    guard length > 0 else { throw PreferenceError(.invalidKey, "a key can't be empty; give the preference a name") }
    guard length <= 65_536 else {
      throw PreferenceError(.invalidKey, "a key is at most 65,536 bytes of UTF-8, and this one has \(length)", key: key)
    }
  }
}
