internal import PreferenceStorage
public import SpellRegistry
internal import Support
public import Synchronization

/// A resolver that finds a preference's store and key at the first use, and later with one atomic load.
///
/// `@unchecked Sendable`: `home` is a constant that any thread may use, and the compiler checks the other properties.
@usableFromInline final class PreferenceResolver<Value: Codable & Sendable>: @unchecked Sendable {
  /// A property storage without a value, which only refers to the property's registry.
  ///
  /// The storage retains the registry, unless the registry retains the property's container. Nil for a plain constant,
  /// which uses the current registry, and for a declaration with a store and a key, which uses no registry.
  private let home: PropertyStorage<any PreferenceStore>?

  /// The cache for the registry that was used last.
  private let resolved = Lock<ResolvedCache?>(nil)
  /// The cache of a property, which uses only one registry; kept as long as this object.
  private let cache = AtomicLazyReference<PreferenceCache<Value>>()
  /// The address of `cache`, for reads that don't retain the object.
  ///
  /// The address is stored with releasing and loaded with acquiring order, so its readers see an initialized object.
  @usableFromInline let cacheAddress = Atomic<UInt>(0)
  /// The cache of a plain constant in its own store or the shared registry's store, kept as long as this object.
  private let constant = AtomicLazyReference<PreferenceCache<Value>>()
  /// The address of `constant`, stored with releasing and loaded with acquiring order.
  @usableFromInline let constantAddress = Atomic<UInt>(0)
  /// The caches of a plain constant for the registries that threads used last, by the registry's number.
  ///
  /// A cache and its store stay alive until a thread with the same `threadCopyIndex()` uses another registry.
  private let recent = AtomicLazyReference<PreferenceCopies<PreferenceCache<Value>>>()
  /// The address of `recent`, stored with releasing and loaded with acquiring order.
  @usableFromInline let recentAddress = Atomic<UInt>(0)
  /// Whether a plain constant uses the store of the registry that is current at each use.
  @usableFromInline let asksRegistry: Bool
  let declaration: PreferenceDeclaration<Value>

  init(of declaration: PreferenceDeclaration<Value>, isConstant constant: Bool) {
    self.declaration = declaration
    asksRegistry = declaration.store == nil
    home = constant || declaration.store != nil && declaration.key != nil ? nil : PropertyStorage(at: declaration.place)
  }

  /// The identity of the property that this object resolves.
  var identity: PropertyIdentity {
    home?.identity ?? PropertyIdentity(address: Unmanaged.passUnretained(self).toOpaque(), place: declaration.place)
  }

  /// The decoded value; nil unless the store has been found and the thread's copy is up to date.
  @inlinable var decodedValue: Value? {
    decodedValue(at: cacheAddress.load(ordering: .acquiring))
  }

  /// The decoded value of a plain constant; nil unless its current store is known and the thread's copy is up to date.
  @inlinable var decodedConstant: Value? {
    let number = asksRegistry ? InitializerRegistry.requestedNumber : 0
    if number == 0 { return decodedValue(at: constantAddress.load(ordering: .acquiring)) }
    guard let address = UnsafeRawPointer(bitPattern: recentAddress.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<PreferenceCopies<PreferenceCache<Value>>>.fromOpaque(address)._withUnsafeGuaranteedRef {
      $0.withValue(of: number) { $0.decodedValue }
    }
  }

  @inlinable @inline(__always) func decodedValue(at address: UInt) -> Value? {
    guard let address = UnsafeRawPointer(bitPattern: address) else { return nil }
    return Unmanaged<PreferenceCache<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.decodedValue }
  }

  /// Returns the property's cache, with the store of the registry that was current when the wrapper was created.
  func cache(in container: AnyObject?) -> PreferenceCache<Value> {
    if let cache = cache.load() { return cache }
    // If the declaration specifies a store, the registry isn't used to find a store.
    let new = cache(in: container, asking: declaration.store == nil ? home?.registry ?? .current : .current)
    guard new.isAvailable, home != nil || declaration.store != nil else { return new }
    let stored = cache.storeIfNil(new)
    cacheAddress.store(UInt(bitPattern: Unmanaged.passUnretained(stored).toOpaque()), ordering: .releasing)
    return stored
  }

  /// The cache of a plain constant, with the declared store or the store of the registry that is current now.
  var constantCache: PreferenceCache<Value> {
    let requested = asksRegistry ? InitializerRegistry.requested : nil
    if let requested {
      let cache = cache(in: nil, asking: requested)
      if cache.isAvailable { remember(cache, for: requested) }
      return cache
    }
    if let cache = constant.load() { return cache }
    let new = asksRegistry ? cache(in: nil, asking: .shared) : cache(in: nil)
    guard new.isAvailable else { return new }
    let stored = constant.storeIfNil(new)
    constantAddress.store(UInt(bitPattern: Unmanaged.passUnretained(stored).toOpaque()), ordering: .releasing)
    return stored
  }

  /// Records the constant's cache for a registry, so that this thread finds the cache without a lock the next time.
  private func remember(_ cache: PreferenceCache<Value>, for registry: InitializerRegistry) {
    let recent = recent.load() ?? recent.storeIfNil(PreferenceCopies())
    recentAddress.store(UInt(bitPattern: Unmanaged.passUnretained(recent).toOpaque()), ordering: .releasing)
    recent.keep(cache, of: registry.number)
  }

  /// Returns the cache for a registry, and creates the cache if the registry wasn't the last one used.
  ///
  /// No lock is held while registered initializers run. If two threads create a cache at once, either may be kept.
  private func cache(in container: AnyObject?, asking registry: InitializerRegistry) -> PreferenceCache<Value> {
    // The closure isn't a key path, since each use would create a key path of a generic type, which takes microseconds.
    let known = resolved.withLock { $0 }
    func cache(of known: ResolvedCache?) -> PreferenceCache<Value>? {
      known.map { unsafeDowncast($0.cache, to: PreferenceCache<Value>.self) }
    }
    if let known, known.registry == registry.number, known.retry.map({ .now < $0 }) ?? true { return cache(of: known)! }
    let new = makeCache(in: container, asking: registry)
    let retry = new.isAvailable ? nil : ContinuousClock.now + .milliseconds(100)
    // The old cache knows which reads and assignments failed. It stays if the store is the same or still unavailable.
    let old = cache(of: known)
    let same = old?.store === new.store || known?.registry == registry.number && retry != nil ? old : nil
    resolved.withLock { $0 = ResolvedCache(registry: registry.number, cache: same ?? new, retry: retry) }
    if same == nil, let old, known?.registry == registry.number { new.succeed(old) }
    return same ?? new
  }

  /// Creates the cache of the preference, with the store and key that the declaration leads to.
  private func makeCache(in container: AnyObject?, asking registry: InitializerRegistry) -> PreferenceCache<Value> {
    let key = declaration.key(of: identity, in: container)
    let store = store(in: container, asking: registry, for: key)
    return PreferenceCache(store: store, key: key, of: declaration)
  }

  /// Returns the store in the declaration, or else the registered store, or else the standard file.
  private func store(
    in container: AnyObject?, asking registry: InitializerRegistry, for key: String
  ) -> any PreferenceStore {
    if let store = declaration.store { return store }
    do throws(InjectionError) {
      return try registry.resolve((any PreferenceStore).self, named: key, in: container)
    } catch {
      if error.code == .notRegistered && error.path.count == 1 { return standardStore(unlessIn: registry) }
      return UnavailablePreferenceStore(
        because: error.underlying as? PreferenceError
          ?? PreferenceError(.unreadable, "the registered store could not be made", key: key, underlying: error))
    }
  }

  /// Returns the standard store; traps if a store is registered as its own type, which is surely a mistake.
  private func standardStore(unlessIn registry: InitializerRegistry) -> any PreferenceStore {
    for (type, place) in registry.registeredTypes where type is any PreferenceStore.Type {
      trap(
        """
        A \(type) is registered as its own type, at \(place), so no @Preference finds it. Register it as \
        (any PreferenceStore).self: registry.register((any PreferenceStore).self) { … }, or \
        register((any PreferenceStore).self, .instance(store)).
        """, at: declaration.place)
    }
    #if os(Windows)
      return MemoryPreferenceStore.sharedInTests
        ?? UnavailablePreferenceStore(
          because: PreferenceError(
            .unreadable,
            "has no store: the file store isn't written for Windows. Register a store as (any PreferenceStore).self"))
    #else
      return MemoryPreferenceStore.sharedInTests ?? FilePreferenceStore.standard
    #endif
  }
}

/// The cache of a preference, and the number of the registry that provided the store.
///
/// This type isn't nested in a generic type, because each read of a constant would look up eleven generic types.
private struct ResolvedCache: Sendable {
  /// The registry's number.
  let registry: UInt64
  /// A `PreferenceCache` of the resolver's type.
  let cache: any AnyObject & Sendable
  /// The time at which to try again to create the store; nil if the store could be created.
  let retry: ContinuousClock.Instant?
}

// MARK: Declaration

/// The declaration of a preference: its key, its default, its store, and its former keys.
struct PreferenceDeclaration<Value: Codable & Sendable>: Sendable {
  let place: SourcePlace
  let key: String?
  let defaultValue: DefaultValue<Value>
  let store: (any PreferenceStore)?
  let formerKeys: [FormerPreferenceKey]

  /// Whether a replaced or removed value is immediately erased from the store's medium.
  var isErasing: Bool {
    if case .declared(let key) = defaultValue { return key.isErasing }
    return false
  }

  /// Returns the key in the declaration, or else the property's name.
  func key(of identity: PropertyIdentity, in container: AnyObject?) -> String {
    if let key { return key }
    guard let container else {
      trap(
        """
        The @Preference of type \(Value.self) declared here has no name that could be found, as it is not a property of a \
        class or an actor. Give it a key: @Preference("key").
        """, at: place)
    }
    guard let name = InjectionPoint(Value.self, in: container, property: identity).propertyName else {
      trap(
        """
        The name of the @Preference of type \(Value.self) in \(type(of: container)) is not shown by reflection: the \
        class has a custom mirror, or was built with -disable-reflection-metadata. Give it a key: @Preference("key").
        """, at: place)
    }
    return name
  }
}

/// The value of a preference that isn't set.
enum DefaultValue<Value: Codable & Sendable>: Sendable {
  /// The default of a single wrapper, which no other wrapper shares.
  case constant(Value)
  /// The default of all wrappers at one declaration: the first default that was made in the process.
  case shared(Value)
  /// The default of a declared key, which is made once for each store.
  case declared(PreferenceKey<Value>)

  /// Creates the default of a wrapper that is created in the type or function with this name.
  init(_ value: Value, writtenIn function: StaticString) {
    // The name of a function has parentheses. Each call of the function may pass a different default.
    let isPassed = function.withUTF8Buffer { $0.contains(UInt8(ascii: "(")) }
    self = isPassed ? .constant(value) : .shared(value)
  }
}

// MARK: A store that can't be made

/// A placeholder for a registered store that could not be created.
///
/// Every use throws the reason, so that no caller believes that a value was stored.
final class UnavailablePreferenceStore: CustomPreferenceStore {
  private let reason: PreferenceError
  /// The hub that notifies listeners when the registered store has been created after all.
  let hub = PreferenceHub()

  init(because reason: PreferenceError) { self.reason = reason }

  var keys: [String] { [] }
  func json(forKey key: String) throws(PreferenceError) -> String? { throw reason }
  func write(_ changes: [PreferenceChange]) throws(PreferenceError) { throw reason }
  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result { throw reason }
  func reload() throws(PreferenceError) { throw reason }
  func synchronize() throws(PreferenceError) { throw reason }
}
