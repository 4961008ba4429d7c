import SpellRegistry
import TestSupport
import Testing

extension InjectionKeys {
  fileprivate static let numbers = InjectionKey<[Ticket]>(scope: .singleton) { (0..<4).map { Ticket($0) } }
  fileprivate static let farewell = InjectionKey<Farewell>(scope: .singleton) { try $0.resolve() }
}

@Suite("A kept value that is withdrawn", .timeLimit(.hang)) struct WithdrawalTests {
  enum Way: CaseIterable { case unregister, replace, removeAll }

  @Test("a thread that resolves a key gets a whole value while another one removes all values")
  func wholeValues() async {
    let (registry, isOver, torn) = (InitializerRegistry(), Latch(), Counter())
    _ = await onThreads(3) { index in
      if index == 0 {
        for _ in 0..<repetitions(debug: 20_000, release: 100_000) { registry.removeAll() }
        return isOver.open()
      }
      while !isOver.isOpen {
        for _ in 0..<64 {
          let tickets = try? registry.resolve(.numbers)
          if tickets?.map(\.number) != [0, 1, 2, 3] { torn.increment() }
        }
      }
    }
    #expect(torn.value == 0)
  }

  enum Going: CaseIterable { case unregister, replace, removeAll, removeAllOfKey, reset }

  @Test("no lock is held when the last reference to a kept value goes", arguments: Going.allCases)
  func noLockHeld(_ way: Going) throws {
    let (registry, ends, cache) = (InitializerRegistry(), Counter(), ScopeCache("cache"))
    let scope: Scope<Farewell> = way == .reset ? .cached(in: cache) : way == .removeAllOfKey ? .unique : .singleton
    // The value's deinitializer asks the registry, which a thread can't do while it holds the registry's lock.
    let registration = registry.register(Farewell.self, scope: scope) { [unowned registry] in
      Farewell { if !registry.isRegistered(String.self) { ends.increment() } }
    }
    if way == .removeAllOfKey { _ = try registry.resolve(.farewell) } else { _ = try registry.resolve(Farewell.self) }
    #expect(ends.value == 0)
    switch way {
    case .unregister: registration.unregister()
    case .replace: registry.register(Farewell.self) { throw Offline() }
    case .removeAll, .removeAllOfKey: registry.removeAll()
    case .reset: cache.reset()
    }
    #expect(ends.value == 1)
  }

  @Test("a singleton is made once for all earlier requests, however it is dropped meanwhile", arguments: Way.allCases)
  func madeOnce(_ way: Way) async {
    for _ in 0..<50 {
      let (registry, runs) = (InitializerRegistry(), Counter())
      let (begun, mayEnd) = (Latch(), Latch())
      let registration = registry.register(Ticket.self, scope: .singleton) {
        let run = runs.increment()
        begun.open()
        mayEnd.wait()
        return Ticket(run)
      }
      async let numbers = onThreads(8) { index -> Int? in
        if index == 0 { return (try? registry.resolve(Ticket.self))?.number }
        begun.wait()
        return (try? registry.resolve(Ticket.self))?.number
      }
      async let withdrawn: Void = onThread {
        begun.wait()
        switch way {
        case .unregister: registration.unregister()
        case .replace: registry.register(Ticket.self, scope: .singleton) { Ticket(100) }
        case .removeAll: registry.removeAll()
        }
        mayEnd.open()
      }
      await withdrawn
      let made = await numbers
      #expect(runs.value == 1)
      // A thread that came too late got nothing, or the value of the new registration.
      #expect(made.allSatisfy { $0 == 1 || $0 == (way == .replace ? 100 : nil) }, "\(made)")
      #expect(made.contains(1))
    }
  }
}
