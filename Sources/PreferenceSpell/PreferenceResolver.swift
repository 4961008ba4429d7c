internal import PreferenceStorage
internal import SpellRegistry
internal import Support
public import Synchronization

/// Resolves a preference to its store and key once, and after that with one atomic load.
///
/// `@unchecked Sendable`: `home` never changes, and any thread may ask it; the rest is checked.
@usableFromInline final class PreferenceResolver<Value: Codable & Sendable>: @unchecked Sendable {
  /// The property's reference to its registry, which it keeps unless the registry keeps the object; it never has a value.
  ///
  /// Nil for a plain constant, which asks the current registry.
  private let home: PropertyStorage<any PreferenceStore>?

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
  let declaration: PreferenceDeclaration<Value>

  init(of declaration: PreferenceDeclaration<Value>, isConstant: Bool) {
    self.declaration = declaration
    home = isConstant ? nil : PropertyStorage(at: declaration.place)
  }

  /// The identity of the property that this resolves.
  var identity: PropertyIdentity {
    home?.identity ?? PropertyIdentity(address: Unmanaged.passUnretained(self).toOpaque(), place: declaration.place)
  }

  /// The decoded value, if the store was resolved before and a copy is of the key's version.
  @inlinable var decodedValue: Value? {
    guard let address = UnsafeRawPointer(bitPattern: cacheAddress.load(ordering: .acquiring)) else { return nil }
    return Unmanaged<PreferenceCache<Value>>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.decodedValue }
  }

  /// The preference in the store of the registry that was current when the wrapper was made.
  func cache(in container: AnyObject?) -> PreferenceCache<Value> {
    if let cache = cache.load() { return cache }
    guard let home else { return cache(in: container, asking: .current) }
    // The store that a declaration gives needs no registry.
    let new = cache(in: container, asking: declaration.store == nil ? home.registry : .current)
    guard new.isAvailable else { return new }
    let stored = cache.storeIfNil(new)
    cacheAddress.store(UInt(bitPattern: Unmanaged.passUnretained(stored).toOpaque()), ordering: .releasing)
    return stored
  }

  /// The preference as a plain constant has it: a static may be used in many registries.
  var constantCache: PreferenceCache<Value> {
    declaration.store == nil ? cache(in: nil, asking: .current) : cache(in: nil)
  }

  /// The preference in the store of that registry.
  ///
  /// Made outside the lock, since a registered initializer runs; of two that are made at once either will do.
  private func cache(in container: AnyObject?, asking registry: InitializerRegistry) -> PreferenceCache<Value> {
    // Not by a key path: each call would make that of a generic type, which takes microseconds.
    let known = resolved.withLock { $0 }
    if let known, known.registry === registry, known.retry.map({ .now < $0 }) ?? true { return known.cache }
    let new = makeCache(in: container, asking: registry)
    let retry = new.isAvailable ? nil : ContinuousClock.now + .milliseconds(100)
    resolved.withLock { $0 = Resolved(registry: registry, cache: new, retry: retry) }
    if let known, known.registry === registry, !known.cache.isAvailable { new.succeed(known.cache) }
    return new
  }

  /// The preference in its store, with the value that a former key has.
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
    return PreferenceCache(store: store, key: key, defaultValue: defaultValue, formerKeys: declaration.formerKeys)
  }

  /// The store that is given, or else the registered one, or else the standard file.
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

  /// The standard file, unless a store is registered that was meant to be found.
  private func standardStore(unlessIn registry: InitializerRegistry) -> any PreferenceStore {
    for (type, place) in registry.registeredTypes where type is any PreferenceStore.Type {
      trap(
        """
        A \(type) is registered as its own type, at \(place), so no @Preference finds it. Register it as \
        (any PreferenceStore).self: registry.register((any PreferenceStore).self) { … }, or \
        register(instance: store as any PreferenceStore).
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

/// The declaration of a preference.
struct PreferenceDeclaration<Value: Codable & Sendable>: Sendable {
  let place: SourcePlace
  let key: String?
  /// Nil if it is to be chosen before the first use.
  let defaultValue: DefaultValue<Value>?
  let store: (any PreferenceStore)?
  let formerKeys: [FormerPreferenceKey]

  /// The key that is given, or else the property's name.
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
  /// Evaluated at each read.
  case declared(PreferenceKey<Value>)

  var value: Value {
    switch self {
    case .constant(let value): value
    case .declared(let key): key.defaultValue
    }
  }

  /// The value, if it is always the same.
  var constant: Value? { if case .constant(let value) = self { value } else { nil } }
}

// MARK: A store that can't be made

/// The stand-in for a registered store that could not be made: every use of it throws the reason, and nothing is pretended to
/// be kept.
final class UnavailablePreferenceStore: CustomPreferenceStore {
  private let reason: PreferenceError
  /// Is told when the store could be made.
  let hub = PreferenceHub()

  init(because reason: PreferenceError) { self.reason = reason }

  var keys: [String] { [] }
  func json(forKey key: String) throws(PreferenceError) -> String? { throw reason }
  func write(_ changes: [PreferenceChange]) throws(PreferenceError) { throw reason }
  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result { throw reason }
  func reload() throws(PreferenceError) { throw reason }
  func synchronize() throws(PreferenceError) { throw reason }
}
