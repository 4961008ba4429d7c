import Foundation
import SpellRegistry
import TestSupport
import Testing

private struct One: Sendable {}
private struct Two: Sendable {}
private struct Three: Sendable {}

@Suite("Cycles of async initializers", .timeLimit(.hang)) struct AsyncCycleTests {
  let registry = InitializerRegistry()

  private func link<Value: Sendable, Next: Sendable>(
    _ value: Value, to _: Next.Type, scope: Scope<Value> = .singleton, after latch: AsyncLatch? = nil
  ) {
    let runs = Counter()
    registry.register(
      Value.self, scope: scope,
      .async { resolver in
        if runs.increment() == 1 { await latch?.meet() }
        _ = try await resolver.registry.resolveAsync(Next.self)
        return value
      })
  }

  private func expectCycle<Value: Sendable>(_ path: [String], awaiting _: Value.Type) async {
    let found = await error(awaiting: Value.self, of: registry)
    #expect(found?.path == path)
  }

  @Test("in one task the cycle is an error with the whole path")
  func oneTask() async {
    link(One(), to: Two.self)
    link(Two(), to: Three.self, scope: .unique)
    link(Three(), to: One.self)
    #expect(await error(awaiting: One.self, of: registry)?.code == .cycle)
    await expectCycle(["One", "Two", "Three", "One"], awaiting: One.self)
    await expectCycle(["Three", "One", "Two", "Three"], awaiting: Three.self)
  }

  @Test("an async initializer that awaits itself is an error")
  func itself() async {
    link(One(), to: One.self)
    link(Two(), to: Two.self, scope: .unique)
    await expectCycle(["One", "One"], awaiting: One.self)
    await expectCycle(["Two", "Two"], awaiting: Two.self)
  }

  @Test("a sync initializer on the way around closes the cycle, too")
  func syncInitializer() async {
    registry.register(Two.self) {
      _ = try $0.resolve(One.self); return Two()
    }
    registry.register(
      One.self, scope: .singleton,
      .async {
        _ = try $0.resolve(Two.self); return One()
      })
    #expect(await error(awaiting: One.self, of: registry)?.code == .cycle)
    await expectCycle(["One", "Two", "One"], awaiting: One.self)
  }

  @Test("across two tasks the cycle is an error, never a hang")
  func twoTasks() async {
    for _ in 0..<50 {
      let latch = AsyncLatch(opensAfter: 2)
      link(One(), to: Two.self, after: latch)
      link(Two(), to: One.self, after: latch)
      async let one = error(awaiting: One.self, of: registry)
      async let two = error(awaiting: Two.self, of: registry)
      let errors = await [one, two]
      #expect(errors.map { $0?.code } == [.cycle, .cycle])
      // One task finds the cycle. The other task gets the same error through the value that it awaits.
      let paths = errors.compactMap(\.self?.path)
      #expect(paths.contains(["One", "Two", "One"]) || paths.contains(["Two", "One", "Two"]), "\(paths)")
    }
  }

  @Test("across three tasks the cycle is an error, never a hang")
  func threeTasks() async {
    for _ in 0..<50 {
      let latch = AsyncLatch(opensAfter: 3)
      link(One(), to: Two.self, after: latch)
      link(Two(), to: Three.self, after: latch)
      link(Three(), to: One.self, after: latch)
      async let one = error(awaiting: One.self, of: registry)
      async let two = error(awaiting: Two.self, of: registry)
      async let three = error(awaiting: Three.self, of: registry)
      for error in await [one, two, three] { #expect(error?.code == .cycle) }
    }
  }

  @Test("a child task of an initializer that asks for what that makes gets an error")
  func childTasks() async {
    registry.register(
      One.self, scope: .singleton,
      .async { resolver in
        let registry = resolver.registry
        async let one = registry.resolveAsync(One.self)
        return try await one
      })
    #expect(await error(awaiting: One.self, of: registry)?.code == .cycle)
  }

  @Test("an initializer that awaits one dependency twice, in two child tasks, isn't a cycle")
  func diamond() async throws {
    registry.register(
      Clock.self, scope: .singleton,
      .async {
        await Task.yield()
        return Clock()
      })
    registry.register(Network.self, scope: .singleton, .async { Network(clock: try await $0.registry.resolveAsync()) })
    registry.register(
      Checkout.self, scope: .singleton,
      .async { resolver in
        let registry = resolver.registry
        async let network = registry.resolveAsync(Network.self)
        async let clock = registry.resolveAsync(Clock.self)
        return Checkout(network: try await network, clock: try await clock)
      })
    let checkout = try await registry.resolveAsync(Checkout.self)
    #expect(checkout.clock === checkout.network.clock)
  }

  @Test("runs of two initializers that ask for each other by another name, and so don't wait for each other, are none")
  func sameTypes() async throws {
    registry.register(
      Int.self,
      .async { resolver in
        if resolver.point.propertyName == "leaf" { return 1 }
        return Int(try await resolver.registry.resolveAsync(Double.self, named: "leaf")) + 1
      })
    registry.register(
      Double.self,
      .async { resolver in
        if resolver.point.propertyName != "leaf" {
          return Double(try await resolver.registry.resolveAsync(Int.self, named: "leaf")) + 1
        }
        await Task.yield()
        return 1
      })
    for _ in 0..<2_000 {
      async let one = registry.resolveAsync(Int.self)
      async let other = registry.resolveAsync(Double.self)
      let both = try await (one, other)
      #expect(both == (2, 2))
    }
  }

  @Test("a thousand runs of one initializer that is not kept are nothing to each other")
  func uniqueRuns() async {
    let registry = registry
    registry.register(
      Clock.self,
      .async {
        await Task.yield()
        return Clock()
      })
    registry.register(Network.self, .async { Network(clock: try await $0.registry.resolveAsync()) })
    let networks = await race(1_000) { _ in try? await registry.resolveAsync(Network.self) }
    #expect(Set(networks.compactMap { $0.map { ObjectIdentifier($0.clock) } }).count == 1_000)
  }

  @Test("a task that an initializer left running may await the value once it is there")
  func lateTask() async throws {
    let late = Shared<Task<One, any Error>?>(nil)
    let finished = AsyncLatch()
    registry.register(
      One.self, scope: .singleton,
      .async { resolver in
        let registry = resolver.registry
        let task = Task {
          await finished.wait()
          return try await registry.resolveAsync(One.self)
        }
        late.update { $0 = task }
        return One()
      })
    _ = try await registry.resolveAsync(One.self)
    finished.open()
    await #expect(throws: Never.self) { try await late.value?.value }
  }

  @Test("a task that nothing awaits, and that needs the value of the initializer that began it, is none")
  func unawaitedTask() async throws {
    let registry = registry
    let (found, asked) = (Shared<Task<Double, any Error>?>(nil), AsyncLatch())
    registry.register(
      Int.self, scope: .singleton,
      .async {
        let task = Task { try await registry.resolveAsync(Double.self) }
        found.update { $0 = task }
        await asked.wait()
        return 1
      })
    registry.register(
      Double.self, scope: .singleton,
      .async { resolver in
        asked.open()
        return Double(try await resolver.resolveAsync(Int.self))
      })
    #expect(try await registry.resolveAsync(Int.self) == 1)
    #expect(try await found.value?.value == 1)
  }

  @Test("an initializer of a child that asks its parent for the same registration is none")
  func parent() async throws {
    registry.register(.instance(0))
    registry.register(
      [Int].self,
      .async { resolver in
        let number = try resolver.resolve(Int.self)
        guard number > 0, let parent = resolver.registry.parent else { return [number] }
        return [number] + (try await parent.resolveAsync([Int].self))
      })
    let child = registry.child { $0.register(.instance(1)) }
    #expect(try await child.resolveAsync([Int].self) == [1, 0])
  }

  @Test("through resolvers is an error with the whole path, whatever the scopes", arguments: [true, false])
  func resolvers(isKept: Bool) async {
    registry.register(
      One.self, scope: isKept ? .singleton : .unique,
      .async { resolver in
        _ = try await resolver.resolveAsync(Two.self)
        return One()
      })
    registry.register(
      Two.self, scope: isKept ? .singleton : .graph,
      .async { resolver in
        _ = try await resolver.resolveAsync(One.self)
        return Two()
      })
    await expectCycle(["One", "Two", "One"], awaiting: One.self)
    await expectCycle(["Two", "One", "Two"], awaiting: Two.self)
  }

  @Test("across two tasks, through a value that isn't shared, is an error", arguments: [true, false], [true, false])
  func unshared(isUnique: Bool, asksRegistry: Bool) async {
    @Sendable func ask<Value: Sendable>(_ resolver: Resolver, for _: Value.Type) async throws {
      if asksRegistry {
        _ = try await resolver.registry.resolveAsync(Value.self)
      } else {
        _ = try await resolver.resolveAsync(Value.self)
      }
    }
    for _ in 0..<100 {
      let latch = AsyncLatch()
      registry.register(
        One.self, scope: .singleton,
        .async { resolver in
          try await ask(resolver, for: Two.self)
          return One()
        })
      registry.register(
        Two.self, scope: isUnique ? .unique : .graph,
        .async { resolver in
          latch.open()
          try await ask(resolver, for: Three.self)
          return Two()
        })
      registry.register(
        Three.self, scope: .singleton,
        .async { resolver in
          await latch.wait()
          for _ in 0..<10 { await Task.yield() }
          try await ask(resolver, for: One.self)
          return Three()
        })
      async let three = error(awaiting: Three.self, of: registry)
      async let one = error(awaiting: One.self, of: registry)
      for found in await [three, one] {
        #expect(found?.code == .cycle)
        #expect(Set(found?.path ?? []) == ["One", "Two", "Three"])
      }
    }
  }

  @Test("is an error with the whole path for a task that joins a run of the cycle, too")
  func joined() async {
    let (isBegun, isJoined) = (AsyncLatch(), AsyncLatch())
    registry.register(
      One.self, scope: .singleton,
      .async { resolver in
        _ = try await resolver.resolveAsync(Two.self)
        return One()
      })
    registry.register(
      Two.self,
      .async { resolver in
        _ = try await resolver.resolveAsync(Three.self)
        return Two()
      })
    registry.register(
      Three.self, scope: .singleton,
      .async { resolver in
        isBegun.open()
        await isJoined.wait()
        _ = try await resolver.resolveAsync(One.self)
        return Three()
      })
    async let one = error(awaiting: One.self, of: registry)
    await isBegun.wait()
    // Both tasks run on the same thread, so the second task begins when the first one awaits the run.
    let executor = ThreadExecutor()
    let joining = Task(executorPreference: executor) { [registry] in await error(awaiting: Three.self, of: registry) }
    Task(executorPreference: executor) { isJoined.open() }
    #expect(await one?.code == .cycle)
    #expect(await joining.value?.path == ["Three", "One", "Two", "Three"])
  }

  @Test("after a cycle is broken by another registration everything resolves")
  func repaired() async throws {
    link(One(), to: Two.self)
    link(Two(), to: One.self)
    #expect(await error(awaiting: One.self, of: registry)?.code == .cycle)
    registry.register(Two.self, .async { Two() })
    _ = try await registry.resolveAsync(One.self)
  }

  @Test("a cycle through a task that the initializer awaits is told on standard error")
  func toldCycle() async {
    await #expect(processExitsWith: .success) {
      var ends: [Int32] = [0, 0]
      guard unsafe pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) == STDERR_FILENO else { exit(2) }
      let registry = InitializerRegistry()
      registry.register(
        Network.self, scope: .singleton,
        .async { resolver in
          let registry = resolver.registry
          async let clock = registry.resolveAsync(Clock.self)
          return try await Network(clock: clock)
        })
      registry.register(
        Clock.self, scope: .singleton,
        .async { resolver in try await resolver.resolveAsync(Network.self).clock })
      let task = Task { try await registry.resolveAsync(Network.self) }
      var bytes = [UInt8](repeating: 0, count: 2_000)
      let count = unsafe read(ends[0], &bytes, bytes.count)
      let message = String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
      withExtendedLifetime(task) {}
      exit(message.contains("Network → Clock → Network") ? 0 : 1)
    }
  }
}
