/// The state of a store: the text of each key's value, in the order of first writing.
///
/// Two keys are one key if they are equal as Swift strings: two spellings of `é` are one key, in memory, in transactions and in
/// the file. A key keeps the spelling in which it came.
struct ValueTable: Sendable {
  private struct Entry: Sendable {
    var text: JSONText
    var order: Int
  }

  private var entries: [String: Entry] = [:]
  private var nextOrder = 0

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }

  func text(forKey key: String) -> JSONText? { entries[key]?.text }

  /// The change with the key as it is spelled here; nil if it would change nothing.
  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    guard let index = entries.index(forKey: key) else {
      return text.map { PreferenceChange(key: key, text: $0) }
    }
    if entries.values[index].text == text { return nil }
    return PreferenceChange(key: entries.keys[index], text: text)
  }

  /// The keys by first writing.
  ///
  /// - Complexity: O(n log n).
  var keys: [String] { entries.sorted { $0.value.order < $1.value.order }.map(\.key) }

  /// Every key with its text, by first writing.
  ///
  /// - Complexity: O(n log n).
  var allEntries: [PreferenceChange] {
    entries.sorted { $0.value.order < $1.value.order }
      .map { PreferenceChange(key: $0.key, text: $0.value.text) }
  }

  /// About how many bytes a file has that holds one line for each key.
  ///
  /// - Complexity: O(n).
  var fileLength: Int {
    entries.reduce(Line.header.count) { $0 + 15 + $1.key.utf8.count + $1.value.text.string.utf8.count }
  }

  /// Room for as many keys, so that filling the table doesn't move it.
  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// Makes the change, and returns whether there was one.
  mutating func apply(_ change: PreferenceChange) -> Bool {
    guard change.text != nil, let index = entries.index(forKey: change.key) else {
      let count = entries.count
      load(change)
      return entries.count != count
    }
    guard let text = change.text, entries.values[index].text != text else { return false }
    entries.values[index].text = text
    return true
  }

  /// Makes the change with one look-up if the key is new (benchmark "Open a store of 100,000 keys").
  mutating func load(_ change: PreferenceChange) {
    guard let text = change.text else {
      entries.removeValue(forKey: change.key)
      return
    }
    if let old = entries.updateValue(Entry(text: text, order: nextOrder), forKey: change.key) {
      entries[change.key]?.order = old.order
    } else {
      nextOrder += 1
    }
  }

  /// The changes that turn the other table into this one.
  ///
  /// - Complexity: O(n).
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
    guard length > 0 else {
      throw PreferenceError(.invalidKey, "a key can't be empty; give the preference a name")
    }
    guard length <= 65_536 else {
      throw PreferenceError(
        .invalidKey, "a key is at most 65,536 bytes of UTF-8, and this one has \(length)", key: key)
    }
  }
}
