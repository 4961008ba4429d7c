/// A store within another store, whose keys there begin with a prefix.
///
/// ```swift
/// let windows = PrefixedPreferenceStore("windows.", in: store)
/// try windows.set(2, forKey: "count")   // "windows.count" in the store
/// try windows.removeAll()               // only keys with the prefix
/// ```
///
/// A prefix should end with punctuation: a combining accent at the beginning of a key would merge with a letter.
///
/// Each write is a transaction of the base store, which also provides the notifications, the signals and the errors.
public final class PrefixedPreferenceStore: ErrorReporter {
  /// The base store, which keeps the values.
  let base: any PreferenceStore
  /// The prefix of the keys in the base store.
  let prefix: String

  /// Creates a store for the keys of a base store that begin with a prefix, which the keys of this store omit.
  public init(_ prefix: String, in base: any PreferenceStore) { (self.prefix, self.base) = (prefix, base) }

  /// Returns the key without the prefix; nil if the key doesn't begin with the prefix, or is nothing else.
  private func key(forBaseKey key: String) -> String? {
    // Scalars are compared, since the prefix's last character may combine with the character after it.
    guard key.unicodeScalars.starts(with: prefix.unicodeScalars) else { return nil }
    let rest = key.unicodeScalars.dropFirst(prefix.unicodeScalars.count)
    return rest.isEmpty ? nil : String(rest)
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
      // Nothing is staged yet, and no other thread can write, so the base store has the values of the transaction.
      var transaction = PreferenceTransaction(on: self)
      let result = try body(&transaction)
      // The base store decides whether an equal value has to be written. The length isn't checked again, since the
      // limit is for the key without the prefix.
      for change in transaction.stagedChanges {
        let erasing = transaction.erasedKeys.contains(change.key)
        baseChanges.stage(change.text, forKey: prefix + change.key, erasing: erasing)
      }
      return result
    }
  }

  /// Returns the changes of this store's keys from now on.
  public func changes() -> PreferenceChanges { base.changes().renamingKeys { [self] in key(forBaseKey: $0) } }

  /// Returns the changes to one key from now on.
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

  /// Compacts the base store, which erases what was removed or replaced under any key.
  public func compact() throws(PreferenceError) { try base.compact() }
}
