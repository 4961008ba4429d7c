internal import Support

/// The requests that initializers make while something is recorded, each once.
package final class RequestRecorder: Sendable {
  /// A request for a service, by the initializer of a registration or by other code.
  package struct Request: Sendable {
    /// The registration whose initializer asked; nil for other code.
    package let asker: RegistrationRecord?
    /// The registration that serves the request; nil if none does.
    package let provider: RegistrationRecord?
    package let service: Service
  }
  private struct ID: Hashable {
    let asker: ObjectIdentifier?
    let provider: ObjectIdentifier?
    let service: Service
  }

  private let noted = Lock((ids: Set<ID>(), requests: [Request]()))

  package init() {}

  /// The requests in the order in which they were first made.
  package var requests: [Request] { noted.withLock(\.requests) }

  /// Notes a request.
  ///
  /// Safe to call from any thread.
  package func note(from asker: RegistrationRecord?, to provider: RegistrationRecord?, service: Service) {
    let id = ID(
      asker: asker.map { ObjectIdentifier($0) }, provider: provider.map { ObjectIdentifier($0) }, service: service)
    noted.withLock { noted in
      if noted.ids.insert(id).inserted {
        noted.requests.append(Request(asker: asker, provider: provider, service: service))
      }
    }
  }
}
