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
  /// Awaits the async values that the synchronous initializer of a request needs, directly or through others.
  ///
  /// Only the parameters of autowired initializers, and what decorations wrap, are known before an initializer runs.
  func awaitedNeeds(
    of service: Service, named name: String?, asker: AsyncRun?, in resolution: Resolution
  ) async throws -> [AwaitedValues.Value] {
    guard let match = match(Request(service, named: name)), match.record.declaresNeeds else { return [] }
    var search = NeedSearch(asker: asker, resolution: resolution)
    try await search.awaitNeeds(of: match, named: name, for: self)
    return search.values
  }

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

extension RegistrationRecord {
  fileprivate var declaresNeeds: Bool { wraps || !dependencies.isEmpty }
}

/// A depth-first search for async values among the needs of a registration.
private struct NeedSearch {
  let asker: AsyncRun?
  let resolution: Resolution
  var values: [AwaitedValues.Value] = []
  /// The registrations on the way to the current one.
  ///
  /// The search doesn't follow a cycle, which the initializers report.
  private var way: Set<Provider> = []
  /// The registrations that need no further async value: they need none at all, or their one value needs none twice.
  private var done: Set<Provider> = []

  init(asker: AsyncRun?, resolution: Resolution) { (self.asker, self.resolution) = (asker, resolution) }

  mutating func awaitNeeds(of match: Match, named name: String? = nil, for asked: InitializerRegistry) async throws {
    let provider = match.provider(for: asked)
    let (record, registry) = (provider.record, provider.registry)
    let isMade = record.kept?.isReady(in: match.owner) ?? resolution.hasValue(of: provider)
    guard record.declaresNeeds, !isMade, !done.contains(provider), way.insert(provider).inserted else { return }
    defer { way.remove(provider) }
    let count = values.count
    do {
      for case (_, let name, let need?) in registry.needs(of: record, named: name) {
        guard let initializer = need.record.initializer.async else {
          try await awaitNeeds(of: need, named: name, for: registry)
          continue
        }
        let cell = try await registry.madeCell(of: need, by: initializer, named: name, asker: asker, in: resolution)
        if let cell { values.append((need.provider(for: registry), cell)) }
      }
    } catch let error as InjectionError {
      throw InjectionError.wrapping(error, thrownBy: Request(record.service, named: name).step(record))
    }
    if values.count == count || record.makesKept { done.insert(provider) }
  }
}
