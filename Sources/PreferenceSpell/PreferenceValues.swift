public import PreferenceStorage

/// The values of a preference: the present one, then each that it changes to.
///
/// Each iterator has every change since its first `next()`, without two equal values in a row. Nothing is polled, and nothing is
/// left behind when the iterator goes.
public struct PreferenceValues<Value: Codable & Sendable>: AsyncSequence, Sendable {
  let cache: PreferenceCache<Value>

  /// Iterates from the value that the preference has at the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(base: ValueIterator(cache: cache)) }

  /// Waits for changes and reads the value.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: ValueIterator<Value>

    /// Returns the present value at the first call, then the value after the next change; nil when the task was cancelled.
    public mutating func next() async -> Value? { await next(isolation: #isolation) }

    /// Returns the present value at the first call, then the value after the next change; nil when the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      await base.next(isolation: actor).map { $0.value ?? base.cache.defaultValue.value }
    }
  }
}

/// The values of a preference, with an error if one can't be read.
///
/// As ``PreferenceValues``, which gives the default then.
public struct PreferenceLoads<Value: Codable & Sendable>: AsyncSequence, Sendable {
  let cache: PreferenceCache<Value>

  /// Iterates from the value that the preference has at the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(base: ValueIterator(cache: cache)) }

  /// Waits for changes and reads the value.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: ValueIterator<Value>

    /// Returns the present value at the first call, then the value after the next change; nil when the task was cancelled.
    ///
    /// - Throws: `.typeMismatch` if the value can't be read as the preference's type, and what the store throws.
    public mutating func next() async throws(PreferenceError) -> Value? { try await next(isolation: #isolation) }

    /// Returns the present value at the first call, then the value after the next change; nil when the task was cancelled.
    ///
    /// - Throws: `.typeMismatch` if the value can't be read as the preference's type, and what the store throws.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PreferenceError) -> Value? {
      guard let state = await base.next(isolation: actor) else { return nil }
      if let error = state.error { throw error }
      return state.value ?? base.cache.defaultValue.value
    }
  }
}

/// The changes of a preference, each with the value before and after it.
public struct PreferenceValueChanges<Value: Codable & Sendable>: AsyncSequence, Sendable {
  /// What the value was, and what it is.
  public typealias Element = (old: Value, new: Value)

  let cache: PreferenceCache<Value>

  /// Iterates over the changes from the first `next()` on.
  public func makeAsyncIterator() -> Iterator { Iterator(base: PreferenceValues(cache: cache).makeAsyncIterator()) }

  /// Waits for changes and reads the value.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: PreferenceValues<Value>.Iterator
    private var old: Value?

    fileprivate init(base: PreferenceValues<Value>.Iterator) { self.base = base }

    /// Returns the next change; nil when the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// Returns the next change; nil when the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      if old == nil { old = await base.next(isolation: actor) }
      guard let old, let new = await base.next(isolation: actor) else { return nil }
      self.old = new
      return (old, new)
    }
  }
}

/// Waits for the changes of a preference, and leaves out those that change nothing.
private struct ValueIterator<Value: Codable & Sendable> {
  typealias State = PreferenceCache<Value>.State

  private(set) var cache: PreferenceCache<Value>
  private var changes: PreferenceChanges.Iterator?
  /// The last value as text, by which values of any type are compared.
  private var last: String?

  init(cache: PreferenceCache<Value>) { self.cache = cache }

  mutating func next(isolation actor: isolated (any Actor)?) async -> State? {
    guard changes != nil else {
      // Listens before it reads, so that no change falls in between.
      changes = cache.changes.makeAsyncIterator()
      return read()
    }
    while let keys = await changes?.next(isolation: actor) {
      guard keys.contains(cache.key) else { continue }
      // Listens before it looks for a successor again, so that none is missed.
      while cache.latest !== cache {
        cache = cache.latest
        changes = cache.changes.makeAsyncIterator()
      }
      let last = last
      let state = read()
      if self.last != last { return state }
    }
    return nil
  }

  private mutating func read() -> State {
    let state = cache.state
    last = state.text
    return state
  }
}
