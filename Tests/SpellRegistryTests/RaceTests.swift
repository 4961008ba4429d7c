import SpellRegistry
import TestSupport
import Testing

@Suite("Races", .timeLimit(.hang)) struct RaceTests {
  let registry = InitializerRegistry()

  @Test(
    "sixteen threads at once get one value of a scope that keeps it",
    arguments: ["singleton", "weak", "cached", "expiring"])
  func oneValue(scope name: String) async {
    for _ in 0..<20 {
      let (registry, runs) = (InitializerRegistry(), Counter())
      let scope: Scope<Clock> =
        switch name {
        case "weak": .weak
        case "cached": .cached(in: ScopeCache("cache"))
        case "expiring": .singleton.expiring(after: .seconds(3600))
        default: .singleton
        }
      registry.register(Clock.self, scope: scope) {
        runs.increment()
        return Clock()
      }
      let clocks = await onThreads(16) { _ in try? registry.resolve(Clock.self) }
      #expect(runs.value == 1)
      #expect(Set(clocks.compactMap { $0.map { ObjectIdentifier($0) } }).count == 1)
      #expect(clocks.count(where: { $0 != nil }) == 16)
    }
  }

  @Test("four thousand tasks get one singleton, and its dependencies are made once")
  func tasks() async {
    let registry = registry
    let runs = Counter()
    registry.register(Clock.self, scope: .singleton) {
      runs.increment()
      return Clock()
    }
    registry.register(Network.self, scope: .singleton, .autowire(Network.init))
    let networks = await race(4000) { _ in try? registry.resolve(Network.self) }
    #expect(Set(networks.compactMap { $0.map { ObjectIdentifier($0) } }).count == 1)
    #expect(networks.count(where: { $0 != nil }) == 4000)
    #expect(runs.value == 1)
  }

  @Test("sixteen threads that read one property first make one value and call its hooks once")
  func property() async {
    for _ in 0..<20 {
      let (registry, runs, hooks) = (InitializerRegistry(), Counter(), Counter())
      registry.register(Ticket.self) { Ticket(runs.increment()) }.onInjection { _, _ in hooks.increment() }
      let spell = registry.run { Spell<Ticket>() }
      let tickets = await onThreads(16) { _ in spell.wrappedValue }
      #expect(Set(tickets.map { ObjectIdentifier($0) }).count == 1)
      #expect(runs.value == 1)
      #expect(hooks.value == 1)
    }
  }

  @Test("threads that wait for an initializer that throws try it themselves, one after the other")
  func failing() async {
    let registry = registry
    let (runs, open) = (Counter(), Counter())
    registry.register(Ticket.self, scope: .singleton) {
      defer { open.increment() }
      let run = runs.increment()
      if open.value != run - 1 { return Ticket(-1) }
      if run < 6 { throw Offline() }
      return Ticket(run)
    }
    let numbers = await onThreads(16) { _ in (try? registry.resolve(Ticket.self))?.number }
    #expect(runs.value == 6)
    #expect(numbers.count(where: { $0 == nil }) == 5)
    #expect(numbers.count(where: { $0 == 6 }) == 11)
  }

  @Test("while one initializer runs, other keys are resolved, registered and withdrawn")
  func nothingHeld() async throws {
    let registry = registry
    let (begun, finish) = (Latch(), Latch())
    registry.register(Clock.self, scope: .singleton) {
      begun.open()
      finish.wait()
      return Clock()
    }
    registry.register(Ticket.self, scope: .singleton) { Ticket(1) }
    async let slow = onThread { try? registry.resolve(Clock.self) }
    _ = await onThread { begun.wait() }
    let done = await onThread {
      let first = try? registry.resolve(Ticket.self)
      let registration = registry.register(Int.self, scope: .singleton) { 1 }
      let number = try? registry.resolve(Int.self)
      registration.unregister()
      let session = ScopeCache("session")
      registry.register(String.self, scope: .cached(in: session)) { "cached" }
      let text = try? registry.resolve(String.self)
      session.reset()
      registry.onInjection { _, _ in }
      let all = try? registry.resolveAll(Ticket.self)
      return first?.number == 1 && number == 1 && text == "cached" && all?.count == 1
    }
    #expect(done)
    finish.open()
    #expect(await slow != nil)
  }

  @Test("while a hook runs, other threads resolve the same key and others")
  func nothingHeldInHooks() async {
    let registry = registry
    let (begun, finish, calls) = (Latch(), Latch(), Counter())
    registry.register(Clock.self, scope: .singleton) { Clock() }.onInjection { _, _ in
      if calls.increment() > 1 { return }
      begun.open()
      finish.wait()
    }
    async let slow = onThread { try? registry.resolve(Clock.self) }
    _ = await onThread { begun.wait() }
    #expect(await onThread { try? registry.resolve(Clock.self) } != nil)
    finish.open()
    #expect(await slow != nil)
    #expect(calls.value == 2)
  }

  @Test("thousands of registrations from many threads, while others resolve, all arrive")
  func registering() async {
    let registry = registry
    registry.register(Int.self) { -1 }
    let results = await onThreads(8) { thread -> Bool in
      (0..<500).allSatisfy { index in
        if thread < 4 {
          registry.register(Int.self, named: .equal(to: "\(thread)/\(index)")) { thread * 1000 + index }
          return (try? registry.resolve(Int.self, named: "\(thread)/\(index)")) == thread * 1000 + index
        }
        return (try? registry.resolve(Int.self)) == -1
      }
    }
    #expect(!results.contains(false))
    #expect((try? registry.resolveAll(Int.self))?.count == 2001)
  }

  @Test("replacing a registration while others resolve gives each of them one of its values, whole")
  func replacing() async throws {
    let registry = registry
    registry.register(Ticket.self, scope: .singleton) { Ticket(0) }
    let numbers = await onThreads(8) { thread -> [Int] in
      (1...300).map { index in
        if thread < 2 { registry.register(Ticket.self, scope: .singleton) { Ticket(thread * 1000 + index) } }
        return (try? registry.resolve(Ticket.self))?.number ?? -1
      }
    }
    #expect(numbers.joined().allSatisfy { $0 >= 0 })
    #expect(try registry.resolve(Ticket.self) === registry.resolve(Ticket.self))
    #expect(try registry.resolveAll(Ticket.self).count == 1)
  }

  @Test("a registration that is withdrawn while others find it stays until they have used it")
  func withdrawing() async {
    let registry = registry
    let over = Counter()
    let rounds = repetitions(debug: 2_000, release: 300_000)
    let wrong = await onThreads(2) { index -> Int in
      if index == 0 {
        while over.value == 0 {
          registry.register(Ticket.self) { Ticket(7) }
          registry.removeAll()
        }
        return 0
      }
      defer { over.increment() }
      return (0..<rounds).count { _ in
        do throws(InjectionError) { return try registry.resolve(Ticket.self).number != 7 } catch {
          return error.code != .notRegistered
        }
      }
    }
    #expect(wrong == [0, 0])
  }

  @Test("resets while others resolve leave a cache that works")
  func resetting() async throws {
    let registry = registry
    let (cache, runs) = (ScopeCache("cache"), Counter())
    registry.register(Ticket.self, scope: .cached(in: cache)) { Ticket(runs.increment()) }
    let numbers = await onThreads(8) { thread -> [Int] in
      (0..<300).map { _ in
        if thread == 0 { cache.reset() }
        return (try? registry.resolve(Ticket.self))?.number ?? -1
      }
    }
    #expect(numbers.joined().allSatisfy { $0 >= 1 })
    let last = try registry.resolve(Ticket.self)
    #expect(try registry.resolve(Ticket.self) === last)
    #expect(last.number == runs.value)
  }

  @Test("weak values that come and go under many threads are whole each time")
  func weakChurn() async {
    let registry = registry
    registry.register(Ticket.self, scope: .weak) { Ticket(7) }
    let numbers = await onThreads(8) { _ in
      (0..<500).map { _ in (try? registry.resolve(Ticket.self))?.number ?? -1 }
    }
    #expect(numbers.joined().allSatisfy { $0 == 7 })
  }

  @Test("no thread reads the old value of a property after a re-injection")
  func reinjection() async {
    let (registry, stale) = (InitializerRegistry(), Counter())
    for round in 0..<repetitions(debug: 100, release: 300) {
      registry.register { Ticket(2 * round) }
      let spell = registry.run { Spell<Ticket>() }
      _ = spell.wrappedValue
      registry.register { [unowned registry] in
        // The loop takes long enough that the other threads wait.
        for _ in 0..<300 { _ = try? registry.resolve(Int?.self) }
        return Ticket(2 * round + 1)
      }
      registry.reinject(Ticket.self)
      _ = await onThreads(4) { _ in if spell.wrappedValue.number != 2 * round + 1 { stale.increment() } }
    }
    #expect(stale.value == 0)
  }
}
