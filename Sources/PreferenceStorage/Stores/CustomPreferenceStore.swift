/// A store that keeps its values in a place of one's own.
///
/// It says what it has and how to change it; how values are spelled, transactions, notices and refusals are given.
///
/// ```swift
/// final class SessionStore: CustomPreferenceStore {
///   let hub = PreferenceHub()
///   var keys: [String] { session.keys }
///   func json(forKey key: String) -> String? { session[key] }
///   func write(_ changes: [PreferenceChange]) { for change in changes { session[change.key] = change.json } }
/// }
/// ```
///
/// Everything that is given can be written anew, such as `reload()` where others change the medium.
public protocol CustomPreferenceStore: PreferenceStore {
  /// Whose turn it is to write, and who listens: one for the life of the store.
  var hub: PreferenceHub { get }

  /// The text that `write` was last given for the key, or nil where there is none. Called from any thread.
  ///
  /// - Throws: `.unreadable`, where the medium can't be read.
  func json(forKey key: String) throws(PreferenceError) -> String?

  /// Makes all of the changes, or none.
  ///
  /// Called by one thread at a time, with changes only: never with none, never with a value that is there already.
  /// Those who read meanwhile see all of them or none.
  ///
  /// - Throws: `.unwritable` or `.noSpace`, with everything as it was.
  func write(_ changes: [PreferenceChange]) throws(PreferenceError)
}

extension CustomPreferenceStore {
  /// The value of the key, or nil where there is none.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try PreferenceTransaction(on: self).value(type, forKey: key)
  }

  /// Keeps the value under the key; nil removes the key.
  public func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    try change { changes throws(PreferenceError) in try changes.set(value, forKey: key) }
  }

  /// Removes the value of the key, if there is one.
  public func removeValue(forKey key: String) throws(PreferenceError) {
    try change { $0.removeValue(forKey: key) }
  }

  /// Removes every value.
  public func removeAll() throws(PreferenceError) { try change { $0.removeAll() } }

  /// Reads and changes several values as one.
  public func transaction<Result>(
    _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try hub.write { () throws(PreferenceError) in
      var transaction = PreferenceTransaction(on: self)
      do { result = .success(try body(&transaction)) } catch {
        result = .failure(error)
        return []
      }
      return try commit(transaction)
    }
    return try result!.get()
  }

  /// The keys that change from now on, through this store.
  public func changes() -> PreferenceChanges { hub.changes() }

  /// Errors that nobody could be thrown.
  public var errors: AsyncStream<PreferenceError> { hub.errors }

  /// Does nothing: nobody else is taken to write to the medium.
  public func reload() throws(PreferenceError) { try hub.write { [] } }

  /// Does nothing but wait for a write that is under way.
  public func synchronize() throws(PreferenceError) { try hub.write { [] } }

  private func change(
    _ body: (inout PreferenceTransaction) throws(PreferenceError) -> Void
  ) throws(PreferenceError) {
    try hub.write { () throws(PreferenceError) in
      var transaction = PreferenceTransaction(on: self)
      try body(&transaction)
      return try commit(transaction)
    }
  }

  private func commit(_ transaction: borrowing PreferenceTransaction) throws(PreferenceError) -> Set<String> {
    let changes = transaction.changes
    if !changes.isEmpty { try write(changes) }
    return Set(changes.map(\.key))
  }
}

extension PreferenceTransaction {
  /// A transaction on what the store has, for a store that writes `transaction` anew.
  ///
  /// Run the body on it within ``PreferenceHub/write(_:)``, and keep its ``changes``.
  public init(on store: some CustomPreferenceStore) { self.init(on: CustomValues(store: store), path: nil) }
}

/// What a store of one's own has, as a transaction reads it.
private struct CustomValues<Store: CustomPreferenceStore>: TransactionValues {
  let store: Store

  var keys: [String] { store.keys }

  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    try store.json(forKey: key).map { JSONText($0) }
  }

  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    let change = PreferenceChange(key: key, text: text)
    // What can't be read is no reason to keep it from being overwritten.
    do throws(PreferenceError) { return try self.text(forKey: key) == text ? nil : change } catch { return change }
  }
}
