/// A store that keeps its values in a place of your own.
///
/// The store says what it has and how to change it. The spelling of values, transactions, notices and refusals are given.
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

  /// Returns the text that `write` was last given for the key, or nil if there is none. Called from any thread.
  ///
  /// - Throws: `.unreadable` if the medium can't be read.
  func json(forKey key: String) throws(PreferenceError) -> String?

  /// Makes all of the changes, or none.
  ///
  /// Called by one thread at a time, with changes only: never with none, never with a value that is there already. Threads
  /// that read meanwhile see all of them or none.
  ///
  /// - Throws: `.unwritable` or `.noSpace`, with everything as it was.
  func write(_ changes: [PreferenceChange]) throws(PreferenceError)
}

extension CustomPreferenceStore {
  /// Returns the value of the key, or nil if there is none.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try PreferenceTransaction(on: self).value(type, forKey: key)
  }

  /// Sets the value of the key; nil removes the key.
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
  /// Creates a transaction on what the store has, for a store that replaces `transaction`.
  ///
  /// Run the body on it within ``PreferenceHub/write(_:)``, and keep its ``changes``. A store that others change, and that
  /// can't keep them waiting, runs the body on a copy of its values, and again if another has changed in the meantime what the
  /// body has read: `json(forKey:)` of the copy is called for each key that is read or changed.
  public init(on store: some CustomPreferenceStore) { self.init(on: StoreValues(store: store), path: nil) }
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

// MARK: The hub

/// The parts that a store of your own needs besides its values: turns for writers, notices for listeners, signals for properties, and
/// errors.
///
/// A ``CustomPreferenceStore`` has one and need not call it. A property keeps its decoded value until the hub is notified of a
/// change, so a store whose medium is changed by others tells it of their changes:
///
/// ```swift
/// func reload() throws(PreferenceError) {
///   try hub.write { () throws(PreferenceError) in try readMedium() }  // returns the keys that it found changed
/// }
/// ```
///
/// Safe to use from any thread.
public final class PreferenceHub: Sendable {
  private let listeners = ChangeBroadcaster()
  private let reports = ErrorBroadcaster()
  private let turn = Turn(of: nil)

  /// Creates the hub of one store.
  public init() {}

  /// Runs `body` while no other thread writes, then tells the keys that it returns.
  ///
  /// - Throws: What the body throws; `.nestedTransaction` if the calling thread is writing already; `.busy` if another
  ///   thread writes for more than five seconds.
  public func write(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) {
    try turn.take(within: Turn.defaultLimit)
    let keys = try inTurn(body)
    listeners.tell(keys)
  }

  private func inTurn(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) -> Set<String> {
    defer { turn.giveBack() }
    return try body()
  }

  /// Tells listeners, properties and observers that the values of these keys have changed.
  ///
  /// Call it after the new values can be read, with no lock held. ``write(_:)`` does so itself.
  public func tell(_ keys: Set<String>) { listeners.tell(keys) }

  /// Returns the keys that change from now on.
  public func changes() -> PreferenceChanges { PreferenceChanges(of: listeners) }

  /// Returns the changes of one key from now on.
  public func changes(of key: String) -> PreferenceChanges { PreferenceChanges(of: listeners, to: key) }

  /// Returns the signal of the key, which is sent each time the key is told.
  public func signal(forKey key: String) -> PreferenceSignal { listeners.signal(forKey: key) }

  /// Reports an error that could not be thrown to a caller to the readers of ``errors``.
  public func report(_ error: PreferenceError) { reports.report(error) }

  /// The errors that are reported from now on; each access begins a stream of its own.
  public var errors: AsyncStream<PreferenceError> { reports.stream() }
}
