internal import Support

/// A store that is gone with its last owner, for tests and previews.
///
/// It behaves as `FilePreferenceStore` does in everything but lasting, including what it refuses.
public final class MemoryPreferenceStore: CustomPreferenceStore {
  /// The turns of writers, and the listeners.
  public let hub = PreferenceHub()
  private let table = Lock(ValueTable())

  /// Creates an empty store.
  public init() {}

  /// Creates a store with values.
  ///
  /// ```swift
  /// let store = try MemoryPreferenceStore(["volume": 7, "nickname": "Ada"])
  /// ```
  ///
  /// - Throws: `.invalidKey` or `.invalidValue`, as `set(_:forKey:)` does.
  public convenience init(_ values: KeyValuePairs<String, any Codable>) throws(PreferenceError) {
    self.init()
    for (key, value) in values { try set(value, forKey: key) }
  }

  /// The keys, sorted by first writing.
  public var keys: [String] { table.withLock(\.self).keys }

  /// Returns the JSON text of the value, or nil if there is none.
  public func json(forKey key: String) -> String? { table.withLock { $0.text(forKey: key)?.string } }

  /// Makes the changes.
  public func write(_ changes: [PreferenceChange]) { table.withLock { for change in changes { $0.apply(change) } } }

  /// Returns every value as a JSON object, with a line for each key, sorted by first writing.
  ///
  /// `import(from:)` reads it back.
  public func json() -> String { JSONText.object(table.withLock(\.self).allEntries) }

  /// The store of properties that are read under a test runner with no store registered; nil in another program.
  ///
  /// Tests that run one after the other share it. Give each a store of its own with the trait `.preferences` or `.registry`.
  package static let sharedInTests: MemoryPreferenceStore? = isTestProcess ? MemoryPreferenceStore() : nil
}
