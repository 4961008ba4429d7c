internal import PreferenceStorage

/// An asynchronous sequence of a preference's values: the current value, then each later value.
///
/// Each iterator follows the changes after its first call of `next()`. No two consecutive values are equal. A slow
/// reader may miss values, but gets the latest value. A value that can't be read appears as the default. The sequence
/// ends when the reading task is canceled. An iterator doesn't poll, and stops listening when it is released.
public struct PreferenceValues<Value: Codable & Sendable>: AsyncSequence, Sendable {
  let cache: PreferenceCache<Value>

  /// Creates an iterator, whose first element is the value at the time of the first call of `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(cache: cache.latest) }

  /// An iterator that waits for changes and reads the new values.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var cache: PreferenceCache<Value>
    fileprivate var changes: PreferenceChanges.Iterator?
    fileprivate var last: Value?

    /// Returns the current value at the first call, and waits for a new value at later calls.
    ///
    /// - Returns: Nil if the task is canceled while the call waits.
    public mutating func next() async -> Value? { await next(isolation: #isolation) }

    /// Returns the current value at the first call, and waits for a new value at later calls.
    ///
    /// - Returns: Nil if the task is canceled while the call waits.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      if changes == nil { return begin() }
      while let keys = await changes?.next(isolation: actor) {
        guard keys.contains(cache.key) else { continue }
        // The iterator listens to the new cache's store before it checks for an even newer cache, to miss no change.
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

    /// Starts to listen for changes, and then returns the current value; in this order, no change is missed.
    mutating func begin() -> Value {
      changes = cache.store.changes(of: cache.key).makeAsyncIterator()
      last = cache.value
      return last ?? cache.value
    }
  }
}

/// Returns whether two values are equal, by `==` if their type is `Equatable`, or else by their encoded texts.
private func areEqual<Value: Codable>(_ one: Value, _ other: Value) -> Bool {
  func compare<Same: Equatable>(_ one: Same) -> Bool { one == other as? Same }
  if let one = one as? any Equatable { return compare(one) }
  do { return try JSONText(encoding: one) == JSONText(encoding: other) } catch { return false }
}
