internal import Locking
internal import SpellRegistry
internal import Synchronization

/// Finds a preference's entry once, and after that with one atomic load.
final class PreferenceLink<Value: Codable & Sendable>: Sendable {
  /// The registry to ask; nil for a plain constant, which asks the one that is current.
  private let registry: InitializerRegistry?

  private struct Found: Sendable {
    weak let registry: InitializerRegistry?
    let entry: PreferenceEntry<Value>
  }
  private let found = Lock<Found?>(nil)
  /// The entry that `found` holds, for as long as this link lives; only where there is one registry to ask.
  private let fixed = AtomicLazyReference<PreferenceEntry<Value>>()

  init(registry: InitializerRegistry?) { self.registry = registry }

  func entry(make: (InitializerRegistry) -> PreferenceEntry<Value>) -> PreferenceEntry<Value> {
    if let entry = fixed.load() { return entry }
    if let registry {
      let entry = make(registry)
      return entry.isAvailable ? fixed.storeIfNil(entry) : entry
    }
    let current = InitializerRegistry.current
    if let found = found.withLock(\.self), found.registry === current { return found.entry }
    // Made outside the lock, since a registered initializer runs; of two that are made at once either will do.
    let entry = make(current)
    if entry.isAvailable { found.withLock { $0 = Found(registry: current, entry: entry) } }
    return entry
  }
}
