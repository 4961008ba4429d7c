#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store that is gone with its last owner, for tests and previews.
///
/// It behaves as `FilePreferenceStore` does in everything but lasting, including what it refuses.
public final class MemoryPreferenceStore: PreferenceStore {
  private let contents = StoreContents()
  private let turn = Turn(of: nil)

  /// An empty store.
  public init() {}

  /// A store with values.
  ///
  /// ```swift
  /// let store = try MemoryPreferenceStore(["volume": 7, "nickname": "Ada"])
  /// ```
  ///
  /// - Throws: `.invalidKey` or `.invalidValue`, as ``set(_:forKey:)`` does.
  public convenience init(_ values: KeyValuePairs<String, any Codable>) throws(PreferenceError) {
    self.init()
    for (key, value) in values { try set(value, forKey: key) }
  }

  /// Returns the value of the key, or nil if there is none.
  ///
  /// One lock, one dictionary look-up, and the decoding.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    try ValueTable.check(key)
    return try contents.text(forKey: key)?.value(type, forKey: key)
  }

  /// Keeps the value under the key; nil removes the key.
  public func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    let text = try JSONText(of: value, forKey: key)
    try write { [PreferenceChange(key: key, text: text)] }
  }

  /// Removes the value of the key, if there is one.
  public func removeValue(forKey key: String) throws(PreferenceError) {
    try write { [PreferenceChange(key: key, text: nil)] }
  }

  /// Removes every value.
  public func removeAll() throws(PreferenceError) {
    try write { contents.keys.map { PreferenceChange(key: $0, text: nil) } }
  }

  /// The keys, sorted by first writing.
  public var keys: [String] { contents.keys }

  /// Returns the JSON text of the value, or nil if there is none.
  public func json(forKey key: String) throws(PreferenceError) -> String? { try contents.text(forKey: key)?.string }

  /// Reads and changes several values as one.
  public func transaction<Result>(
    _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try write {
      var transaction = PreferenceTransaction(on: contents, path: nil)
      do {
        result = .success(try body(&transaction))
        return transaction.changes
      } catch {
        result = .failure(error)
        return []
      }
    }
    return try result!.get()
  }

  /// Returns every value as a JSON object, with a line for each key, sorted by first writing.
  ///
  /// `import(from:)` reads it back.
  public func json() -> String { JSONText.object(contents.table.allEntries) }

  /// Returns the keys that change from now on.
  public func changes() -> PreferenceChanges { PreferenceChanges(of: contents.changes) }

  /// Errors that no caller could be thrown.
  public var errors: AsyncStream<PreferenceError> { contents.errors.stream() }

  /// Does nothing: the store alone has this memory.
  public func reload() throws(PreferenceError) { try write { [] } }

  /// Does nothing: memory doesn't survive.
  public func synchronize() throws(PreferenceError) { try write { [] } }

  /// Returns the changes of one key from now on, and of no other.
  public func changes(of key: String) -> PreferenceChanges { PreferenceChanges(of: contents.changes, to: key) }

  /// Returns the signal of the key.
  public func signal(forKey key: String) -> PreferenceSignal? { contents.changes.signal(forKey: key) }

  /// Reports an error to the readers of ``errors``.
  public func report(_ error: PreferenceError) { contents.errors.report(error) }

  private func write(_ changes: () -> [PreferenceChange]) throws(PreferenceError) {
    try turn.take(within: Turn.defaultLimit)
    var changed: Set<String> = []
    do {
      defer { turn.giveBack() }
      let changes = changes().filter { contents.change(to: $0.text, forKey: $0.key) != nil }
      if !changes.isEmpty { changed = contents.apply(changes) }
    }
    contents.changes.tell(changed)
  }
}

// MARK: Tests

extension MemoryPreferenceStore {
  /// The store of properties that are read under a test runner with no store registered; nil in another program.
  ///
  /// Tests that run one after the other share it. Give each a store of its own with the trait `.preferences` or `.registry`.
  public static let sharedInTests: MemoryPreferenceStore? =
    isTestRunner(CommandLine.arguments.first ?? "", ProcessInfo.processInfo.environment) ? MemoryPreferenceStore() : nil

  static func isTestRunner(_ program: String, _ environment: [String: String]) -> Bool {
    let name = program.split(separator: "/").last ?? ""
    return name.hasSuffix(".xctest") || name == "xctest" || name == "swiftpm-testing-helper"
      || environment["XCTestConfigurationFilePath"] != nil || environment["XCTestBundlePath"] != nil
  }
}
