internal import SpellRegistry
internal import Support

// How a registry is seen from this module. The other files ask it for nothing else than what is here, and what the
// records of registrations tell.

/// A registration, and the registry in which its initializer's dependencies are looked up.
struct Provider {
  let record: RegistrationRecord
  let registry: InitializerRegistry

  /// - Parameters:
  ///   - record: A registration.
  ///   - owner: The registry that has it.
  ///   - asked: The registry that is asked for a value. What `owner` keeps gets its dependencies from `owner`.
  init(_ record: RegistrationRecord, of owner: InitializerRegistry, asked: InitializerRegistry) {
    self.record = record
    registry = record.lifetime.isShared ? owner : asked
  }
}

extension Provider: Hashable {
  static func == (left: Self, right: Self) -> Bool { left.record === right.record && left.registry === right.registry }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(record))
    hasher.combine(ObjectIdentifier(registry))
  }
}

extension InitializerRegistry {
  /// The registration that serves a request; a key's own initializer counts.
  func provider(
    serving service: Service, named name: String? = nil, in container: (any AnyObject.Type)? = nil
  ) -> Provider? {
    provider(of: service, named: name, in: container).map { Provider($0.record, of: $0.owner, asked: self) }
  }

  /// The registrations of this registry and its parents in order, without those that are overridden.
  var reachableProviders: [Provider] { reachable.map { Provider($0.record, of: $0.owner, asked: self) } }

  /// The error for a service that nothing serves here.
  ///
  /// - Parameters:
  ///   - service: The service that is missing.
  ///   - asker: The registration whose initializer needs it.
  func missing(_ service: Service, askedBy asker: RegistrationRecord) -> InjectionError {
    missing(service, asked: InjectionStep(service)).asked(by: asker.step)
  }

  /// The error for a property that nothing here serves.
  func missing(_ service: Service, for property: String) -> InjectionError {
    missing(service, asked: InjectionStep(service, property: property))
  }

  /// Runs `body` with this registry as the current one, and returns the requests that initializers made meanwhile.
  func requests<Result>(during body: () throws -> Result) rethrows -> [Request] {
    let log = RequestLog()
    _ = try RequestRecorder.$current.withValue(log.recorder) { try run(body) }
    return log.requests
  }

  func requests<Result>(
    isolation: isolated (any Actor)? = #isolation, during body: () async throws -> Result
  ) async rethrows -> [Request] {
    let log = RequestLog()
    _ = try await RequestRecorder.$current.withValue(log.recorder) { try await run(body) }
    return log.requests
  }
}

/// A request for a service, by the initializer of a registration or by other code.
struct Request: Sendable {
  /// The registration whose initializer asked; nil for other code.
  let asker: RegistrationRecord?
  /// The registration that serves the request; nil if none does.
  let provider: RegistrationRecord?
  let service: Service
}

/// The requests that are made while something is recorded, each once, in the order in which they were first made.
private final class RequestLog: Sendable {
  private struct ID: Hashable {
    let asker: ObjectIdentifier?
    let provider: ObjectIdentifier?
    let service: Service
  }
  private let noted = Lock((ids: Set<ID>(), requests: [Request]()))

  var requests: [Request] { noted.withLock(\.requests) }

  var recorder: RequestRecorder {
    RequestRecorder { [self] asker, service, provider in
      let request = Request(asker: asker?.record, provider: provider?.record, service: service)
      let id = ID(
        asker: request.asker.map { ObjectIdentifier($0) }, provider: request.provider.map { ObjectIdentifier($0) },
        service: service)
      noted.withLock { noted in
        if noted.ids.insert(id).inserted { noted.requests.append(request) }
      }
      if let provider = request.provider { request.asker?.note(supplier: provider) }
    }
  }
}

extension RegistrationRecord {
  /// The registrations that were seen to serve the initializer, as far as they are still there.
  var suppliers: [RegistrationRecord] { observed.withLock(\.suppliers).compactMap { $0.object as? RegistrationRecord } }

  /// Remembers, for `validate()`, that another registration served the initializer.
  fileprivate func note(supplier: RegistrationRecord) {
    if suppliers.contains(where: { $0 === supplier }) { return }
    observed.withLock { $0.suppliers.append(WeakReference(supplier)) }
  }
}
