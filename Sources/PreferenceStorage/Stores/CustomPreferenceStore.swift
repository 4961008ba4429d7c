/// A store that keeps its values in a place of your own.
///
/// The store has its `keys`, the text that `write` was last given for a key, and a hub. The spelling of values, transactions,
/// notices and refusals are given.
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
/// Everything that is given can be replaced, such as `reload()` if others change the medium. A property keeps its decoded value
/// until the hub is notified of a change. A store that keeps its values in another store, for instance encrypted, returns that
/// store's `changes()` and signals instead of the hub's, and replaces `transaction` by one of that store.
public protocol CustomPreferenceStore: PreferenceStore {
  /// The turns of writers, and the listeners: one hub for the life of the store.
  var hub: PreferenceHub { get }

  /// Makes all of the changes, or none.
  ///
  /// Called by one thread at a time, with changes only: at least one, and never a value that the store has already. Threads
  /// that read meanwhile see all of them or none.
  ///
  /// - Throws: `.unwritable` or `.noSpace`, with everything as it was.
  func write(_ changes: [PreferenceChange]) throws(PreferenceError)
}

extension CustomPreferenceStore {
  /// Reads and changes several values as one.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try hub.write { () throws(PreferenceError) in
      var transaction = PreferenceTransaction(on: self)
      do { result = .success(try body(&transaction)) } catch {
        result = .failure(error)
        return []
      }
      let changes = transaction.changes
      if !changes.isEmpty { try write(changes) }
      return Set(changes.map(\.key))
    }
    return try result!.get()
  }

  /// Returns the keys that change from now on, through this store.
  public func changes() -> PreferenceChanges { hub.changes() }

  /// Returns the changes of one key from now on, through this store.
  public func changes(of key: String) -> PreferenceChanges { hub.changes(of: key) }

  /// Returns the hub's signal of the key.
  public func signal(forKey key: String) -> PreferenceSignal? { hub.signal(forKey: key) }

  /// The errors that could not be thrown to a caller.
  public var errors: AsyncStream<PreferenceError> { hub.errors }

  /// Does nothing: the store alone is taken to write to its medium.
  public func reload() throws(PreferenceError) { try hub.write { [] } }

  /// Does nothing but wait for a write that is under way.
  public func synchronize() throws(PreferenceError) { try hub.write { [] } }
}

extension PreferenceTransaction {
  /// Creates a transaction on what the store has, for a store that replaces `transaction`.
  ///
  /// Run the body on it within ``PreferenceHub/write(_:)``, and keep its ``changes``. A store that others change, and that
  /// can't keep them waiting, runs the body on a copy of its values, and again if what it has read was changed meanwhile.
  public init(on store: some PreferenceStore) { self.init(on: StoreValues(store: store) as any TransactionValues) }
}

/// The values of a store of your own, as a transaction reads them.
private struct StoreValues<Store: PreferenceStore>: TransactionValues {
  let store: Store

  var keys: [String] { store.keys }

  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    try store.json(forKey: key).map { JSONText($0) }
  }
}

extension TransactionValues {
  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    let change = PreferenceChange(key: key, text: text)
    // A value that can't be read may be overwritten.
    do throws(PreferenceError) { return try self.text(forKey: key) == text ? nil : change } catch { return change }
  }
}
