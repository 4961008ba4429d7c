internal import SpellRegistry

/// The registrations of a registry and its parents, and the services that their autowired initializers need.
struct Wiring {
  /// A service that an initializer needs.
  struct Need {
    let service: Service
    /// The index in `providers` of the registration that serves the need; nil if none does.
    let provider: Int?
  }

  /// The registry to examine.
  let registry: InitializerRegistry
  /// The roots, followed by the other registrations that the roots need, directly or indirectly.
  ///
  /// The roots are the registrations of the registry and its parents, without overridden ones, and the registrations
  /// that serve the given declared keys.
  private(set) var providers: [Provider]
  /// The number of roots, which are at the beginning of `providers`.
  let rootCount: Int
  /// The needs that each registration's initializer declares, in the order of `providers`.
  ///
  /// An autowired initializer declares its parameters; a decoration, what it wraps.
  private(set) var needs: [[Need]] = []
  /// The needs that were recorded for each registration, in the order of `providers`.
  ///
  /// A need is left out if the registration that served it isn't in the registry or a parent any longer. All of these
  /// lists are empty unless recorded requests are included.
  private(set) var recordedNeeds: [[Need]] = []

  /// - Parameters:
  ///   - registry: The registry to examine.
  ///   - keys: Declared keys to examine besides the registrations of the registry and its parents.
  ///   - recorded: Whether to include the requests that ``InitializerRegistry/graph(_:)-(()->Result)`` recorded.
  init(of registry: InitializerRegistry, keys: [InjectionKeys] = [], recorded: Bool = false) {
    self.registry = registry
    var owners: [ObjectIdentifier: InitializerRegistry] = [:]
    for owner in recorded ? Array(registry.lineage) : [] {
      for record in owner.registrations + owner.hiddenRegistrations { owners[ObjectIdentifier(record)] = owner }
    }
    providers = registry.reachableProviders
    var numbers = Dictionary(uniqueKeysWithValues: zip(providers, providers.indices))
    func number(of provider: Provider, in providers: inout [Provider]) -> Int {
      if let known = numbers[provider] { return known }
      numbers[provider] = providers.count
      providers.append(provider)
      return providers.count - 1
    }
    for key in keys {
      if let provider = registry.provider(serving: Service(type(of: key).valueType, key: key)) {
        _ = number(of: provider, in: &providers)
      }
    }
    rootCount = providers.count
    while needs.count < providers.count {
      let asker = providers[needs.count]
      needs.append(
        asker.registry.needs(of: asker.record).map { service, _, match in
          let provider = match.map { number(of: $0.provider(for: asker.registry), in: &providers) }
          return Need(service: service, provider: provider)
        })
      recordedNeeds.append(
        (recorded ? asker.record.suppliers : []).compactMap { record in
          guard let owner = owners[ObjectIdentifier(record)] else { return nil }
          let provider = Match(record: record, owner: owner).provider(for: asker.registry)
          return Need(service: record.service, provider: number(of: provider, in: &providers))
        })
    }
  }
}
