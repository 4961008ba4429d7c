/// The state of a store: the text of each key's value, in the order of first writing.
///
/// Two keys are one if they are equal as Swift strings, such as two spellings of `é`, in memory, in transactions and in the
/// file. A key keeps the spelling in which it came.
struct ValueTable: Sendable {
  private struct Entry: Sendable {
    var text: JSONText
    var order: Int
  }

  private var entries: [String: Entry] = [:]
  private var nextOrder = 0

  var isEmpty: Bool { entries.isEmpty }

  func text(forKey key: String) -> JSONText? { entries[key]?.text }

  /// The key as it is spelled here, with its text; nil if it has none.
  func entry(forKey key: String) -> PreferenceChange? {
    entries.index(forKey: key).map { PreferenceChange(key: entries.keys[$0], text: entries.values[$0].text) }
  }

  /// The keys by first writing; sorted at each call.
  var keys: [String] { entries.sorted { $0.value.order < $1.value.order }.map(\.key) }

  /// Every key with its text, by first writing; sorted at each call.
  var allEntries: [PreferenceChange] { keys.map { PreferenceChange(key: $0, text: text(forKey: $0)) } }

  /// About how many bytes a file has that holds one line for each key; computed from all keys at each call.
  var fileLength: Int {
    entries.reduce(Line.header.count) { $0 + 15 + $1.key.utf8.count + $1.value.text.string.utf8.count }
  }

  /// Room for as many keys, so that filling the table doesn't move it.
  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// Makes the change, and returns whether there was one.
  ///
  /// With one look-up, whether the key is new or not (benchmark "Open a store of 100,000 keys").
  @discardableResult
  mutating func apply(_ change: PreferenceChange) -> Bool {
    guard let text = change.text else { return entries.removeValue(forKey: change.key) != nil }
    let isNew = ValueTable.set(text, order: nextOrder, in: &entries[change.key])
    if isNew == true { nextOrder += 1 }
    return isNew != nil
  }

  /// Returns whether the entry is new; nil if it has that text already.
  private static func set(_ text: JSONText, order: Int, in entry: inout Entry?) -> Bool? {
    let old = entry
    if old?.text == text { return nil }
    entry = Entry(text: text, order: old?.order ?? order)
    return old == nil
  }

  /// The changes that turn the other table into this one.
  func changes(since other: ValueTable) -> [PreferenceChange] {
    var changes: [PreferenceChange] = []
    for (key, entry) in entries where other.entries[key]?.text != entry.text {
      changes.append(PreferenceChange(key: key, text: entry.text))
    }
    for key in other.entries.keys where entries[key] == nil { changes.append(PreferenceChange(key: key, text: nil)) }
    return changes
  }

  /// Throws unless the key may be one.
  static func check(_ key: String) throws(PreferenceError) {
    let length = key.utf8.count
    guard length > 0 else { throw PreferenceError(.invalidKey, "a key can't be empty; give the preference a name") }
    guard length <= 65_536 else {
      throw PreferenceError(.invalidKey, "a key is at most 65,536 bytes of UTF-8, and this one has \(length)", key: key)
    }
  }
}
