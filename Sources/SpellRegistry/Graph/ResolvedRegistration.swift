/// A registration, and the registry that its initializer's dependencies come from.
struct ResolvedRegistration: Identifiable {
  struct ID: Hashable {
    let storage: ObjectIdentifier
    let registry: ObjectIdentifier
  }

  let storage: RegistrationStorage
  let registry: InitializerRegistry

  /// - Parameters:
  ///   - storage: A registration of `owner`.
  ///   - owner: The registry that it is in.
  ///   - asked: The registry that is asked for the value; what `owner` keeps, it makes from its own.
  init(_ storage: RegistrationStorage, of owner: InitializerRegistry, asked: InitializerRegistry) {
    self.storage = storage
    registry = storage.lifetime.isShared ? owner : asked
  }

  var id: ID { ID(storage: ObjectIdentifier(storage), registry: ObjectIdentifier(registry)) }
  var typeName: String { storage.service.name }
  var step: InjectionStep { InjectionStep(storage.service, registration: storage.place.description) }
  var dependencies: [ResolvedRegistration] { storage.dependencies.compactMap { registry.provider(of: $0) } }
}

extension InitializerRegistry {
  /// The registration that serves a dependency, which is asked for by type alone.
  func provider(of type: any Any.Type) -> ResolvedRegistration? { provider(of: Service(type)) }

  func provider(of service: Service) -> ResolvedRegistration? {
    match(for: service, named: .none, inContainer: false, on: ThreadState.current) {
      InjectionPoint(service, in: nil, .unnamed)
    }.map { ResolvedRegistration($0.registration, of: $0.owner, asked: self) }
  }

  /// The registrations of this registry and its parents, without those that are overridden, in order.
  var reachableRegistrations: [ResolvedRegistration] {
    var keys: Set<RegistrationKey> = []
    return lineage.flatMap { owner in owner.registrations.map { ResolvedRegistration($0, of: owner, asked: self) } }
      .filter { keys.insert($0.storage.key).inserted }
      .sorted { $0.storage.age < $1.storage.age }
  }

  /// The types of all registrations, with where they are, for other modules' diagnoses.
  package var registeredTypes: [(type: any Any.Type, place: SourcePlace)] {
    reachableRegistrations.map { ($0.storage.type, $0.storage.place) }
  }
}
