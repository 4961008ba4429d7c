/// Values by key, kept for the next time the program runs.
///
/// Reads are from memory. A write is kept when it returns; what that means is the store's to say. Every operation may
/// be called from any thread.
///
/// A key is any string of 1 to 65,536 bytes. Keys that are equal as Swift strings, such as two spellings of `é`, are one. A value is anything `Codable`, kept exactly: each integer and each
/// floating-point number to the last bit, infinities and NaN, `Date` and `Data` included, also inside other values.
/// Nil is never kept: setting an optional to nil removes the key.
///
/// A store of one's own that only adds something wraps one of the two here and passes on what it doesn't change; one
/// that keeps its values elsewhere is a `CustomPreferenceStore`. `PreferenceStoreSuite`, of `SpellTesting`, checks either.
///
/// ```swift
/// let store = try FilePreferenceStore(url: file)
/// try store.set(7, forKey: "volume")
/// try store.value(Int.self, forKey: "volume")  // 7
/// ```
public protocol PreferenceStore: AnyObject, Sendable {
  /// The value of the key, or nil where there is none.
  ///
  /// - Throws: `.typeMismatch` where the value can't be read as that type; it is kept as it is. `.invalidKey`.
  func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value?

  /// Keeps the value under the key. An equal value isn't written again; nil removes the key.
  ///
  /// - Throws: `.invalidKey`, `.invalidValue` where it refuses to be encoded, and what the store's medium gives rise to.
  ///   The value is then what it was before.
  func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError)

  /// Removes the value of the key, if there is one.
  func removeValue(forKey key: String) throws(PreferenceError)

  /// Removes every value, in one transaction.
  func removeAll() throws(PreferenceError)

  /// The keys, sorted by first writing. A key that was removed and set again is the last. O(n log n).
  var keys: [String] { get }

  /// Reads and changes several values as one: others see all of the changes or none, and make none in between.
  ///
  /// The body runs once, on the calling thread. It reads its own writes. If it throws nothing is changed.
  /// It has to use the transaction that it is given: a write to the same store from within it throws
  /// `.nestedTransaction`, and a read of the store gives the values of before.
  ///
  /// ```swift
  /// try store.transaction { changes in
  ///   let launches = try changes.value(Int.self, forKey: "launches") ?? 0
  ///   try changes.set(launches + 1, forKey: "launches")
  /// }
  /// ```
  ///
  /// - Throws: what the body throws, or a `PreferenceError`.
  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result

  /// The keys that change from now on, whoever changes them. See `PreferenceChanges`.
  func changes() -> PreferenceChanges

  /// Errors that no caller could be thrown: a property's failed write, a failed compaction.
  ///
  /// Each access begins a stream of its own, which ends with its task. A reader who is more than 64 errors behind
  /// misses the oldest.
  var errors: AsyncStream<PreferenceError> { get }

  /// Reads what others have written since, where the store's medium is shared.
  func reload() throws(PreferenceError)

  /// Returns when everything written so far would survive a power cut, where the store's medium knows such a thing.
  func synchronize() throws(PreferenceError)
}

extension PreferenceStore {
  /// A store without errors of its own.
  public var errors: AsyncStream<PreferenceError> { AsyncStream { $0.finish() } }
}

extension PreferenceStore {
  /// Reports to the readers of `errors`, where the store takes reports.
  package func announce(_ error: PreferenceError) {
    (self as? any VersionedPreferenceStore)?.report(error)
    (self as? any CustomPreferenceStore)?.hub.report(error)
  }
}

/// A store that numbers its states, so that a property can keep its decoded value, and takes reports of the errors
/// that the property can't throw.
package protocol VersionedPreferenceStore: PreferenceStore {
  var version: PreferenceVersion { get }
  /// The changes of one key, which cost the others nothing.
  func changes(of key: String) -> PreferenceChanges
  /// Reports to the readers of `errors`.
  func report(_ error: PreferenceError)
}
