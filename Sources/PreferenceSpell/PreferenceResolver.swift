internal import PreferenceStorage
public import SpellRegistry
internal import Support
public import Synchronization

/// A resolver that searches for a preference's store and key at the first use, and provides the value to later reads.
///
/// A read that finds a decoded value retains only that value, and takes one lock that other threads seldom take. It goes
/// from the wrapper to the resolver, the `PreferenceCache`, and the copy of the value for the calling thread in
/// `PreferenceCopies`. The copy is valid if it has the version of the key's `PreferenceSignal`, which increases when the
/// value changes. Each of these objects is alive during the read, because the object before it keeps it for as long as
/// it lives itself, and the reader keeps the wrapper. Only a decoded value is released while other threads read. A
/// reader therefore retains it before it unlocks the `Mutex` of the copy.
///
/// The unlock must be that of a `Mutex`, whose compare-exchange the optimizer moves no retain across. An atomic store
/// with releasing order isn't enough. The optimizer moves a retain across any store, after which another thread may
/// release the value.
///
/// `@unchecked Sendable`: all properties are constants. Their types are `Sendable`, such as locks and atomics, except
/// that of `home`. Any thread may use `home`, because nothing ever stores a value in it.
@usableFromInline final class PreferenceResolver<Value: Codable & Sendable>: @unchecked Sendable {
  /// A `PropertyStorage` that never has a value, and only provides the property's registry and identity.
  ///
  /// The storage retains the registry, with the exceptions that the documentation of `InitializerRegistry` names. Nil
  /// for a constant such as `let volume = Preference("volume", default: 5)`, which uses the registry that is current at
  /// each use. Also nil for a declaration with a store and a key, which uses no registry.
  private let home: PropertyStorage<any PreferenceStore>?

  /// The cache for the registry that was used last.
  private let resolved = Lock<ResolvedCache?>(nil)
  /// The cache of a property, which uses only one registry.
  @usableFromInline let cache = LazyConstantReference<PreferenceCache<Value>>()
  /// The cache of a constant such as `let x = Preference(…)` in its declared store or the shared registry's store.
  @usableFromInline let constant = LazyConstantReference<PreferenceCache<Value>>()
  /// The caches of a constant such as `let x = Preference(…)` for the registries that threads used last.
  ///
  /// The version of a cache is the number of its registry. A cache and its store stay alive until a thread with the same
  /// `threadCopyIndex()` uses another registry.
  @usableFromInline let recent = LazyConstantReference<PreferenceCopies<PreferenceCache<Value>>>()
  /// Whether the declaration has no store.
  ///
  /// If so, a constant such as `let x = Preference(…)` asks the registry that is current at each use.
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

  /// The decoded value of a property; nil if it is outdated, or if the store hasn't been found yet.
  @inlinable var decodedValue: Value? { cache.unretained?._withUnsafeGuaranteedRef { $0.decodedValue } }

  /// The decoded value of a constant such as `let x = Preference(…)`; nil if it is outdated, or if the store for the
  /// current registry hasn't been found yet.
  @inlinable var decodedConstant: Value? {
    let number = asksRegistry ? InitializerRegistry.requestedNumber : 0
    if number == 0 { return constant.unretained?._withUnsafeGuaranteedRef { $0.decodedValue } }
    return recent.unretained?._withUnsafeGuaranteedRef { $0.withValue(of: number) { $0.decodedValue } }
  }

  /// Returns the property's cache, with the declared store or the store of the property's registry.
  ///
  /// The property's registry was current when the wrapper was created.
  func cache(in container: AnyObject?) -> PreferenceCache<Value> {
    if let cache = cache.object { return cache }
    // If the declaration specifies a store, no registry is asked for a store, so any registry can be passed.
    let new = cache(in: container, asking: declaration.store == nil ? home?.registry ?? .current : .current)
    guard new.isAvailable, home != nil || declaration.store != nil else { return new }
    return cache.setIfNil(new)
  }

  /// The cache of a constant such as `let x = Preference(…)`, with the declared store or the current registry's store.
  var constantCache: PreferenceCache<Value> {
    let requested = asksRegistry ? InitializerRegistry.requested : nil
    if let requested {
      let cache = cache(in: nil, asking: requested)
      if cache.isAvailable { (recent.object ?? recent.setIfNil(PreferenceCopies())).keep(cache, of: requested.number) }
      return cache
    }
    if let cache = constant.object { return cache }
    let new = asksRegistry ? cache(in: nil, asking: .shared) : cache(in: nil)
    return new.isAvailable ? constant.setIfNil(new) : new
  }

  /// Returns the cache for a registry; creates the cache unless the last use was with the same registry.
  ///
  /// If the store couldn't be created, the first use after 100 milliseconds tries again. No lock is held while
  /// registered initializers run. If two threads create a cache at once, only one of the two caches is kept.
  private func cache(in container: AnyObject?, asking registry: InitializerRegistry) -> PreferenceCache<Value> {
    // The closure `{ $0 }` avoids the key path `\.self`. In a generic type, each evaluation of `\.self` would create a
    // key path, which takes microseconds.
    let known = resolved.withLock { $0 }
    func cache(of known: ResolvedCache?) -> PreferenceCache<Value>? {
      known.map { unsafeDowncast($0.cache, to: PreferenceCache<Value>.self) }
    }
    if let known, known.registry == registry.number, known.retry.map({ .now < $0 }) ?? true { return cache(of: known)! }
    let new = makeCache(in: container, asking: registry)
    let retry = new.isAvailable ? nil : ContinuousClock.now + .milliseconds(100)
    // The old cache knows which reads and assignments failed. It stays if the store is the same, or if
    // the registry is the same and still provides no store.
    let old = cache(of: known)
    let same = old?.store === new.store || known?.registry == registry.number && retry != nil ? old : nil
    resolved.change { $0 = ResolvedCache(registry: registry.number, cache: same ?? new, retry: retry) }
    if same == nil, let old, known?.registry == registry.number { new.succeed(old) }
    return same ?? new
  }

  /// Creates the cache of the preference, after finding its key and its store.
  private func makeCache(in container: AnyObject?, asking registry: InitializerRegistry) -> PreferenceCache<Value> {
    let key = declaration.key(of: identity, in: container)
    let store = store(in: container, asking: registry, for: key)
    return PreferenceCache(store: store, key: key, of: declaration)
  }

  /// Returns the store in the declaration, or else the registered store, or else the standard store.
  ///
  /// If the registered store can't be created, the result is a placeholder that throws the reason.
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

  /// Returns the standard store or, in tests, a store in memory.
  ///
  /// Traps if a store is registered only as its own type, which is surely a mistake.
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

/// The cache of a preference, and the number of the registry for which the cache was created.
///
/// If this type were nested in a generic type, each read of a constant such as `let x = Preference(…)` would look up
/// eleven generic types.
private struct ResolvedCache: Sendable {
  /// The number of the registry for which `cache` was created.
  let registry: UInt64
  /// A `PreferenceCache` with the value type of the resolver that keeps this struct.
  let cache: any AnyObject & Sendable
  /// The time at which to try again to create the store; nil if the store could be created.
  let retry: ContinuousClock.Instant?
}

/// A reference that is set once, and can be read without retaining the object.
@usableFromInline struct LazyConstantReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let reference = AtomicLazyReference<Object>()
  /// The address of the object in `reference`; 0 if there is none.
  ///
  /// The address is stored with releasing order and loaded with acquiring order, so readers see an initialized object.
  @usableFromInline let address = Atomic<UInt>(0)

  /// The object, which stays alive as long as this reference; nil if none was set.
  @inlinable var unretained: Unmanaged<Object>? {
    UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map { Unmanaged.fromOpaque($0) }
  }

  var object: Object? { reference.load() }

  /// Sets the object, unless another was set before, and returns the object that was set first.
  func setIfNil(_ new: Object) -> Object {
    let object = reference.storeIfNil(new)
    address.store(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), ordering: .releasing)
    return object
  }
}

// MARK: Declaration

/// The declaration of a preference: its key, its default, its store, and its former keys.
struct PreferenceDeclaration<Value: Codable & Sendable>: Sendable {
  let place: SourcePlace
  let key: String?
  let defaultValue: DefaultValue<Value>
  let store: (any PreferenceStore)?
  let formerKeys: [FormerPreferenceKey]

  /// Whether a replaced or removed value is immediately erased from the store's medium, such as a file.
  var isErasing: Bool {
    if case .declared(let key) = defaultValue { return key.isErasing }
    return false
  }

  /// Returns the key in the declaration, or else the property's name; traps if there is neither.
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

/// The default of a preference, which is its value until a value is set.
enum DefaultValue<Value: Codable & Sendable>: Sendable {
  /// The default of a single wrapper, which no other wrapper shares.
  case constant(Value)
  /// The default that all wrappers at one declaration share.
  ///
  /// For each store and key, the first wrapper's default is used.
  case shared(Value)
  /// The default of a declared key, which all uses of the key in one store share.
  case declared(PreferenceKey<Value>)

  /// The `PreferenceKey` that declares the default, if there is one, and a closure that makes the default.
  var source: (key: PreferenceKey<Value>?, make: @Sendable () -> Value) {
    switch self {
    case .constant(let value), .shared(let value): (nil, { value })
    case .declared(let key): (key, { key.defaultValue })
    }
  }

  /// Creates the default of a wrapper in the type or function whose name is `function`.
  init(_ value: Value, writtenIn function: StaticString) {
    // The name of a function has parentheses, unlike that of a type or a getter. The default of a wrapper in a function
    // isn't shared, because each call of the function may pass a different default.
    let isPassed = function.withUTF8Buffer { $0.contains(UInt8(ascii: "(")) }
    self = isPassed ? .constant(value) : .shared(value)
  }
}

// MARK: A store that can't be made

/// A placeholder for a registered store that could not be created.
///
/// Each read or write of a value throws the error `reason`, so that no caller believes that a value was stored.
final class UnavailablePreferenceStore: CustomPreferenceStore {
  private let reason: PreferenceError
  /// The hub that notifies listeners when a later attempt to create the registered store has succeeded.
  let hub = PreferenceHub()

  init(because reason: PreferenceError) { self.reason = reason }

  var keys: [String] { [] }
  func json(forKey key: String) throws(PreferenceError) -> String? { throw reason }
  func write(_ changes: [PreferenceChange]) throws(PreferenceError) { throw reason }
  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result { throw reason }
  func reload() throws(PreferenceError) { throw reason }
  func synchronize() throws(PreferenceError) { throw reason }
}
