/// A store whose values can be overridden for one run of the program, by its arguments or its environment.
///
/// ```swift
/// let store = OverridingPreferenceStore(
///   .arguments(), .environment(prefix: "APP"), over: FilePreferenceStore.standard)
/// InitializerRegistry.current.register((any PreferenceStore).self, .instance(store))
/// ```
///
/// A read returns the value from the first set of overrides that contains the key, or else from the base store. Setting
/// a value changes the base store. If the key is overridden, the new value is read only in a later run without the
/// override. A transaction, such as a property's `update`, reads and changes only the values of the base store, so it
/// never writes an override. Likewise, ``keys`` are the keys of the base store. A property's description names its
/// override.
///
/// Put this store on top of all other stores, except for a ``PrefixedPreferenceStore``, which may be on top of this
/// store. A custom store on top of this store might write the overrides that its transactions read.
public final class OverridingPreferenceStore: ErrorReporter {
  /// The store that keeps the values.
  let base: any PreferenceStore
  /// The sets of overrides; if several sets contain a key, the first of them counts.
  let overrides: [PreferenceOverrides]

  /// Creates a store that reads a key from the first set of overrides that contains it, or else from the base store.
  public init(_ overrides: PreferenceOverrides..., over base: any PreferenceStore) {
    (self.overrides, self.base) = (overrides, base)
  }

  /// Returns the value from the first set of overrides that contains the key, or else from the base store.
  ///
  /// - Throws: `.typeMismatch` if the value can't be read as the type, or an error of the base store.
  public func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    guard let found = override(forKey: key) else { return try base.value(type, forKey: key) }
    return try found.value(type, forKey: key)
  }

  /// Returns the JSON text from the first set of overrides that contains the key, or else from the base store.
  public func json(forKey key: String) throws(PreferenceError) -> String? {
    guard let found = override(forKey: key) else { return try base.json(forKey: key) }
    return found.json
  }

  /// The keys of the base store.
  public var keys: [String] { base.keys }

  /// The description of the base store, and the sources of the overrides.
  public var description: String {
    "\(base), overridden by \(overrides.flatMap(\.sources).joined(separator: ", "))"
  }

  /// Reads and changes several values of the base store as a unit, without the overrides.
  public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    try base.transaction(body)
  }

  /// Returns a sequence of the changes to the base store from now on, even to overridden keys.
  public func changes() -> PreferenceChanges { base.changes() }

  /// Returns a sequence of the changes to one key of the base store from now on, even if the key is overridden.
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
  /// Returns the value that overrides the key for this run, or nil if the key isn't overridden.
  package func override(forKey key: String) -> PreferenceOverride? {
    switch self {
    case let store as OverridingPreferenceStore:
      for overrides in store.overrides { if let found = overrides[key] { return found } }
      return store.base.override(forKey: key)
    case let store as PrefixedPreferenceStore: return store.base.override(forKey: store.prefix + key)
    default: return nil
    }
  }

  /// This store without its overrides, which is the store that an assignment to a property changes.
  package var withoutOverrides: any PreferenceStore {
    switch self {
    case let store as OverridingPreferenceStore: return store.base.withoutOverrides
    case let store as PrefixedPreferenceStore:
      let base = store.base.withoutOverrides
      return base === store.base ? self : PrefixedPreferenceStore(store.prefix, in: base)
    default: return self
    }
  }

  /// Returns the hub of the store that keeps the key's value, and the key in that store; nil if the store has no hub.
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
