internal import PreferenceStorage
internal import SpellRegistry
internal import Support
public import Synchronization

/// Resolves a preference to its store and key once, and after that with one atomic load.
///
/// `@unchecked Sendable`: `home` never changes, and any thread may ask it; the rest is checked.
@usableFromInline final class PreferenceResolver<Value: Codable & Sendable>: @unchecked Sendable {
  /// The property's reference to its registry, kept unless the registry keeps the object; it never has a value.
  ///
  /// Nil for a plain constant, which asks the current registry, and for a declaration that needs no registry.
  private let home: PropertyStorage<any PreferenceStore>?

  private struct Resolved: Sendable {
    weak var registry: InitializerRegistry?
    let cache: PreferenceCache<Value>
    /// The time at which to try again to create the store; nil if the store could be created.
    let retry: ContinuousClock.Instant?
  }
  /// The cache for the registry that was asked last.
  private let resolved = Lock<Resolved?>(nil)
  /// The cache for the only registry that a property asks, kept as long as this object.
  private let cache = AtomicLazyReference<PreferenceCache<Value>>()
  /// The address of `cache`, for reads that don't retain the object.
  ///
  /// The address is stored releasing and loaded acquiring, so a reader that sees it sees the whole object.
  @usableFromInline let cacheAddress = Atomic<UInt>(0)
  let declaration: PreferenceDeclaration<Value>

  init(of declaration: PreferenceDeclaration<Value>, isConstant constant: Bool) {
    self.declaration = declaration
    home = constant || declaration.store != nil && declaration.key != nil ? nil : PropertyStorage(at: declaration.place)
  }

  /// The identity of the property that this object resolves.
  var identity: PropertyIdentity {
    home?.identity ?? PropertyIdentity(address: Unmanaged.passUnretained(self).toOpaque(), place: declaration.place)
  }

  /// The decoded value, if the store has been resolved and the thread's copy is up to date.
  @inlinable var decodedValue: Value? {
    guard let address = UnsafeRawPointer(bitPattern: cacheAddress.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<PreferenceCache<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.decodedValue }
  }

  /// Returns the preference in the store of the registry that was current when the wrapper was created.
  func cache(in container: AnyObject?) -> PreferenceCache<Value> {
    if let cache = cache.load() { return cache }
    // The store that a declaration gives needs no registry.
    let new = cache(in: container, asking: declaration.store == nil ? home?.registry ?? .current : .current)
    guard new.isAvailable, home != nil || declaration.store != nil else { return new }
    let stored = cache.storeIfNil(new)
    cacheAddress.store(UInt(bitPattern: Unmanaged.passUnretained(stored).toOpaque()), ordering: .releasing)
    return stored
  }

  /// The preference of a plain constant, in its own store or in the store of the registry that is current at each use.
  var constantCache: PreferenceCache<Value> {
    declaration.store == nil ? cache(in: nil, asking: .current) : cache(in: nil)
  }

  /// Returns the preference in the store of a registry.
  ///
  /// No lock is held while registered initializers run; if two threads create a preference at once, either will do.
  private func cache(in container: AnyObject?, asking registry: InitializerRegistry) -> PreferenceCache<Value> {
    // This isn't a key path, because each use would create a key path of a generic type, which takes microseconds.
    let known = resolved.withLock { $0 }
    if let known, known.registry === registry, known.retry.map({ .now < $0 }) ?? true { return known.cache }
    let new = makeCache(in: container, asking: registry)
    let retry = new.isAvailable ? nil : ContinuousClock.now + .milliseconds(100)
    // A cache with the same store, or as yet with none, stays, because it knows which reads and assignments failed.
    let same = known?.cache.store === new.store || known?.registry === registry && retry != nil ? known?.cache : nil
    resolved.withLock { $0 = Resolved(registry: registry, cache: same ?? new, retry: retry) }
    if same == nil, let known, known.registry === registry { new.succeed(known.cache) }
    return same ?? new
  }

  /// Returns the preference in its store, with its former keys.
  private func makeCache(in container: AnyObject?, asking registry: InitializerRegistry) -> PreferenceCache<Value> {
    guard let defaultValue = declaration.defaultValue else {
      trap(
        """
        The @Preference of type \(Value.self) declared here has no default. Give it one: '@Preference var name = value', or \
        assign one in the initializer: '_name = Preference(wrappedValue: value)'.
        """, at: declaration.place)
    }
    let key = declaration.key(of: identity, in: container)
    let store = store(in: container, asking: registry, for: key)
    return PreferenceCache(store: store, key: key, defaultValue: defaultValue, of: declaration)
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

  /// Returns the standard file; stops the program if a store is registered as its own type, surely by mistake.
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

// MARK: Declaration

/// The declaration of a preference: its key, its default, its store, and its former keys.
struct PreferenceDeclaration<Value: Codable & Sendable>: Sendable {
  let place: SourcePlace
  let key: String?
  /// The default; nil if the initializer of the enclosing object has to assign another wrapper.
  let defaultValue: DefaultValue<Value>?
  let store: (any PreferenceStore)?
  let formerKeys: [FormerPreferenceKey]

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
  case constant(Value)
  /// The default of a declared key, which is evaluated at each read.
  case declared(PreferenceKey<Value>)

  var value: Value {
    switch self {
    case .constant(let value): value
    case .declared(let key): key.defaultValue
    }
  }

  /// The default if it is the same at each read; otherwise nil.
  var constant: Value? { if case .constant(let value) = self { value } else { nil } }
}

// MARK: A store that can't be made

/// A placeholder for a registered store that could not be created; every use throws the reason, so that no value seems
/// to be kept.
final class UnavailablePreferenceStore: CustomPreferenceStore {
  private let reason: PreferenceError
  /// The hub that notifies listeners once the store could be created.
  let hub = PreferenceHub()

  init(because reason: PreferenceError) { self.reason = reason }

  var keys: [String] { [] }
  func json(forKey key: String) throws(PreferenceError) -> String? { throw reason }
  func write(_ changes: [PreferenceChange]) throws(PreferenceError) { throw reason }
  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result { throw reason }
  func reload() throws(PreferenceError) { throw reason }
  func synchronize() throws(PreferenceError) { throw reason }
}
