internal import Locking
internal import SpellRegistry
public import Synchronization

/// Finds a preference's entry once, and after that with one atomic load.
@usableFromInline final class PreferenceLink<Value: Codable & Sendable>: Sendable {
  /// The registry to ask; nil for a plain constant, which asks the one that is current.
  private let registry: InitializerRegistry?

  private struct Found: Sendable {
    weak let registry: InitializerRegistry?
    let entry: PreferenceEntry<Value>
  }
  private let found = Lock<Found?>(nil)
  /// The entry that `found` holds, for as long as this link lives; only where there is one registry to ask.
  private let fixed = AtomicLazyReference<PreferenceEntry<Value>>()
  /// The same entry, to be read without retaining it.
  ///
  /// Releasing and acquiring: whoever sees it sees it whole.
  @usableFromInline let fixedAddress = Atomic<UInt>(0)

  init(registry: InitializerRegistry?) { self.registry = registry }

  /// The decoded value of the entry, if it was found before and is of the store's version.
  @inlinable var decodedValue: Value? {
    guard let address = UnsafeRawPointer(bitPattern: fixedAddress.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<PreferenceEntry<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.decodedValue }
  }

  func entry(make: (InitializerRegistry) -> PreferenceEntry<Value>) -> PreferenceEntry<Value> {
    if let entry = fixed.load() { return entry }
    if let registry {
      let entry = make(registry)
      guard entry.isAvailable else { return entry }
      let stored = fixed.storeIfNil(entry)
      fixedAddress.store(UInt(bitPattern: Unmanaged.passUnretained(stored).toOpaque()), ordering: .releasing)
      return stored
    }
    let current = InitializerRegistry.current
    if let found = found.withLock(\.self), found.registry === current { return found.entry }
    // Made outside the lock, since a registered initializer runs; of two that are made at once either will do.
    let entry = make(current)
    if entry.isAvailable { found.withLock { $0 = Found(registry: current, entry: entry) } }
    return entry
  }
}
