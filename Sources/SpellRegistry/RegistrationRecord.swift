// What other modules see of registrations.

package typealias RegistrationRecord = RegistrationStorage

extension RegistrationStorage {
  package var container: ClassConstraint? { key.container }
  package var name: PropertyName? { key.name }
  package var servesSupertypes: Bool { key.servesSupertypes }
  /// The type of the arguments that the initializer takes.
  package var arguments: ObjectIdentifier? { key.arguments }
  package var hasArguments: Bool { arguments != nil }
  package var isUnlimited: Bool { key.isUnlimited }
  package var expiry: Duration? { kept.expiry }
  package var isAsync: Bool { if case .async = making.kind { true } else { false } }

  /// Whether a registration has the same key.
  package func sameProperties(as other: RegistrationRecord) -> Bool { key == other.key }
}

extension InitializerRegistry {
  /// The registration that serves a request, and the registry that has it; a key's own initializer counts.
  package func provider(
    of service: Service, named name: String? = nil, in containerType: (any AnyObject.Type)? = nil
  ) -> (record: RegistrationRecord, owner: InitializerRegistry)? {
    provider(of: service, containerType: containerType, named: name).map { ($0.registration, $0.owner) }
  }

  /// The error for a service that nothing serves here.
  package func missing(_ service: Service, asked step: InjectionStep) -> InjectionError {
    missing(service.type, step: step)
  }

  /// Runs `body`, and notes the requests that initializers make meanwhile.
  package static func recording<Result>(
    _ recorder: RequestRecorder, in registry: InitializerRegistry, _ body: () throws -> Result
  ) rethrows -> Result {
    let before = registry.observedRequests
    defer { registry.note(in: recorder, besides: before) }
    return try body()
  }

  package static func recording<Result>(
    _ recorder: RequestRecorder, in registry: InitializerRegistry, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let before = registry.observedRequests
    defer { registry.note(in: recorder, besides: before) }
    return try await body()
  }

  private var observedRequests: [ObjectIdentifier: Set<Service>] {
    Dictionary(
      uniqueKeysWithValues: lineage.flatMap(\.registrations).map { (ObjectIdentifier($0), Set($0.observed.all)) })
  }

  private func note(in recorder: RequestRecorder, besides before: [ObjectIdentifier: Set<Service>]) {
    for owner in lineage {
      for record in owner.registrations {
        let asked = record.lifetime.isShared ? owner : self
        for service in record.observed.all where before[ObjectIdentifier(record)]?.contains(service) != true {
          recorder.note(from: record, to: asked.provider(of: service)?.record, service: service)
        }
      }
    }
  }
}
