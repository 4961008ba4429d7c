internal import PreferenceStorage
internal import SpellRegistry

/// What a preference's declaration says.
struct PreferenceDeclaration<Value: Codable & Sendable>: Sendable {
  let place: SourcePlace
  let key: String?
  let defaultValue: DefaultValue<Value>
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

  /// The preference in its store, with the value that a former key has.
  func cache(
    in container: AnyObject?, asking registry: InitializerRegistry, for identity: PropertyIdentity
  ) -> PreferenceCache<Value> {
    if case .missing = defaultValue { _ = defaultValue.value }
    let key = key(of: identity, in: container)
    let store = store(in: container, asking: registry, for: key)
    let cache = PreferenceCache(store: store, key: key, defaultValue: defaultValue)
    cache.take(from: formerKeys)
    return cache
  }

  /// The store that is given, or else the registered one, or else the standard file.
  private func store(
    in container: AnyObject?, asking registry: InitializerRegistry, for key: String
  ) -> any PreferenceStore {
    if let store { return store }
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
        """, at: self.place)
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

/// What a preference reads as while it isn't set.
enum DefaultValue<Value: Codable & Sendable>: Sendable {
  case constant(Value)
  /// Evaluated at each read.
  case declared(PreferenceKey<Value>)
  /// To be chosen before the first use.
  case missing(SourcePlace)

  var value: Value {
    switch self {
    case .constant(let value): value
    case .declared(let key): key.defaultValue
    case .missing(let place):
      trap(
        """
        The @Preference of type \(Value.self) declared here has no default. Give it one: '@Preference var name = value', or \
        assign one in the initializer: '_name = Preference(wrappedValue: value)'.
        """, at: place)
    }
  }

  var isConstant: Bool {
    switch self {
    case .constant: true
    case .declared, .missing: false
    }
  }
}
