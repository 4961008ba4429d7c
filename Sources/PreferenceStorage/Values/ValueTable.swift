/// The state of a store: the text of each key's value, in the order of first writing.
struct ValueTable: Sendable {
  struct Entry: Sendable {
    var text: JSONText
    var order: Int
  }

  private var entries: [String: Entry] = [:]
  private var nextOrder = 0
  /// How many bytes a file that holds one line for each key has.
  private(set) var liveBytes = PreferenceLine.header.count

  var count: Int { entries.count }

  func text(forKey key: String) -> JSONText? { entries[key]?.text }

  /// The keys by first writing.
  ///
  /// O(n log n).
  var keys: [String] { entries.sorted { $0.value.order < $1.value.order }.map(\.key) }

  /// Every key with its text, by first writing.
  ///
  /// O(n log n).
  var changes: [PreferenceChange] {
    entries.sorted { $0.value.order < $1.value.order }
      .map { PreferenceChange(key: $0.key, text: $0.value.text) }
  }

  /// Room for as many keys, so that filling the table doesn't move it.
  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// Makes the change, and says whether there was one.
  @discardableResult
  mutating func apply(_ change: PreferenceChange) -> Bool {
    guard let text = change.text else { return remove(change.key) }
    let bytes = text.string.utf8.count
    if let index = entries.index(forKey: change.key) {
      let old = entries.values[index].text
      if old == text { return false }
      entries.values[index].text = text
      liveBytes += bytes - old.string.utf8.count
    } else {
      entries[change.key] = Entry(text: text, order: nextOrder)
      nextOrder += 1
      liveBytes += PreferenceLine.length(key: change.key, textLength: bytes)
    }
    return true
  }

  /// Makes the change as `apply` does, at the best cost where most keys are new: one look-up instead of two.
  mutating func load(_ change: PreferenceChange) {
    guard let text = change.text else {
      apply(change)
      return
    }
    let bytes = text.string.utf8.count
    if let old = entries.updateValue(Entry(text: text, order: nextOrder), forKey: change.key) {
      entries[change.key]?.order = old.order
      liveBytes += bytes - old.text.string.utf8.count
    } else {
      nextOrder += 1
      liveBytes += PreferenceLine.length(key: change.key, textLength: bytes)
    }
  }

  private mutating func remove(_ key: String) -> Bool {
    guard let entry = entries.removeValue(forKey: key) else { return false }
    liveBytes -= PreferenceLine.length(key: key, textLength: entry.text.string.utf8.count)
    return true
  }

  /// The keys whose value is another, or missing, in the other table.
  ///
  /// O(n).
  func keysThatDiffer(from other: ValueTable) -> Set<String> {
    var keys: Set<String> = []
    for (key, entry) in entries where other.entries[key]?.text != entry.text { keys.insert(key) }
    for key in other.entries.keys where entries[key] == nil { keys.insert(key) }
    return keys
  }
}
