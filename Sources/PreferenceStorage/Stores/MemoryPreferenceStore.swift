internal import Support

/// A store for tests and previews, which keeps its values in memory until it is deinitialized.
///
/// Apart from durability, the store behaves like `FilePreferenceStore`, and rejects the same keys and values.
public final class MemoryPreferenceStore: CustomPreferenceStore {
  /// The hub that admits one writer at a time and notifies listeners.
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
  /// - Throws: `.invalidKey` or `.invalidValue` if a key or a value can't be stored.
  public convenience init(_ values: KeyValuePairs<String, any Codable>) throws(PreferenceError) {
    self.init()
    for (key, value) in values { try set(value, forKey: key) }
  }

  /// The keys in the order in which they were first written.
  public var keys: [String] { table.withLock(\.self).keys }

  /// Returns the JSON text of the value, or nil if there is none.
  public func json(forKey key: String) -> String? { table.withLock { $0.text(forKey: key)?.string } }

  /// Makes all of the changes under one lock, so that a reader sees all of them or none.
  public func write(_ changes: [PreferenceChange]) { table.withLock { for change in changes { $0.apply(change) } } }

  /// Returns all values as a JSON object with a line for each key, in the order in which the keys were first written.
  ///
  /// `import(from:)` can read a file that contains this object.
  public func json() -> String { JSONText.object(table.withLock(\.self).allEntries) }

  /// The store that properties without a registered store use under a test runner; nil in other programs.
  ///
  /// All tests of the process share this store. The trait `.preferences` or `.registry` gives a test its own store.
  package static let sharedInTests: MemoryPreferenceStore? = isTestProcess ? MemoryPreferenceStore() : nil
}
