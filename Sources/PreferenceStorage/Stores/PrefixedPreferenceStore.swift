/// A store that keeps its values in a base store, under keys that begin with a prefix.
///
/// ```swift
/// let windows = PrefixedPreferenceStore("windows.", in: store)
/// try windows.set(2, forKey: "count")   // "windows.count" in the store
/// try windows.removeAll()               // only keys with the prefix
/// ```
///
/// End the prefix with punctuation. After the prefix `a`, a key that begins with a combining accent would result in a
/// base key that begins with `á`. This base key may already belong to another part of the program.
///
/// Each write is a transaction of the base store. The notifications, signals and errors also come from the base store.
public final class PrefixedPreferenceStore: ErrorReporter {
  /// The base store, which keeps the values.
  let base: any PreferenceStore
  /// The prefix of the keys in the base store.
  let prefix: String

  /// Creates a store that puts the prefix before each of its keys, and keeps the values in the base store.
  public init(_ prefix: String, in base: any PreferenceStore) { (self.prefix, self.base) = (prefix, base) }

  /// Returns a key of the base store without the prefix.
  ///
  /// Nil if the key doesn't begin with the prefix, or if the key has no characters after the prefix.
  fileprivate func key(forBaseKey key: String) -> String? {
    // Scalars are compared, since the prefix's last character may combine with the character after it.
    let (scalars, count) = (key.unicodeScalars, prefix.unicodeScalars.count)
    func rest(after length: Int) -> String? {
      let rest = scalars.dropFirst(length)
      return rest.isEmpty ? nil : String(rest)
    }
    if scalars.starts(with: prefix.unicodeScalars) { return rest(after: count) }
    // The base store regards two Unicode spellings of one text as one key, so the key may spell the prefix otherwise.
    // Two spellings of a text differ in length by a factor of at most four.
    let beginning = scalars.prefix(4 * count)
    guard !(beginning.allSatisfy(\.isASCII) && prefix.unicodeScalars.allSatisfy(\.isASCII)) else { return nil }
    return beginning.indices.lazy.map { scalars[...$0] }.first { String($0) == prefix }.flatMap {
      rest(after: $0.count)
    }
  }

  /// The keys of this store, in the order of the base store.
  public var keys: [String] { base.keys.compactMap { key(forBaseKey: $0) } }

  /// Returns the JSON text of the value, or nil if there is none.
  public func json(forKey key: String) throws(PreferenceError) -> String? { try base.json(forKey: prefix + key) }

  /// Returns the value of the key, or nil if there is none.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    if let found = override(forKey: key) { return try found.value(type, forKey: key) }
    return try readValue(type, forKey: key)
  }

  /// Reads and changes several values as a unit, in one transaction of the base store.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    try base.transaction { baseChanges in
      // This transaction reads values from the base transaction, because a read of the base store may return an
      // override instead of the stored value.
      var transaction = PreferenceTransaction(on: PrefixedValues(base: baseChanges.values, store: self))
      let result = try body(&transaction)
      // The base store decides whether to write a value that is equal to the old value. The length of the prefixed key
      // isn't checked, since the limit applies to the key without the prefix.
      for change in transaction.stagedChanges {
        let erasing = transaction.erasedKeys.contains(change.key)
        baseChanges.stage(change.text, forKey: prefix + change.key, erasing: erasing)
      }
      return result
    }
  }

  /// Returns a sequence of the changes to this store's keys from now on, with keys that omit the prefix.
  public func changes() -> PreferenceChanges { base.changes().renamingKeys { [self] in key(forBaseKey: $0) } }

  /// Returns a sequence of the changes to one key from now on.
  public func changes(of key: String) -> PreferenceChanges {
    base.changes(of: prefix + key).renamingKeys { [self] in self.key(forBaseKey: $0) }
  }

  /// Returns the signal of the prefixed key in the base store.
  public func signal(forKey key: String) -> PreferenceSignal? { base.signal(forKey: prefix + key) }

  /// The errors of the base store.
  public var errors: AsyncStream<PreferenceError> { base.errors }

  package func reportError(_ error: PreferenceError) { base.report(error) }

  /// Reloads the base store.
  public func reload() throws(PreferenceError) { try base.reload() }

  /// Synchronizes the base store.
  public func synchronize() throws(PreferenceError) { try base.synchronize() }

  /// Compacts the base store.
  ///
  /// The compaction erases removed and replaced values of all keys of the base store, even of keys without the prefix.
  public func compact() throws(PreferenceError) { try base.compact() }
}

/// The values of a transaction on the base store, under keys that omit the prefix.
private struct PrefixedValues: TransactionValues {
  let base: any TransactionValues
  let store: PrefixedPreferenceStore

  var keys: [String] { base.keys.compactMap { store.key(forBaseKey: $0) } }

  func home(ofKey key: String) -> (hub: PreferenceHub, key: String)? { base.home(ofKey: store.prefix + key) }

  func text(forKey key: String) throws(PreferenceError) -> JSONText? { try base.text(forKey: store.prefix + key) }
}
