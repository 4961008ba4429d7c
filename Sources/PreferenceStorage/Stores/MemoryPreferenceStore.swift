internal import Support

/// A store in memory, which loses its values with its last owner, for tests and previews.
///
/// Apart from that it behaves like `FilePreferenceStore`, and refuses the same keys and values.
public final class MemoryPreferenceStore: CustomPreferenceStore {
  /// The hub that lets writers take turns and notifies listeners.
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

  /// The keys in the order in which they were first written.
  public var keys: [String] { table.withLock(\.self).keys }

  /// Returns the JSON text of the value, or nil if there is none.
  public func json(forKey key: String) -> String? { table.withLock { $0.text(forKey: key)?.string } }

  /// Makes all of the changes under one lock.
  public func write(_ changes: [PreferenceChange]) { table.withLock { for change in changes { $0.apply(change) } } }

  /// Returns all values as a JSON object with a line for each key, in the order in which the keys were first written.
  ///
  /// `import(from:)` reads a file with this object.
  public func json() -> String { JSONText.object(table.withLock(\.self).allEntries) }

  /// The store of properties without a registered store under a test runner; nil in other programs.
  ///
  /// All tests of the process share this store. Give each its own store with the trait `.preferences` or `.registry`.
  package static let sharedInTests: MemoryPreferenceStore? = isTestProcess ? MemoryPreferenceStore() : nil
}
