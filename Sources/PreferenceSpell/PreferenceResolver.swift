internal import Support
internal import PreferenceStorage
internal import SpellRegistry
public import Synchronization

/// Resolves a preference to its store and key once, and after that with one atomic load.
@usableFromInline final class PreferenceResolver<Value: Codable & Sendable>: Sendable {
  /// The registry to ask; nil for a plain constant, which asks the one that is current.
  private let registry: InitializerRegistry?

  private struct Resolved: Sendable {
    weak var registry: InitializerRegistry?
    let cache: PreferenceCache<Value>
    /// When a store that could not be made is tried again; nil if it could.
    let retry: ContinuousClock.Instant?
  }
  /// The cache in the registry that was asked last.
  private let resolved = Lock<Resolved?>(nil)
  /// The cache, for as long as this object lives; only if there is one registry to ask.
  private let cache = AtomicLazyReference<PreferenceCache<Value>>()
  /// The same cache, to be read without retaining it.
  ///
  /// Stored releasing, loaded acquiring: a reader that sees it sees all of it.
  @usableFromInline let cacheAddress = Atomic<UInt>(0)

  init(registry: InitializerRegistry?) { self.registry = registry }

  /// The decoded value, if the store was resolved before and a copy is of the key's version.
  @inlinable var decodedValue: Value? {
    guard let address = UnsafeRawPointer(bitPattern: cacheAddress.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<PreferenceCache<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.decodedValue }
  }

  /// The preference in the store of the registry that was current when the wrapper was made.
  func cache(make: (InitializerRegistry) -> PreferenceCache<Value>) -> PreferenceCache<Value> {
    if let cache = cache.load() { return cache }
    guard let registry else { return currentCache(make: make) }
    let new = resolve(in: registry, make)
    guard new.isAvailable else { return new }
    let stored = cache.storeIfNil(new)
    cacheAddress.store(UInt(bitPattern: Unmanaged.passUnretained(stored).toOpaque()), ordering: .releasing)
    return stored
  }

  /// The preference in the store of the registry that is current now.
  func currentCache(make: (InitializerRegistry) -> PreferenceCache<Value>) -> PreferenceCache<Value> {
    resolve(in: .current, make)
  }

  /// Made outside the lock, since a registered initializer runs; of two that are made at once either will do.
  private func resolve(
    in registry: InitializerRegistry, _ make: (InitializerRegistry) -> PreferenceCache<Value>
  ) -> PreferenceCache<Value> {
    let known = resolved.withLock(\.self)
    if let known, known.registry === registry, known.retry.map({ .now < $0 }) ?? true { return known.cache }
    let new = make(registry)
    resolved.withLock {
      $0 = Resolved(
        registry: registry, cache: new, retry: new.isAvailable ? nil : .now + PreferenceResolver.retryPause)
    }
    if let known, known.registry === registry, !known.cache.isAvailable { new.succeed(known.cache) }
    return new
  }

  /// For how long a store that could not be made isn't tried again.
  private static var retryPause: Duration { .milliseconds(100) }
}
