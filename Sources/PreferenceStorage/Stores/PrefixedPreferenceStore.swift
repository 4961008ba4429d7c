/// A part of a store with keys of its own, which in the store begin with a prefix.
///
/// ```swift
/// let windows = PrefixedPreferenceStore("windows.", in: store)
/// try windows.set(2, forKey: "count")   // "windows.count" in the store
/// try windows.removeAll()               // only keys with the prefix
/// ```
///
/// A prefix should end with punctuation: an accent at the beginning of a key would combine with a letter.
///
/// A write is a transaction of the store. Notices, signals and errors are those of the store.
public final class PrefixedPreferenceStore: ErrorReporter {
  /// The store that keeps the values.
  public let base: any PreferenceStore
  /// The prefix of the keys in the store that keeps the values.
  public let prefix: String

  /// Creates the part of a store whose keys begin with a prefix, of which nothing is seen here.
  public init(_ prefix: String, in base: any PreferenceStore) { (self.prefix, self.base) = (prefix, base) }

  /// The key without the prefix; nil if it doesn't begin with it or has nothing else.
  private func key(forBaseKey key: String) -> String? {
    // By scalars: as characters, the prefix's last one may combine with what comes after it.
    guard key.unicodeScalars.starts(with: prefix.unicodeScalars) else { return nil }
    let rest = key.unicodeScalars.dropFirst(prefix.unicodeScalars.count)
    return rest.isEmpty ? nil : String(rest)
  }

  /// The keys of this part, in the order of the store.
  public var keys: [String] { base.keys.compactMap { key(forBaseKey: $0) } }

  /// Returns the JSON text of the value, or nil if there is none.
  public func json(forKey key: String) throws(PreferenceError) -> String? { try base.json(forKey: prefix + key) }

  /// Reads and changes several values as one, in one transaction of the store.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    try base.transaction { baseChanges in
      // Nothing is staged yet, and no other writer comes between, so the store is what the transaction begins with.
      var transaction = PreferenceTransaction(on: self)
      let result = try body(&transaction)
      // Without a check of the key's length, which was checked as this part's.
      for change in transaction.changes { baseChanges.stage(change.text, forKey: prefix + change.key) }
      return result
    }
  }

  /// Returns the keys of this part that change from now on.
  public func changes() -> PreferenceChanges { base.changes().renamingKeys { [self] in key(forBaseKey: $0) } }

  /// Returns the changes of one key from now on.
  public func changes(of key: String) -> PreferenceChanges {
    base.changes(of: prefix + key).renamingKeys { [self] in self.key(forBaseKey: $0) }
  }

  /// Returns the signal of the key in the store that keeps the value.
  public func signal(forKey key: String) -> PreferenceSignal? { base.signal(forKey: prefix + key) }

  /// The errors of the store that keeps the values.
  public var errors: AsyncStream<PreferenceError> { base.errors }

  package func reportError(_ error: PreferenceError) { base.report(error) }

  /// Reloads the store that keeps the values.
  public func reload() throws(PreferenceError) { try base.reload() }

  /// Synchronizes the store that keeps the values.
  public func synchronize() throws(PreferenceError) { try base.synchronize() }
}
