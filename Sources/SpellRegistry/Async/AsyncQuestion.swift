internal import Locking
internal import Synchronization

/// One async value being asked for: by whom, of which registry, and what its initializer awaits in turn.
final class AsyncQuestion: Sendable {
  let entry: any AnyRegistrationEntry
  let name: String?
  let registry: InitializerRegistry
  /// Whose initializer asks.
  private let asker: AsyncQuestion?
  /// Whether the initializer has ended; tasks that it left running ask for themselves.
  private let isAnswered = Atomic(false)

  @TaskLocal private static var innermost: AsyncQuestion?

  init(_ entry: any AnyRegistrationEntry, named name: String?, of registry: InitializerRegistry) {
    self.entry = entry
    self.name = name
    self.registry = registry
    asker = Self.innermost.flatMap { $0.isAnswered.load(ordering: .relaxed) ? nil : $0 }
  }

  var point: InjectionPoint { InjectionPoint(entry.type, in: nil, name.map { .named($0) } ?? .unnamed) }
  var resolver: Resolver { Resolver(point: point, registry: registry) }

  /// Runs an initializer as the one that asks whatever is asked for in it.
  func isAsking<Result>(_ body: () async throws -> Result) async throws -> Result {
    defer { isAnswered.store(true, ordering: .relaxed) }
    return try await Self.$innermost.withValue(self, operation: body)
  }

  /// Awaits the answer, unless that would be for ever.
  ///
  /// - Throws: `.cycle` where what is asked for awaits, directly or through others, whoever asks.
  func awaiting<Result>(_ body: () async throws -> Result) async throws -> Result {
    guard let asker else { return try await body() }
    let circle = Self.waits.withLock { waits -> [any Any.Type]? in
      if let way = waits.way(from: entry, to: asker.entry) { return way }
      waits.add(from: asker.entry, to: entry)
      return nil
    }
    if let circle {
      // The first step, what is asked for, is added by who catches this.
      let types = isOpenFurtherOut ? [] : circle.dropFirst()
      throw InjectionError(.cycle, through: types.map { InjectionStep($0) })
    }
    defer { Self.waits.withLock { $0.remove(from: asker.entry, to: entry) } }
    return try await body()
  }

  /// Whether this task itself is making what is asked for, so that its steps will be in the path anyway.
  private var isOpenFurtherOut: Bool {
    sequence(first: self, next: \.asker).dropFirst().contains { $0.entry === entry }
  }

  /// Which initializer awaits which, in the whole process.
  private static let waits = Lock(AsyncWaits())
}

/// A graph of who awaits whom.
private struct AsyncWaits: Sendable {
  private struct Wait: Sendable {
    let awaited: any AnyRegistrationEntry
    var count = 1
  }
  private var edges: [ObjectIdentifier: [ObjectIdentifier: Wait]] = [:]

  mutating func add(from asker: any AnyRegistrationEntry, to awaited: any AnyRegistrationEntry) {
    edges[ObjectIdentifier(asker), default: [:]][
      ObjectIdentifier(awaited), default: Wait(awaited: awaited, count: 0)
    ]
    .count += 1
  }

  mutating func remove(from asker: any AnyRegistrationEntry, to awaited: any AnyRegistrationEntry) {
    let (from, to) = (ObjectIdentifier(asker), ObjectIdentifier(awaited))
    edges[from]?[to]?.count -= 1
    if edges[from]?[to]?.count == 0 { edges[from]?[to] = nil }
    if edges[from]?.isEmpty == true { edges[from] = nil }
  }

  /// The types on the way from one to another, both included; nil where there is no way.
  func way(from start: any AnyRegistrationEntry, to goal: any AnyRegistrationEntry) -> [any Any.Type]? {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(start)]
    var ways: [[any AnyRegistrationEntry]] = [[start]]
    while let way = ways.popLast(), let last = way.last {
      if last === goal { return way.map(\.type) }
      for wait in edges[ObjectIdentifier(last), default: [:]].values
      where seen.insert(ObjectIdentifier(wait.awaited)).inserted {
        ways.append(way + [wait.awaited])
      }
    }
    return nil
  }
}
