internal import PreferenceStorage

/// The values of a preference: the present one, then each that it changes to.
///
/// Each iterator follows the changes since its first `next()`. No two values in a row are equal, and a slow reader gets the
/// latest value instead of all those between. A value that can't be read is the default. The sequence ends when its task is
/// cancelled. Nothing is polled, and nothing is left behind when the iterator is released.
public struct PreferenceValues<Value: Codable & Sendable>: AsyncSequence, Sendable {
  let cache: PreferenceCache<Value>

  /// Iterates from the value that the preference has at the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(cache: cache) }

  /// Waits for changes and reads the value.
  public struct Iterator: AsyncIteratorProtocol {
    private var cache: PreferenceCache<Value>
    private var changes: PreferenceChanges.Iterator?
    private var last: Value?

    init(cache: PreferenceCache<Value>) { self.cache = cache }

    /// Returns the present value at the first call, then the value after the next change; nil when the task was cancelled.
    public mutating func next() async -> Value? { await next(isolation: #isolation) }

    /// Returns the present value at the first call, then the value after the next change; nil when the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      if changes == nil { return begin() }
      while let keys = await changes?.next(isolation: actor) {
        guard keys.contains(cache.key) else { continue }
        // Listens before it looks for a successor again, so that none is missed.
        while cache.latest !== cache {
          cache = cache.latest
          changes = cache.store.changes(of: cache.key).makeAsyncIterator()
        }
        let value = cache.value
        if let last, areEqual(last, value) { continue }
        last = value
        return value
      }
      return nil
    }

    /// Listens, and then reads, so that no change falls in between.
    mutating func begin() -> Value {
      changes = cache.store.changes(of: cache.key).makeAsyncIterator()
      let value = cache.value
      last = value
      return value
    }
  }
}

/// Whether the values are equal: by their type's `==`, or else by their texts.
private func areEqual<Value: Codable>(_ one: Value, _ other: Value) -> Bool {
  func compare<Same: Equatable>(_ one: Same) -> Bool { one == other as? Same }
  if let one = one as? any Equatable { return compare(one) }
  return PreferenceText.text(of: one) == PreferenceText.text(of: other)
}
