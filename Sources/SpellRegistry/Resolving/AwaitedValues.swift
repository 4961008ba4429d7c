internal import Support

/// The values of async initializers that `resolveAsync` has awaited for a synchronous initializer that needs them.
///
/// The synchronous initializer asks for them while the values are the task's current ones.
final class AwaitedValues: Sendable {
  typealias Value = (provider: Provider, cell: ValueCell)

  @TaskLocal static var current: AwaitedValues?

  private let left: Lock<[Value]>

  init(_ values: [Value]) { left = Lock(values) }

  /// Returns the value of a provider; nil if none is left.
  ///
  /// A value that no other request may get is removed.
  func take(of provider: Provider) -> ValueCell? {
    left.withLock { left in
      guard let index = left.firstIndex(where: { $0.provider == provider }) else { return nil }
      return provider.record.lifetime.isUnique ? left.remove(at: index).cell : left[index].cell
    }
  }

  /// Runs `body` with values as the task's current ones.
  static func with<Result>(_ values: [Value], _ body: () throws -> Result) rethrows -> Result {
    if values.isEmpty { return try body() }
    return try $current.withValue(AwaitedValues(values), operation: body)
  }
}

extension InitializerRegistry {
  /// Returns what a registration's initializer is known to need before it runs, for a request to this registry.
  ///
  /// An autowired initializer needs its parameters. A decoration needs what it wraps, under the name of its own request.
  ///
  /// - Parameter name: The name in the request.
  /// - Returns: The needs, each with the name of its request and the registration that serves it; nil if none does.
  package func needs(
    of record: RegistrationRecord, named name: String? = nil
  ) -> [(service: Service, name: String?, match: Match?)] {
    let wrapped = record.wraps ? [(record.service, name, match(wrappedBy: record, named: name))] : []
    return record.dependencies.map { ($0, nil, match(Request($0, named: nil))) } + wrapped
  }
}

extension AsyncRequest {
  /// Awaits the async values that the synchronous initializer of the request needs, directly or through others.
  ///
  /// Only the parameters of autowired initializers, and what decorations wrap, are known before an initializer runs.
  func awaitedNeeds() async throws -> [AwaitedValues.Value] {
    guard let match, match.record.declaresNeeds else { return [] }
    var search = NeedSearch()
    try await search.awaitNeeds(of: match, for: self)
    return search.values
  }

  /// Returns a request for a need of an initializer that runs in `registry`.
  fileprivate func request(for need: Match, named name: String?, to registry: InitializerRegistry) -> AsyncRequest {
    AsyncRequest(need.record.service, named: name, to: registry, by: asker, in: resolution)
  }
}

extension RegistrationRecord {
  fileprivate var declaresNeeds: Bool { wraps || !dependencies.isEmpty }
}

/// A depth-first search for async values among the needs of a registration.
private struct NeedSearch {
  var values: [AwaitedValues.Value] = []
  /// The registrations that the search doesn't follow: those on the way to the current one, whose cycle the initializers
  /// report, and those that need no further async value: they need none at all, or their one value needs none twice.
  private var closed: Set<Provider> = []

  mutating func awaitNeeds(of match: Match, for request: AsyncRequest) async throws {
    let provider = match.provider(for: request.registry)
    if let initializer = match.record.initializer.async {
      if let cell = try await request.madeCell(of: match, by: initializer) { values.append((provider, cell)) }
      return
    }
    guard close(provider, of: match, for: request) else { return }
    let count = values.count
    do {
      for (need, request) in needs(of: provider, for: request) { try await awaitNeeds(of: need, for: request) }
    } catch let error as InjectionError {
      throw error.asked(by: Request(match.record.service, named: request.name).step(match.record))
    }
    if values.count > count && !match.record.makesKept { closed.remove(provider) }
  }

  /// Returns whether the search has to follow a registration, which it then doesn't follow again.
  @inline(never) private mutating func close(_ provider: Provider, of match: Match, for request: AsyncRequest) -> Bool {
    let isMade = match.record.kept?.isReady(in: match.owner) ?? request.resolution.hasValue(of: provider)
    return match.record.declaresNeeds && !isMade && closed.insert(provider).inserted
  }

  @inline(never) private func needs(
    of provider: Provider, for request: AsyncRequest
  ) -> [(need: Match, request: AsyncRequest)] {
    let needs = provider.registry.needs(of: provider.record, named: request.name)
    return needs.compactMap { _, name, need in
      need.map { ($0, request.request(for: $0, named: name, to: provider.registry)) }
    }
  }
}
