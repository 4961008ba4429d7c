internal import PreferenceStorage

/// The stand-in for a registered store that could not be made: every use of it throws the reason, and nothing is pretended to
/// be kept.
final class UnavailablePreferenceStore: PreferenceStore {
  private let reason: PreferenceError
  /// Told when the store could be made.
  private let hub = PreferenceHub()

  init(because reason: PreferenceError) { self.reason = reason }

  var keys: [String] { [] }
  func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? { throw reason }
  func json(forKey key: String) throws(PreferenceError) -> String? { throw reason }
  func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) { throw reason }
  func removeValue(forKey key: String) throws(PreferenceError) { throw reason }
  func removeAll() throws(PreferenceError) { throw reason }
  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result { throw reason }
  func changes() -> PreferenceChanges { hub.changes() }
  func signal(forKey key: String) -> PreferenceSignal? { hub.signal(forKey: key) }
  func reload() throws(PreferenceError) { throw reason }
  func synchronize() throws(PreferenceError) { throw reason }

  /// Makes observers and readers of the key look again: there is a store now.
  func tellAvailable(_ key: String) { hub.tell([key]) }
}
