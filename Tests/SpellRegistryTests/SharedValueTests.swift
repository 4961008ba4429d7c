import SpellRegistry
import TestSupport
import Testing

@Suite("What a registration keeps", .timeLimit(.hang)) struct SharedValueTests {
  let registry = InitializerRegistry()

  @Test("replacing a registration drops its value at once", arguments: [0, 1, 2])
  func replaced(which: Int) throws {
    let cache = ScopeCache("cache")
    let scopes: [Scope<Clock>] = [.singleton, .cached(in: cache), .singleton.expiring(after: .seconds(60))]
    registry.register(Clock.self, scope: scopes[which]) { Clock() }
    weak let clock = try registry.resolve(Clock.self)
    #expect(clock != nil)
    registry.register(Clock.self) { Clock() }
    #expect(clock == nil)
  }

  @Test("withdrawing a registration, or all, drops its value and its initializer at once")
  func withdrawn() throws {
    let captured = Shared<Clock?>(Clock())
    weak let held = captured.value
    let registration = registry.register(Ticket.self, scope: .singleton) { [kept = captured.value] in
      _ = kept
      return Ticket(1)
    }
    captured.update { $0 = nil }
    weak let ticket = try registry.resolve(Ticket.self)
    #expect(ticket != nil && held != nil)
    registration.unregister()
    #expect(ticket == nil)

    registry.register(Clock.self, scope: .singleton) { Clock() }
    weak let clock = try registry.resolve(Clock.self)
    #expect(clock != nil)
    registry.removeAll()
    #expect(clock == nil)
  }

  @Test("an instance is held by its registration, and released with it")
  func instance() {
    weak var held: Clock?
    do {
      let clock = Clock()
      held = clock
      registry.register(.instance(clock))
    }
    #expect(held != nil)
    registry.removeAll()
    #expect(held == nil)
  }

  @Test("withdrawing one registration twice, or one that was replaced, changes nothing")
  func twice() throws {
    let first = registry.register(Int.self) { 1 }
    let second = registry.register(Int.self) { 2 }
    first.unregister()
    #expect(try registry.resolve(Int.self) == 2)
    second.unregister()
    second.unregister()
    first.unregister()
    #expect(registry.error(resolving: Int.self)?.code == .notRegistered)
  }

  @Test("a deinitializer that resolves from the same registry may run when its value is dropped")
  func deinitializerThatResolves() throws {
    let registry = registry
    let (resolved, cache) = (Counter(), ScopeCache("cache"))
    registry.register { Clock() }
    let farewell: @Sendable () -> Farewell = {
      Farewell {
        if (try? registry.resolve(Clock.self)) != nil { resolved.increment() }
        registry.register(Int.self) { resolved.value }
      }
    }
    registry.register(Farewell.self, scope: .singleton, farewell)
    _ = try registry.resolve(Farewell.self)
    registry.register(Farewell.self, scope: .cached(in: cache), farewell)
    #expect(resolved.value == 1)
    _ = try registry.resolve(Farewell.self)
    cache.reset()
    #expect(resolved.value == 2)
    let last = registry.register(Farewell.self, scope: .singleton.expiring(after: .zero), farewell)
    _ = try registry.resolve(Farewell.self)
    _ = try registry.resolve(Farewell.self)
    #expect(resolved.value == 3)
    last.unregister()
    #expect(resolved.value == 4)
    #expect(try registry.resolve(Int.self) == 4)
  }

  @Test("what an initializer captured may resolve in its deinitializer when the registration is replaced")
  func captureThatResolves() throws {
    let registry = registry
    let resolved = Counter()
    registry.register { Clock() }
    for _ in 0..<2 {
      registry.register(Int.self) {
        [farewell = Farewell { if (try? registry.resolve(Clock.self)) != nil { resolved.increment() } }] in
        withExtendedLifetime(farewell) { 1 }
      }
    }
    #expect(resolved.value == 1)
    registry.removeAll()
  }

  @Test("a value of a registration that its own initializer withdrew is handed out and not kept")
  func withdrawnDuringCreation() throws {
    let registry = registry
    registry.register(Clock.self, scope: .singleton) {
      registry.removeAll()
      return Clock()
    }
    weak let clock = try registry.resolve(Clock.self)
    #expect(clock == nil)
    #expect(registry.error(resolving: Clock.self)?.code == .notRegistered)
  }

  @Test("a value of a registration that was replaced during its creation does not come up again")
  func replacedDuringCreation() async throws {
    let registry = registry
    let (begun, replaced) = (Latch(), Latch())
    registry.register(Ticket.self, scope: .singleton) {
      begun.open()
      replaced.wait()
      return Ticket(1)
    }
    async let old = onThread { (try? registry.resolve(Ticket.self))?.number }
    _ = await onThread { begun.wait() }
    registry.register(Ticket.self, scope: .singleton) { Ticket(2) }
    #expect(try registry.resolve(Ticket.self).number == 2)
    replaced.open()
    #expect(await old == 1)
    #expect(try registry.resolve(Ticket.self).number == 2)
  }

  @Test("a value whose cache is reset during its creation goes to the reader that began it and is not kept")
  func resetDuringCreation() async throws {
    let registry = registry
    let (begun, reset, cache, runs) = (Latch(), Latch(), ScopeCache("cache"), Counter())
    registry.register(Ticket.self, scope: .cached(in: cache)) {
      let run = runs.increment()
      begun.open()
      reset.wait()
      return Ticket(run)
    }
    async let first = onThread { (try? registry.resolve(Ticket.self))?.number }
    _ = await onThread { begun.wait() }
    cache.reset()
    reset.open()
    #expect(await first == 1)
    #expect(try registry.resolve(Ticket.self).number == 2)
    #expect(try registry.resolve(Ticket.self).number == 2)
  }
}
