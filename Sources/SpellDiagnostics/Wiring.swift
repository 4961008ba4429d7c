internal import SpellRegistry

/// The registrations that a registry reaches, and what the initializer of each needs, as far as autowiring tells.
struct Wiring {
  /// A service that an initializer needs.
  struct Need {
    let service: Service
    /// The number of the registration that serves it; nil if none does.
    let provider: Int?
  }

  /// The registry that is asked.
  let registry: InitializerRegistry
  /// The registrations that are asked for first, in order, then those that only they need.
  private(set) var providers: [Provider]
  /// How many of them are asked for first.
  let rootCount: Int
  /// The needs of each registration.
  private(set) var needs: [[Need]] = []

  /// - Parameters:
  ///   - registry: The registry that is asked.
  ///   - keys: The declared keys that are asked for, besides each registration of the registry and its parents.
  init(of registry: InitializerRegistry, keys: [InjectionKeys] = []) {
    self.registry = registry
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
        asker.record.dependencies.map { service in
          let provider = asker.registry.provider(serving: service).map { number(of: $0, in: &providers) }
          return Need(service: service, provider: provider)
        })
    }
  }
}
