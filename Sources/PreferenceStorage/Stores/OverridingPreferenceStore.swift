/// A store whose values can be overridden for one run of the program, by its arguments or its environment.
///
/// ```swift
/// let store = OverridingPreferenceStore(
///   .arguments(), .environment(prefix: "APP"), over: FilePreferenceStore.standard)
/// InitializerRegistry.current.register((any PreferenceStore).self, .instance(store))
/// ```
///
/// A read returns the value of the first overrides that have the key, or else the value of the base store. A value that
/// is set goes to the base store; while the key is overridden, it isn't read before the next run without the override.
/// A transaction, such as a property's `update`, reads and changes the base store's values, and ``keys`` are those of
/// the base store, so an override is never written. A property's description says that its value is overridden.
///
/// Put the overrides over the other stores: a store of your own that is on top of this one may write what it reads.
public final class OverridingPreferenceStore: ErrorReporter {
  /// The store that keeps the values.
  let base: any PreferenceStore
  /// The overrides, of which the first that has a key counts.
  let overrides: [PreferenceOverrides]

  /// Creates a store that reads overrides, of which the first that has a key counts, or else the base store.
  public init(_ overrides: PreferenceOverrides..., over base: any PreferenceStore) {
    (self.overrides, self.base) = (overrides, base)
  }

  /// Returns the value of the first overrides that have the key, or else of the base store.
  ///
  /// - Throws: `.typeMismatch` if that value can't be read as the type; an error of the base store.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    guard let found = override(forKey: key) else { return try base.value(type, forKey: key) }
    return try found.value(type, forKey: key)
  }

  /// Returns the JSON text of the value of the first overrides that have the key, or else of the base store.
  public func json(forKey key: String) throws(PreferenceError) -> String? {
    guard let found = override(forKey: key) else { return try base.json(forKey: key) }
    return found.json
  }

  /// The keys of the base store.
  public var keys: [String] { base.keys }

  /// The base store, and the places of the overrides.
  public var description: String {
    "\(base), overridden by \(overrides.flatMap(\.sources).joined(separator: ", "))"
  }

  /// Reads and changes several values of the base store as a unit, without the overrides.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    try base.transaction(body)
  }

  /// Returns the changes of the base store from now on, even of overridden keys.
  public func changes() -> PreferenceChanges { base.changes() }

  /// Returns the changes to one key of the base store from now on, even if it is overridden.
  public func changes(of key: String) -> PreferenceChanges { base.changes(of: key) }

  /// Returns the signal of the key in the base store.
  public func signal(forKey key: String) -> PreferenceSignal? { base.signal(forKey: key) }

  /// The errors of the base store.
  public var errors: AsyncStream<PreferenceError> { base.errors }

  package func reportError(_ error: PreferenceError) { base.report(error) }

  /// Reloads the base store.
  public func reload() throws(PreferenceError) { try base.reload() }

  /// Synchronizes the base store.
  public func synchronize() throws(PreferenceError) { try base.synchronize() }

  /// Compacts the base store.
  public func compact() throws(PreferenceError) { try base.compact() }
}

// MARK: Stores on stores

extension PreferenceStore {
  /// Returns the value that overrides the key for this run; nil if there is none.
  package func override(forKey key: String) -> PreferenceOverride? {
    switch self {
    case let store as OverridingPreferenceStore:
      for overrides in store.overrides { if let found = overrides[key] { return found } }
      return store.base.override(forKey: key)
    case let store as PrefixedPreferenceStore: return store.base.override(forKey: store.prefix + key)
    default: return nil
    }
  }

  /// The store with the same values except overrides, which is what an assignment changes.
  package var withoutOverrides: any PreferenceStore {
    switch self {
    case let store as OverridingPreferenceStore: return store.base.withoutOverrides
    case let store as PrefixedPreferenceStore:
      let base = store.base.withoutOverrides
      return base === store.base ? self : PrefixedPreferenceStore(store.prefix, in: base)
    default: return self
    }
  }

  /// Returns the hub of the store that keeps the key's value, and the key there; nil if that store has no hub.
  package func home(ofKey key: String) -> (hub: PreferenceHub, key: String)? {
    switch self {
    case let store as OverridingPreferenceStore: return store.base.home(ofKey: key)
    case let store as PrefixedPreferenceStore: return store.base.home(ofKey: store.prefix + key)
    case let store as any CustomPreferenceStore: return (store.hub, key)
    default:
      #if !os(Windows)
        if let store = self as? FilePreferenceStore { return (store.file.hub, key) }
      #endif
      return nil
    }
  }
}
