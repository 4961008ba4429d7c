import SpellRegistry
import Support
import TestSupport
import Testing

private final class Log: Sendable {
  private let lines = Lock<[String]>([])
  var all: [String] { lines.withLock(\.self) }
  func note(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A value that reads a property for the first time in its deinitializer.
private final class Connection: Sendable {
  private let log = Spell<Log>()
  private let name: String
  init(_ name: String) { self.name = name }
  deinit { log.wrappedValue.note("end of \(name)") }
}

private final class First: Sendable {
  let connection = Connection("first")
}
private final class Second: Sendable {
  let connection = Connection("second")
  init(_: First) {}
}
private final class Third: Sendable {
  let connection = Connection("third")
  init(_: Second) {}
}

/// A value whose deinitializer asks for a value that nothing has asked for before.
private final class Starter: Sendable {
  private let connection = Spell<Connection>()
  deinit { _ = connection.wrappedValue }
}

/// A value whose deinitializer asks for another value of its own type.
private final class Phoenix: Sendable {
  private let next = Spell<Phoenix?>()
  deinit { _ = next.wrappedValue }
}

@Suite("What a registry keeps is dropped", .timeLimit(.hang)) struct RemovalTests {
  private let log = Log()
  private let cache = ScopeCache("cache")

  /// Requests a value, and releases it before the registry may end.
  private func request<Value>(_: Value.Type, from registry: InitializerRegistry) throws {
    try withExtendedLifetime(registry) { _ = try registry.resolve(Value.self) }
  }

  enum Way: CaseIterable { case end, removeAll, reset }

  /// Registers three values that need each other in order, in an order that isn't theirs.
  private func fill(_ registry: InitializerRegistry) {
    registry.register(Third.self, scope: .cached(in: cache), .autowire(Third.init))
    registry.register(First.self, scope: .cached(in: cache)) { First() }
    registry.register(Second.self, scope: .cached(in: cache), .autowire(Second.init))
  }

  @Test("in the reverse order of creation, while it answers deinitializers", arguments: Way.allCases)
  func order(_ way: Way) throws {
    let parent = InitializerRegistry()
    parent.register(.instance(log))
    func make() throws {
      let registry = InitializerRegistry(parent: parent)
      fill(registry)
      try request(Third.self, from: registry)
      switch way {
      case .end: break
      case .removeAll: registry.removeAll()
      case .reset: cache.reset()
      }
    }
    try make()
    #expect(log.all == ["end of third", "end of second", "end of first"])
  }

  enum Withdrawal: CaseIterable { case unregister, replace }

  @Test("while it answers what a withdrawn value asks for", arguments: Withdrawal.allCases)
  func withdrawn(_ way: Withdrawal) throws {
    let registry = InitializerRegistry()
    registry.register { [log] in log }
    let registration = registry.register(scope: .singleton) { Connection("it") }
    try request(Connection.self, from: registry)
    switch way {
    case .unregister: registration.unregister()
    case .replace: registry.register(scope: .singleton) { Connection("other") }
    }
    #expect(log.all == ["end of it"])
  }

  @Test("with a registered instance that was made in a run of its registry")
  func instance() {
    func make() {
      let registry = InitializerRegistry()
      registry.register { [log] in log }
      registry.run { _ = registry.register(.instance(Connection("instance"))) }
    }
    make()
    #expect(log.all == ["end of instance"])
  }

  @Test("with the values that deinitializers ask for, while it still answers those", arguments: [Way.end, .removeAll])
  func madeMeanwhile(_ way: Way) throws {
    func make() throws {
      let registry = InitializerRegistry()
      registry.register { [log] in log }
      registry.register(scope: .singleton) { Connection("late") }
      registry.register(scope: .singleton) { Starter() }
      try request(Starter.self, from: registry)
      if way == .removeAll { registry.removeAll() }
      withExtendedLifetime(registry) {}
    }
    try make()
    #expect(log.all == ["end of late"])
  }

  @Test("with calls of its hooks for what deinitializers get")
  func hooksOfRegistry() throws {
    let injected = Log()
    func make() throws {
      let registry = InitializerRegistry()
      registry.onInjection { value, _ in injected.note("\(type(of: value))") }
      registry.register { [log] in log }
      registry.register(scope: .singleton) { Connection("it") }
      try request(Connection.self, from: registry)
    }
    try make()
    #expect(injected.all == ["Connection", "Log"])
  }

  @Test("even if each deinitializer asks for a new value")
  func endless() throws {
    func make() throws {
      let registry = InitializerRegistry()
      registry.register(scope: .singleton) { Phoenix() }
      try request(Phoenix.self, from: registry)
    }
    try make()
  }

  @Test("and the registry with it, even if other code holds a value that it kept")
  func registryEnds() throws {
    weak var seen: InitializerRegistry?
    let ends = Counter()
    func make() throws -> Farewell {
      let registry = InitializerRegistry()
      seen = registry
      registry.register(scope: .singleton) { Farewell { ends.increment() } }
      return try registry.resolve()
    }
    let value = try make()
    #expect(seen == nil)
    #expect(ends.value == 0)
    withExtendedLifetime(value) {}
  }

  // MARK: Removal hooks

  @Test(
    "with a call of the removal hook for each kept value, in the reverse order of creation", arguments: Way.allCases)
  func hooks(_ way: Way) throws {
    func make() throws {
      let registry = InitializerRegistry()
      registry.register(String.self, scope: .cached(in: cache)) { "\(try $0.resolve(Int.self)) and more" }
        .onRemoval { [log] in log.note("removed \($0)") }
      registry.register(Int.self, scope: .cached(in: cache)) { 1 }.onRemoval { [log] in log.note("removed \($0)") }
      registry.register(.factory(scope: .cached(in: cache)) { (_, number: Int) in Ticket(number) })
        .onRemoval { [log] in log.note("removed ticket \($0.number)") }
      _ = try registry.resolve(String.self)
      for number in 1...3 { _ = try registry.resolve(Ticket.self, arguments: number) }
      try drop(registry, way)
    }
    func drop(_ registry: InitializerRegistry, _ way: Way) throws {
      switch way {
      case .end: break
      case .removeAll: registry.removeAll()
      case .reset: cache.reset()
      }
    }
    try make()
    let tickets = ["removed ticket 3", "removed ticket 2", "removed ticket 1"]
    #expect(log.all == tickets + ["removed 1 and more", "removed 1"])
  }

  @Test("once, and without a call for values that it doesn't keep alive")
  func hookOnce() throws {
    let registry = InitializerRegistry()
    let note: @Sendable (Ticket) -> Void = { [log] in log.note("removed \($0.number)") }
    registry.register(named: "unique") { Ticket(1) }.onRemoval(note)
    registry.register(named: "weak", scope: .weak) { Ticket(2) }.onRemoval(note)
    registry.register(named: "instance", .instance(Ticket(3))).onRemoval(note)
    registry.register(named: "unused", scope: .singleton) { Ticket(4) }.onRemoval(note)
    let kept = registry.register(named: "kept", scope: .singleton) { Ticket(5) }.onRemoval(note)
    for name in ["unique", "weak", "instance", "kept"] { _ = try registry.resolve(Ticket.self, named: name) }
    kept.unregister()
    kept.unregister()
    registry.removeAll()
    #expect(log.all == ["removed 5"])
  }

  @Test("after the hook, which may ask the registry, also while that ends")
  func hookAsks() throws {
    func make() throws {
      let registry = InitializerRegistry()
      registry.register { [log] in log }
      registry.register(scope: .singleton) { Ticket(1) }.onRemoval { _ in
        _ = try? InitializerRegistry.current.resolve(Log.self).note("removed")
      }
      _ = try registry.resolve(Ticket.self)
    }
    try make()
    #expect(log.all == ["removed"])
  }

  /// A clock that runs a closure each time it is read.
  private struct WatchedClock: _Concurrency.Clock {
    let read: @Sendable () -> Void
    var now: ContinuousClock.Instant {
      read()
      return ContinuousClock().now
    }
    var minimumResolution: Duration { .zero }
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
  }

  @Test("for each value that a request got, even if it is withdrawn while an async initializer ends")
  func asyncEnd() async throws {
    let (removed, got, isMade, withdraw) = (
      Shared<[Int]>([]), Shared<[Int]>([]), Counter(), Shared<(@Sendable () -> Void)?>(nil)
    )
    let registry = InitializerRegistry(clock: WatchedClock { if isMade.value > 0 { withdraw.value?() } })
    let registration = registry.register(
      scope: .singleton.expiring(after: .seconds(3_600)),
      .async {
        isMade.increment()
        return Ticket(1)
      })
    registration.onRemoval { ticket in removed.update { $0.append(ticket.number) } }
    withdraw.update {
      $0 = {
        withdraw.update { $0 = nil }
        if let ticket = try? registry.resolve(Ticket.self) { got.update { $0.append(ticket.number) } }
        registration.unregister()
      }
    }
    _ = try await registry.resolveAsync(Ticket.self)
    #expect(removed.value == got.value)
  }

  @Test("once for each value that threads make, replace and reset at the same time")
  func racing() async throws {
    let (made, removed, cache) = (Counter(), Counter(), ScopeCache("cache"))
    func make() async {
      let registry = InitializerRegistry()
      @Sendable func register() {
        registry.register(Ticket.self, scope: .cached(in: cache)) { Ticket(made.increment()) }
          .onRemoval { _ in removed.increment() }
      }
      _ = await onThreads(6) { number in
        for _ in 0..<repetitions(debug: 500, release: 5_000) {
          switch number {
          case 0: register()
          case 1: cache.reset()
          default: _ = try? registry.resolve(Ticket.self)
          }
        }
      }
    }
    await make()
    // A value isn't kept, and so isn't removed, if it was still being made when it was to be dropped.
    #expect(removed.value <= made.value && removed.value > 0)
  }
}
