import SpellRegistry
import TestSupport
import Testing

/// Returns a registry with a ring of singletons, whose initializers wait until all of them have begun.
private func ring(_ types: [(InitializerRegistry, Barrier) -> Void]) -> InitializerRegistry {
  let (registry, meeting) = (InitializerRegistry(), Barrier(of: types.count))
  for register in types { register(registry, meeting) }
  return registry
}

private struct One: Sendable {}
private struct Two: Sendable {}
private struct Three: Sendable {}

private func link<Value: Sendable, Next: Sendable>(
  _ value: Value, to _: Next.Type, scope: Scope<Value> = .singleton
) -> (InitializerRegistry, Barrier) -> Void {
  { registry, meeting in
    let runs = Counter()
    registry.register(Value.self, scope: scope) { resolver in
      if runs.increment() == 1 { meeting.wait() }
      _ = try resolver.resolve(Next.self)
      return value
    }
  }
}

@Suite("Cycles across threads", .timeLimit(.hang)) struct ThreadCycleTests {
  @Test("two threads that make what the other needs both get the error, with the whole cycle")
  func two() async {
    for _ in 0..<50 {
      let registry = ring([link(One(), to: Two.self), link(Two(), to: One.self)])
      async let one = onThread { registry.error(resolving: One.self) }
      async let two = onThread { registry.error(resolving: Two.self) }
      let errors = await [one, two]
      #expect(errors.map { $0?.code } == [.cycle, .cycle])
      #expect(errors[0]?.path == ["One", "Two", "One"])
      #expect(errors[1]?.path == ["Two", "One", "Two"])
    }
  }

  @Test("three threads in a ring all get the error, with the whole cycle")
  func three() async {
    for _ in 0..<50 {
      let registry = ring([
        link(One(), to: Two.self), link(Two(), to: Three.self), link(Three(), to: One.self),
      ])
      async let one = onThread { registry.error(resolving: One.self) }
      async let two = onThread { registry.error(resolving: Two.self) }
      async let three = onThread { registry.error(resolving: Three.self) }
      let errors = await [one, two, three]
      #expect(errors.map { $0?.code } == [.cycle, .cycle, .cycle])
      #expect(errors[0]?.path == ["One", "Two", "Three", "One"])
      #expect(errors[1]?.path == ["Two", "Three", "One", "Two"])
      #expect(errors[2]?.path == ["Three", "One", "Two", "Three"])
    }
  }

  @Test("the cycle may pass through values that are not shared on its way")
  func detour() async {
    for _ in 0..<50 {
      let (registry, meeting) = (InitializerRegistry(), Barrier(of: 2))
      link(One(), to: Three.self)(registry, meeting)
      link(Two(), to: One.self)(registry, meeting)
      registry.register(Three.self) {
        _ = try $0.resolve(Two.self)
        return Three()
      }
      async let one = onThread { registry.error(resolving: One.self) }
      async let two = onThread { registry.error(resolving: Two.self) }
      let errors = await [one, two]
      #expect(errors[0]?.path == ["One", "Three", "Two", "One"])
      #expect(errors[1]?.path == ["Two", "One", "Three", "Two"])
    }
  }

  @Test("a thread outside the cycle that waits for one in it gets the error, too")
  func bystander() async {
    let registry = ring([link(One(), to: Two.self), link(Two(), to: One.self)])
    registry.register(Three.self) {
      _ = try $0.resolve(One.self)
      return Three()
    }
    async let one = onThread { registry.error(resolving: One.self) }
    async let two = onThread { registry.error(resolving: Two.self) }
    async let three = onThread { registry.error(resolving: Three.self) }
    for error in await [one, two, three] { #expect(error?.code == .cycle) }
  }

  @Test("threads that wait for one another without a cycle all get their values")
  func noCircle() async {
    for _ in 0..<50 {
      let (registry, begun, asked) = (InitializerRegistry(), Latch(), Latch())
      registry.register(Ticket.self, scope: .singleton) {
        begun.open()
        asked.wait()
        return Ticket(1)
      }
      registry.register(Int.self, scope: .singleton) {
        asked.open()
        return try $0.resolve(Ticket.self).number
      }
      registry.register(String.self, scope: .singleton) { "\(try $0.resolve(Int.self))" }
      async let ticket = onThread { try? registry.resolve(Ticket.self).number }
      _ = await onThread { begun.wait() }
      async let number = onThread { try? registry.resolve(Int.self) }
      async let text = onThread { try? registry.resolve(String.self) }
      #expect(await ticket == 1)
      #expect(await number == 1)
      #expect(await text == "1")
    }
  }

  @Test("two singletons that need each other are an error for every asker, each time", arguments: [2, 3, 4, 8, 16])
  func manyThreads(count: Int) async {
    let registry = InitializerRegistry()
    registry.register(One.self, scope: .singleton) {
      _ = try $0.resolve(Two.self)
      return One()
    }
    registry.register(Two.self, scope: .singleton) {
      _ = try $0.resolve(One.self)
      return Two()
    }
    let rounds = repetitions(debug: 800, release: 4_000) / count
    let cycles = await onThreads(count) { index in
      (0..<rounds).count { round in
        let error =
          (index + round).isMultiple(of: 2) ? registry.error(resolving: One.self) : registry.error(resolving: Two.self)
        return error?.code == .cycle && error?.path.first == error?.path.last
      }
    }
    #expect(cycles == Array(repeating: rounds, count: count))
  }

  @Test("a ring of three beside a ring of two is an error for every asker, whichever it enters by")
  func twoRings() async {
    let registry = InitializerRegistry()
    registry.register(One.self, scope: .singleton) {
      _ = try $0.resolve(Two.self)
      return One()
    }
    registry.register(Two.self, scope: .singleton) {
      // The initializer enters the ring of two at once or goes through the ring of three first, at random.
      _ = Bool.random() ? nil : try $0.resolve(Three.self)
      _ = try $0.resolve(One.self)
      return Two()
    }
    registry.register(Three.self, scope: .singleton) {
      _ = try $0.resolve(One.self)
      return Three()
    }
    let cycles = await onThreads(8) { index in
      (0..<500).count { round in
        let error =
          switch (index + round) % 3 {
          case 0: registry.error(resolving: One.self)
          case 1: registry.error(resolving: Two.self)
          default: registry.error(resolving: Three.self)
          }
        return error?.code == .cycle
      }
    }
    #expect(cycles == Array(repeating: 500, count: 8))
  }

  @Test("properties of two objects that need each other across threads are an error, not a hang")
  func properties() async {
    final class Page: Sendable {
      let number: Spell<Int>
      init(_ registry: InitializerRegistry, _ name: String) { number = registry.run { Spell(name) } }
    }
    for _ in 0..<20 {
      let (registry, meeting, runs) = (InitializerRegistry(), Barrier(of: 2), Counter())
      let (one, two) = (Page(registry, "one"), Page(registry, "two"))
      registry.register(Int.self, named: "one") {
        if runs.increment() <= 2 { meeting.wait() }
        return try two.number.storage.resolve(in: nil)
      }
      registry.register(Int.self, named: "two") {
        if runs.increment() <= 2 { meeting.wait() }
        return try one.number.storage.resolve(in: nil)
      }
      let codes = await onThreads(2) { index -> InjectionError.Code? in
        do throws(InjectionError) {
          _ = try (index == 0 ? one : two).number.storage.resolve(in: nil)
          return nil
        } catch { return error.code }
      }
      #expect(codes == [.cycle, .cycle])
      #expect(!one.number.storage.hasValue && !two.number.storage.hasValue)
    }
  }
}
