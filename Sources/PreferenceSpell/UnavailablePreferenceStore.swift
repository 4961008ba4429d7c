internal import PreferenceStorage

/// Stands for a registered store that could not be made: every use of it says why, and nothing is pretended to be kept.
final class UnavailablePreferenceStore: PreferenceStore {
  private let reason: PreferenceError

  init(because reason: PreferenceError) { self.reason = reason }

  var keys: [String] { [] }
  func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? { throw reason }
  func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) { throw reason }
  func removeValue(forKey key: String) throws(PreferenceError) { throw reason }
  func removeAll() throws(PreferenceError) { throw reason }
  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result { throw reason }
  func changes() -> PreferenceChanges { MemoryPreferenceStore().changes() }
  func reload() throws(PreferenceError) { throw reason }
  func synchronize() throws(PreferenceError) { throw reason }
}
