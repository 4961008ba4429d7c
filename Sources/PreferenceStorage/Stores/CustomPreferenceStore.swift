/// A type that stores values in a medium of your own.
///
/// You implement `keys`, `write(_:)`, `hub`, and `json(forKey:)`, which returns the text last written for a key.
/// Extensions provide the encoding of values, transactions, notifications, and the errors for invalid keys and values.
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
/// You can implement any other requirement as well, such as `reload()` if other programs change the medium. A property
/// keeps its decoded value until the store notifies the hub of a change. A store that wraps another store, for instance
/// to encrypt values, must return what the wrapped store returns for `changes()`, `changes(of:)` and `signal(forKey:)`,
/// and must run transactions on the wrapped store.
public protocol CustomPreferenceStore: PreferenceStore {
  /// The hub that admits one writer at a time and notifies listeners.
  ///
  /// A store must always return the same hub.
  var hub: PreferenceHub { get }

  /// Makes all of the changes, or none.
  ///
  /// One thread at a time calls this method, with at least one change. No change sets a value equal to the old value,
  /// unless the old value can't be read. A thread that reads during the call must see all of the changes or none.
  ///
  /// - Throws: `.unwritable` or `.noSpace`. After an error, the store must have its old values.
  func write(_ changes: [PreferenceChange]) throws(PreferenceError)
}

extension CustomPreferenceStore {
  /// Reads and changes several values as a unit, while no other thread can write to the store.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    var erasesValues = false
    try hub.write { () throws(PreferenceError) in
      var transaction = PreferenceTransaction(on: self)
      do { result = .success(try body(&transaction)) } catch {
        result = .failure(error)
        return []
      }
      let changes = transaction.changes
      erasesValues = transaction.erasesValues
      if !changes.isEmpty { try write(changes) }
      return Set(changes.map(\.key))
    }
    if erasesValues { try compact() }
    return try result!.get()
  }

  /// Returns a sequence of the changes that are made through this store from now on.
  public func changes() -> PreferenceChanges { hub.changes() }

  /// Returns a sequence of the changes to one key that are made through this store from now on.
  public func changes(of key: String) -> PreferenceChanges { hub.changes(of: key) }

  /// Returns the signal that the hub sends when the key's value changes.
  public func signal(forKey key: String) -> PreferenceSignal? { hub.signal(forKey: key) }

  /// The errors that could not be thrown to a caller.
  public var errors: AsyncStream<PreferenceError> { hub.errors }

  /// Only waits for a write in progress to end, since other programs aren't expected to write to the medium.
  public func reload() throws(PreferenceError) { try hub.write { [] } }

  /// Only waits for a write in progress to end, since a completed write is already in the medium.
  public func synchronize() throws(PreferenceError) { try hub.write { [] } }
}

extension PreferenceTransaction {
  /// Creates a transaction on the values of the store, for a store that implements `transaction` itself.
  ///
  /// Run the body on the transaction within ``PreferenceHub/write(_:)``, and write the transaction's ``changes``. If
  /// other programs can change the store at any time, run the body on a copy of the values. If a value that the body
  /// has read was changed in the meantime, run the body again.
  public init(on store: some PreferenceStore) { self.init(on: StoreValues(store: store) as any TransactionValues) }
}

/// The values of any store, as a transaction reads them.
private struct StoreValues<Store: PreferenceStore>: TransactionValues {
  let store: Store

  var keys: [String] { store.keys }

  func home(ofKey key: String) -> (hub: PreferenceHub, key: String)? { store.home(ofKey: key) }

  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    try store.json(forKey: key).map { JSONText($0) }
  }
}

extension TransactionValues {
  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    let change = PreferenceChange(key: key, text: text)
    // If the old value can't be read, it counts as different, so that the change can replace it.
    do throws(PreferenceError) { return try self.text(forKey: key) == text ? nil : change } catch { return change }
  }
}
