import Support

/// The values of a store in memory, with everything that hangs on a change of them.
///
/// Written to by one thread at a time (the store's `Turn` sees to that), read by any.
final class StoreContents: Sendable {
  private struct Values: Sendable {
    var table = ValueTable()
    /// Why there is nothing to read, if the file could not be read.
    var failure: PreferenceError?
  }

  private let values = Lock(Values())
  let changes = ChangeBroadcaster()
  let errors = ErrorBroadcaster()
  /// What was damaged in the file.
  let recovery = Lock<PreferenceRecovery?>(nil)

  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    try values.withLock { values throws(PreferenceError) in
      if let failure = values.failure { throw failure }
      return values.table.text(forKey: key)
    }
  }

  /// The change with the key as it is spelled here; nil if it would change nothing.
  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    values.withLock { $0.table.change(to: text, forKey: key) }
  }

  var keys: [String] { table.keys }
  var liveBytes: Int { values.withLock { $0.table.liveBytes } }
  /// A copy, to be let go of before the next change, which would otherwise have to copy the table.
  var table: ValueTable { values.withLock { $0.table } }

  /// Makes the changes and returns the keys that have a listener or a reader.
  ///
  /// They are notified after the turn and the lock were given back.
  func apply(_ all: some Collection<PreferenceChange>) -> Set<String> {
    var changed: [String] = []
    values.withLock { values in
      values.failure = nil
      for change in all where values.table.apply(change) {
        if changes.isHeard { changed.append(change.key) }
      }
    }
    return changed.isEmpty ? [] : Set(changed)
  }

  /// Puts another table in the place of this one and returns the keys that differ and have a listener or a reader.
  func replace(with table: ValueTable) -> Set<String> {
    let old = values.withLock { values in
      let old = values.table
      values.table = table
      values.failure = nil
      return old
    }
    return changes.isHeard ? table.keysThatDiffer(from: old) : []
  }

  /// Why nothing can be read; nil if something can.
  var failure: PreferenceError? { values.withLock(\.failure) }

  /// Makes every read fail, until there is something to read.
  func fail(with failure: PreferenceError) { values.withLock { $0.failure = failure } }
}

extension StoreContents: TransactionValues {}

// MARK: Values

/// The state of a store: the text of each key's value, in the order of first writing.
///
/// Two keys are one key if they are equal as Swift strings: two spellings of `é` are one key, in memory, in transactions and in
/// the file. A key keeps the spelling in which it came.
struct ValueTable: Sendable {
  struct Entry: Sendable {
    var text: JSONText
    var order: Int
  }

  private var entries: [String: Entry] = [:]
  private var nextOrder = 0
  /// How many bytes a file that holds one line for each key has.
  private(set) var liveBytes = Line.header.count

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
  /// O(n log n).
  var keys: [String] { entries.sorted { $0.value.order < $1.value.order }.map(\.key) }

  /// Every key with its text, by first writing.
  ///
  /// O(n log n).
  var allEntries: [PreferenceChange] {
    entries.sorted { $0.value.order < $1.value.order }
      .map { PreferenceChange(key: $0.key, text: $0.value.text) }
  }

  /// Room for as many keys, so that filling the table doesn't move it.
  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// Makes the change, and returns whether there was one.
  @discardableResult
  mutating func apply(_ change: PreferenceChange) -> Bool {
    guard let index = entries.index(forKey: change.key) else {
      guard let text = change.text else { return false }
      entries[change.key] = Entry(text: text, order: nextOrder)
      nextOrder += 1
      liveBytes += lineLength(change.key, text)
      return true
    }
    let old = entries.values[index].text
    if let text = change.text {
      if old == text { return false }
      entries.values[index].text = text
      liveBytes += text.length - old.length
    } else {
      liveBytes -= lineLength(entries.keys[index], old)
      entries.remove(at: index)
    }
    return true
  }

  /// Makes the change as `apply` does, without measuring: one look-up instead of two if most keys are new (benchmark
  /// "Open a store of 100,000 keys").
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

  /// Measures the table after it was loaded.
  mutating func measure() {
    liveBytes = Line.header.count
    for (key, entry) in entries { liveBytes += lineLength(key, entry.text) }
  }

  private func lineLength(_ key: String, _ text: JSONText) -> Int {
    Line.length(key: key, textLength: text.length)
  }

  /// The keys whose value is another, or missing, in the other table.
  ///
  /// O(n).
  fileprivate func keysThatDiffer(from other: ValueTable) -> Set<String> {
    var keys: Set<String> = []
    for (key, entry) in entries where other.entries[key]?.text != entry.text { keys.insert(key) }
    for key in other.entries.keys where entries[key] == nil { keys.insert(key) }
    return keys
  }
}

extension ValueTable {
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
