internal import SpellRegistry
internal import Support

// This file adapts the registry to the checks and graphs of this module.

extension InitializerRegistry {
  /// Returns the provider whose registration serves a request; nil if there is none.
  ///
  /// For a declared key, this may be the default registration, which runs the key's own initializer.
  func provider(
    serving service: Service, named name: String? = nil, in container: (any AnyObject.Type)? = nil
  ) -> Provider? {
    provider(of: service, named: name, in: container).map { $0.provider(for: self) }
  }

  /// The registrations of this registry and its parents, without overridden ones, in the order of registration.
  ///
  /// Those that are hidden follow, because the registrations that hide them may ask for their values.
  var reachableProviders: [Provider] {
    let hidden = lineage.flatMap { owner in
      owner.hiddenRegistrations.map { Match(record: $0, owner: owner).provider(for: self) }
    }
    return reachable.map { $0.provider(for: self) } + hidden
  }

  /// Returns the error for a service that isn't registered in this registry.
  ///
  /// - Parameters:
  ///   - service: The service that is missing.
  ///   - asker: The registration whose initializer needs the service.
  func missing(_ service: Service, askedBy asker: RegistrationRecord) -> InjectionError {
    missing(service, asked: InjectionStep(service), by: asker).asked(by: asker.step)
  }

  /// Returns the error for a property that needs `service`, which isn't registered in this registry.
  func missing(_ service: Service, for property: WrappedProperty) -> InjectionError {
    missing(service, asked: InjectionStep(service, ofProperty: property.name, in: property.containerType))
  }

  /// Runs `body` with this registry as the current registry, and returns the requests that were made during the run.
  func requests<Result>(during body: () throws -> Result) rethrows -> [RecordedRequest] {
    let log = RequestLog()
    _ = try RequestRecorder.$current.withValue(log.recorder) { try run(body) }
    return log.requests
  }

  func requests<Result>(
    isolation: isolated (any Actor)? = #isolation, during body: () async throws -> Result
  ) async rethrows -> [RecordedRequest] {
    let log = RequestLog()
    _ = try await RequestRecorder.$current.withValue(log.recorder) { try await run(body) }
    return log.requests
  }
}

/// A request for a service, made by a registration's initializer or by other code.
struct RecordedRequest: Sendable {
  /// The registration whose initializer made the request; nil for other code.
  let asker: RegistrationRecord?
  /// The registration that serves the request; nil if none does.
  let provider: RegistrationRecord?
  let service: Service
}

/// A log of the requests that are made during a recording.
///
/// Requests with the same asker, provider and service are listed once, in the order in which they were first made.
private final class RequestLog: Sendable {
  private struct ID: Hashable {
    let asker: ObjectIdentifier?
    let provider: ObjectIdentifier?
    let service: Service
  }
  private let noted = Lock((ids: Set<ID>(), requests: [RecordedRequest]()))

  var requests: [RecordedRequest] { noted.withLock(\.requests) }

  var recorder: RequestRecorder {
    RequestRecorder { [self] asker, service, provider in
      let request = RecordedRequest(asker: asker?.record, provider: provider?.record, service: service)
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
