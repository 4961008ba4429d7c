/// A store that keeps its values in another store, under other keys or in another form.
///
/// The store says how a key and a value are kept; everything else is given. A store that encrypts:
///
/// ```swift
/// final class EncryptedPreferenceStore: WrappingPreferenceStore {
///   let base: any PreferenceStore
///   private let key: SymmetricKey
///   init(_ base: any PreferenceStore, key: SymmetricKey) { (self.base, self.key) = (base, key) }
///
///   func wrap(_ json: String, forKey key: String) throws(PreferenceError) -> String {
///     do {
///       let box = try ChaChaPoly.seal(Data(json.utf8), using: self.key, authenticating: Data(key.utf8))
///       return "\"\(box.combined.base64EncodedString())\""
///     } catch {
///       throw PreferenceError(.invalidValue, "could not be encrypted", key: key, underlying: error)
///     }
///   }
///
///   func unwrap(_ json: String, forKey key: String) throws(PreferenceError) -> String {
///     do {
///       let box = try ChaChaPoly.SealedBox(combined: Data(base64Encoded: String(json.dropFirst().dropLast())) ?? Data())
///       return String(decoding: try ChaChaPoly.open(box, using: self.key, authenticating: Data(key.utf8)), as: UTF8.self)
///     } catch {
///       throw PreferenceError(.unreadable, "could not be decrypted; is it the right key?", key: key, underlying: error)
///     }
///   }
/// }
/// ```
///
/// A transaction is one of the other store, so nothing comes between. Notices, signals and errors are those of the other
/// store, so a property reads as fast as one of it. What several threads do at once is up to the other store.
public protocol WrappingPreferenceStore: PreferenceStore {
  /// The store that keeps the values.
  var base: any PreferenceStore { get }

  /// Returns the key under which the other store keeps the value of a key of this one. The same key, unless replaced.
  func baseKey(forKey key: String) -> String

  /// Returns the key of this store for one of the other store, or nil if this store doesn't have it. The same key, unless
  /// replaced.
  func key(forBaseKey key: String) -> String?

  /// Returns the JSON text to keep for a value, in one line. The same text, unless replaced.
  ///
  /// Called only with a value that differs from the present one.
  func wrap(_ json: String, forKey key: String) throws(PreferenceError) -> String

  /// Returns the JSON text of the value that is kept. The same text, unless replaced.
  func unwrap(_ json: String, forKey key: String) throws(PreferenceError) -> String
}

extension WrappingPreferenceStore {
  /// Returns the same key.
  public func baseKey(forKey key: String) -> String { key }

  /// Returns the same key.
  public func key(forBaseKey key: String) -> String? { key }

  /// Returns the same text.
  public func wrap(_ json: String, forKey key: String) throws(PreferenceError) -> String { json }

  /// Returns the same text.
  public func unwrap(_ json: String, forKey key: String) throws(PreferenceError) -> String { json }

  /// Returns the value of the key, or nil if there is none.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try PreferenceTransaction(on: StoreValues(store: self), path: nil).value(type, forKey: key)
  }

  /// Sets the value of the key; nil removes the key.
  public func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    try change { changes throws(PreferenceError) in try changes.set(value, forKey: key) }
  }

  /// Removes the value of the key, if there is one.
  public func removeValue(forKey key: String) throws(PreferenceError) {
    try change { $0.removeValue(forKey: key) }
  }

  /// Removes every value of this store, and no other of the store that keeps them.
  public func removeAll() throws(PreferenceError) { try change { $0.removeAll() } }

  /// The keys of this store, in the order of the store that keeps the values.
  public var keys: [String] { base.keys.compactMap { key(forBaseKey: $0) } }

  /// Returns the JSON text of the value, or nil if there is none.
  public func json(forKey key: String) throws(PreferenceError) -> String? {
    guard let json = try base.json(forKey: baseKey(forKey: key)) else { return nil }
    return try unwrap(json, forKey: key)
  }

  /// Reads and changes several values as one, in one transaction of the store that keeps them.
  public func transaction<Result>(
    _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    try base.transaction { baseChanges in
      // Nothing is staged yet, and no other writer comes between, so the store is what the transaction begins with.
      var transaction = PreferenceTransaction(on: StoreValues(store: self), path: nil)
      let result = try body(&transaction)
      for change in transaction.changes {
        let json = try change.json.map { json throws(PreferenceError) in try wrap(json, forKey: change.key) }
        // Without a check of the key's length, which was checked as this store's.
        baseChanges.stage(try JSONText(json: json, forKey: change.key), forKey: baseKey(forKey: change.key))
      }
      return result
    }
  }

  /// Returns the keys of this store that change from now on.
  public func changes() -> PreferenceChanges {
    base.changes().renamingKeys { [self] in key(forBaseKey: $0) }
  }

  /// Returns the changes of one key from now on.
  public func changes(of key: String) -> PreferenceChanges {
    base.changes(of: baseKey(forKey: key)).renamingKeys { [self] in self.key(forBaseKey: $0) }
  }

  /// Returns the signal of the key in the store that keeps the value.
  public func signal(forKey key: String) -> PreferenceSignal? { base.signal(forKey: baseKey(forKey: key)) }

  /// The errors of the store that keeps the values.
  public var errors: AsyncStream<PreferenceError> { base.errors }

  /// Reports an error to the readers of `errors`.
  public func report(_ error: PreferenceError) { base.report(error) }

  /// Reloads the store that keeps the values.
  public func reload() throws(PreferenceError) { try base.reload() }

  /// Synchronizes the store that keeps the values.
  public func synchronize() throws(PreferenceError) { try base.synchronize() }

  private func change(
    _ body: (inout PreferenceTransaction) throws(PreferenceError) -> Void
  ) throws(PreferenceError) {
    do {
      try transaction(body)
    } catch let error as PreferenceError {
      throw error
    } catch {
      throw PreferenceError(.unwritable, "the store that keeps the values failed", underlying: error)
    }
  }
}

/// A part of a store with keys of its own, which in the store begin with a prefix.
///
/// ```swift
/// let windows = PrefixedPreferenceStore("windows.", in: store)
/// try windows.set(2, forKey: "count")   // "windows.count" in the store
/// try windows.removeAll()               // and nothing that doesn't begin with "windows."
/// ```
///
/// A prefix should end with punctuation: an accent at the beginning of a key would combine with a letter.
///
/// A read costs what it costs in the store and a longer key; a write is a transaction of the store.
public final class PrefixedPreferenceStore: WrappingPreferenceStore {
  /// The store that keeps the values.
  public let base: any PreferenceStore
  /// What the keys begin with in the store that keeps the values.
  public let prefix: String

  /// Creates the part of a store whose keys begin with a prefix.
  ///
  /// - Parameters:
  ///   - prefix: What the keys begin with in the store; none of it is seen here.
  ///   - base: The store that keeps the values.
  public init(_ prefix: String, in base: any PreferenceStore) {
    self.prefix = prefix
    self.base = base
  }

  /// Returns the key with the prefix.
  public func baseKey(forKey key: String) -> String { prefix + key }

  /// Returns the key without the prefix, or nil if it doesn't begin with it or has nothing else.
  public func key(forBaseKey key: String) -> String? {
    // By scalars: as characters, the prefix's last one may combine with what comes after it.
    guard key.unicodeScalars.starts(with: prefix.unicodeScalars) else { return nil }
    let rest = key.unicodeScalars.dropFirst(prefix.unicodeScalars.count)
    return rest.isEmpty ? nil : String(rest)
  }
}
