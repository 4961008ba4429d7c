internal import PreferenceStorage

/// The values of a preference: the present one, then each that it changes to.
///
/// Each iterator has every change since its first `next()`; nothing is polled, and nothing is left behind when the
/// iterator goes.
public struct PreferenceValues<Value: Codable & Sendable>: AsyncSequence, Sendable {
  let cache: PreferenceCache<Value>

  /// Iterates from the value that the preference has at the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(cache: cache) }

  /// Waits for changes and reads the value.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let cache: PreferenceCache<Value>
    private var changes: PreferenceChanges.Iterator?

    fileprivate init(cache: PreferenceCache<Value>) { self.cache = cache }

    /// The present value at the first call, then the value after the next change; nil when the task was cancelled.
    public mutating func next() async -> Value? { await next(isolation: #isolation) }

    /// The present value at the first call, then the value after the next change; nil when the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      guard var changes else {
        // Listens before it reads, so that no change falls in between.
        changes = cache.changes.makeAsyncIterator()
        return cache.value
      }
      defer { self.changes = changes }
      while let keys = await changes.next(isolation: actor) {
        if keys.contains(cache.key) { return cache.value }
      }
      return nil
    }
  }
}
