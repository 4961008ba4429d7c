internal import Support
public import PreferenceStorage
internal import SpellRegistry
public import Synchronization

/// One preference in its store, with its decoded value.
///
/// The decoded value lies beside an atomic state, which has the store's version for which it is good, and whether a thread
/// is copying or replacing it. A reader that finds the state at the store's version takes it (acquiring), copies the value,
/// and puts it back (releasing): two exchanges, no wait. A reader that finds it taken or outdated asks the store instead.
///
/// `@unchecked Sendable`: `decoded` is touched only by the thread that has exchanged the atomic `state` for an odd number
/// (acquiring), until it stores an even one (releasing); the failure is behind a lock, and the rest never changes.
@usableFromInline final class PreferenceCache<Value: Codable & Sendable>: @unchecked Sendable {
  let store: any PreferenceStore
  let key: String
  let defaultValue: Value

  private let version: PreferenceVersion?
  /// The same, to be read without retaining it; `version` keeps it.
  @usableFromInline let unretainedVersion: Unmanaged<PreferenceVersion>?
  /// The version of `decoded`, twice, and one more while it is taken; 0 for none.
  @usableFromInline let state = Atomic<UInt64>(0)
  @exclusivity(unchecked) @usableFromInline var decoded: Value
  /// Why the last assignment failed, and the version of the store that it left as it was.
  private let failure = Lock<(error: PreferenceError, version: UInt64?)?>(nil)

  init(store: any PreferenceStore, key: String, defaultValue: Value) {
    self.store = store
    self.key = key
    self.defaultValue = defaultValue
    decoded = defaultValue
    version = (store as? any VersionedPreferenceStore)?.version
    unretainedVersion = version.map { Unmanaged.passUnretained($0) }
  }

  /// Whether the store could be made; if not, the next use tries again.
  var isAvailable: Bool { !(store is UnavailablePreferenceStore) }

  /// The value in the store, or the default.
  var value: Value {
    if let decoded = decodedValue { return decoded }
    let current = version?.current
    let value = read().value
    if let current { keep(value, of: current) }
    return value
  }

  /// The decoded value, if it is of the store's version and no other thread is at it.
  @inlinable var decodedValue: Value? {
    guard let current = unretainedVersion?._withUnsafeGuaranteedRef({ $0.current }),
      state.compareExchange(expected: current << 1, desired: current << 1 | 1, ordering: .acquiring).exchanged
    else { return nil }
    defer { state.store(current << 1, ordering: .releasing) }
    return decoded
  }

  /// Keeps a value that was read after the version was; gives way to the thread that has the state.
  private func keep(_ value: Value, of version: UInt64) {
    let found = state.load(ordering: .relaxed)
    guard found & 1 == 0, found < version << 1,
      state.compareExchange(expected: found, desired: found | 1, ordering: .acquiring).exchanged
    else { return }
    decoded = value
    state.store(version << 1, ordering: .releasing)
  }

  private func read() -> (value: Value, error: PreferenceError?) {
    do throws(PreferenceError) { return (try load(), nil) } catch { return (defaultValue, error) }
  }

  func load() throws(PreferenceError) -> Value { try store.value(Value.self, forKey: key) ?? defaultValue }

  /// Why the value reads as the default though the store has one, or why the last assignment was not kept, unless the store
  /// has changed since.
  var error: PreferenceError? {
    if let error = read().error { return error }
    let now = version?.current
    return failure.withLock { failure in
      if let version = failure?.version, version != now { failure = nil }
      return failure?.error
    }
  }

  /// The changes of the key; of other keys too where the store can't tell them apart.
  var changes: PreferenceChanges { (store as? any VersionedPreferenceStore)?.changes(of: key) ?? store.changes() }

  /// Whether the store has a value, readable or not.
  var isSet: Bool {
    do throws(PreferenceError) { return try store.value(Value.self, forKey: key) != nil } catch {
      return error.code == .typeMismatch
    }
  }

  /// Writes a value, or keeps why it could not be written and tells the store's listeners.
  func set(_ value: Value) { reportingFailure { () throws(PreferenceError) in try write(value) } }

  func reset() { reportingFailure { () throws(PreferenceError) in try store.removeValue(forKey: key) } }

  func write(_ value: Value) throws(PreferenceError) { try store.set(value, forKey: key) }

  /// Reads, changes and writes the value as one, with no other writer in between.
  func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    try store.transaction { changes in
      var value = try changes.value(Value.self, forKey: key) ?? defaultValue
      let result = try body(&value)
      try changes.set(value, forKey: key)
      return result
    }
  }

  private func reportingFailure(of change: () throws(PreferenceError) -> Void) {
    let before = version?.current
    do throws(PreferenceError) {
      try change()
      failure.withLock { $0 = nil }
    } catch {
      failure.withLock { $0 = (error, before) }
      store.announce(error)
    }
  }

  /// Moves the value of the first of these keys that has one to the present key, if that has none.
  func take(from formerKeys: [String]) {
    guard !formerKeys.isEmpty, !isSet else { return }
    let before = version?.current
    do {
      try store.transaction { changes in
        guard try changes.value(Value.self, forKey: key) == nil else { return }
        for formerKey in formerKeys {
          guard let value = try changes.value(Value.self, forKey: formerKey) else { continue }
          try changes.set(value, forKey: key)
          changes.removeValue(forKey: formerKey)
          return
        }
      }
    } catch {
      failure.withLock { $0 = (error as? PreferenceError).map { ($0, before) } }
    }
  }
}

/// Resolves a preference to its store and key once, and after that with one atomic load.
@usableFromInline final class PreferenceResolver<Value: Codable & Sendable>: Sendable {
  /// The registry to ask; nil for a plain constant, which asks the one that is current.
  private let registry: InitializerRegistry?

  private struct Resolved: Sendable {
    weak let registry: InitializerRegistry?
    let cache: PreferenceCache<Value>
  }
  private let resolved = Lock<Resolved?>(nil)
  /// The cache, for as long as this object lives; only where there is one registry to ask.
  private let cache = AtomicLazyReference<PreferenceCache<Value>>()
  /// The same cache, to be read without retaining it.
  ///
  /// Stored releasing, loaded acquiring: a reader that sees it sees all of it.
  @usableFromInline let cacheAddress = Atomic<UInt>(0)

  init(registry: InitializerRegistry?) { self.registry = registry }

  /// The decoded value, if the store was resolved before and is of the store's version.
  @inlinable var decodedValue: Value? {
    guard let address = UnsafeRawPointer(bitPattern: cacheAddress.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<PreferenceCache<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.decodedValue }
  }

  func cache(make: (InitializerRegistry) -> PreferenceCache<Value>) -> PreferenceCache<Value> {
    if let cache = cache.load() { return cache }
    if let registry {
      let new = make(registry)
      guard new.isAvailable else { return new }
      let stored = cache.storeIfNil(new)
      cacheAddress.store(UInt(bitPattern: Unmanaged.passUnretained(stored).toOpaque()), ordering: .releasing)
      return stored
    }
    let current = InitializerRegistry.current
    if let resolved = resolved.withLock(\.self), resolved.registry === current { return resolved.cache }
    // Made outside the lock, since a registered initializer runs; of two that are made at once either will do.
    let new = make(current)
    if new.isAvailable { resolved.withLock { $0 = Resolved(registry: current, cache: new) } }
    return new
  }
}
