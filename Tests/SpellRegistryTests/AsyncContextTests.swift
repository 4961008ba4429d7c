import Foundation
import SpellRegistry
import TestSupport
import Testing

private struct Config: Sendable {}
private struct Holder: Sendable { let asking: Asking }
/// An object whose property asks the registry in which the object was made.
///
/// `@unchecked Sendable`: no code assigns the wrapped property; its storage's atomic `gate` guards it.
private final class Asking: @unchecked Sendable {
  @Spell var clock: Clock
}

@Suite("In an async initializer, tasks and the code in run", .timeLimit(.hang)) struct AsyncContextTests {
  let registry = InitializerRegistry()

  enum Way: CaseIterable { case inRun, inRunOfAnother, inTaskInRun, bySyncRequest, inUnsharedInitializer }

  @Test("that need the initializer's own value get an error", arguments: Way.allCases)
  func ownValue(_ way: Way) async {
    registry.register(
      Network.self,
      .async { resolver in
        let registry = resolver.registry
        async let config = registry.resolveAsync(Config.self)
        _ = try await config
        return Network(clock: Clock())
      })
    registry.register(
      Config.self, scope: .singleton,
      .async { resolver in
        let registry = resolver.registry
        switch way {
        case .inRun: return try await registry.run { try await registry.resolveAsync() }
        case .inRunOfAnother: return try await InitializerRegistry().run { try await registry.resolveAsync() }
        case .inTaskInRun:
          return try await registry.run { try await Task { try await registry.resolveAsync(Config.self) }.value }
        case .bySyncRequest: return try registry.run { try registry.resolve() }
        case .inUnsharedInitializer:
          _ = try await resolver.resolveAsync(Network.self)
          return Config()
        }
      })
    let found = await error(awaiting: Config.self, of: registry)
    #expect(found?.code == .cycle)
    #expect(found?.path.first == "Config" && found?.path.last == "Config")
  }

  enum Maker: CaseIterable { case request, run, runInTask, awaitedRequestInTask, awaitedUnsharedValue, syncRunInTask }

  @Test("make objects that don't keep the registry, if the registry keeps the value", arguments: Maker.allCases)
  func ownership(_ maker: Maker) async throws {
    weak var gone: InitializerRegistry?
    do {
      let registry = InitializerRegistry()
      gone = registry
      registry.register(Clock.self) { Clock() }
      registry.register(Asking.self) { Asking() }
      registry.register(
        Asking.self, named: "async",
        .async { resolver in
          await Task.yield()
          return try resolver.registry.resolve()
        })
      registry.register(Task<Asking, any Error>.self, scope: .singleton) { resolver in
        resolver.registry.run { Task { Asking() } }
      }
      registry.register(
        Holder.self, scope: .singleton,
        .async { resolver in
          let registry = resolver.registry
          await Task.yield()
          let asking: Asking
          switch maker {
          case .request: asking = try registry.resolve()
          case .run:
            asking = await registry.run {
              await Task.yield()
              return Asking()
            }
          case .runInTask: asking = await Task { registry.run { Asking() } }.value
          case .awaitedRequestInTask: asking = try await Task { try await registry.resolveAsync() }.value
          case .awaitedUnsharedValue: asking = try await Task { try await registry.resolveAsync(named: "async") }.value
          case .syncRunInTask: asking = try await registry.resolve(Task<Asking, any Error>.self).value
          }
          return Holder(asking: asking)
        })
      let holder = try await registry.resolveAsync(Holder.self)
      _ = holder.asking.clock
    }
    // The task that made a value may end a little after the value is available.
    while gone != nil, !Task.isCancelled { await Task.yield() }
    #expect(gone == nil)
  }

  @Test("keep the value no longer than its scope does, however long they run", arguments: [true, false])
  func longTask(isWeak: Bool) async throws {
    let (mayEnd, task) = (AsyncLatch(), Shared<Task<Void, Never>?>(nil))
    registry.register(
      Ticket.self, scope: isWeak ? .weak : .singleton,
      .async {
        let long = Task { _ = await mayEnd.wait() }
        task.update { $0 = long }
        return Ticket(1)
      })
    weak var gone: Ticket?
    do {
      let ticket = try await registry.resolveAsync(Ticket.self)
      gone = ticket
      if !isWeak { registry.removeAll() }
    }
    #expect(gone == nil)
    mayEnd.open()
    await task.value?.value
  }

  @Test("keep no graph value of the resolution after the initializer")
  func longTaskAndGraph() async throws {
    let (mayEnd, task, goodbyes) = (AsyncLatch(), Shared<Task<Void, Never>?>(nil), Counter())
    registry.register(Farewell.self, scope: .graph) { Farewell { goodbyes.increment() } }
    registry.register(
      Config.self,
      .async { resolver in
        _ = try resolver.resolve(Farewell.self)
        let long = Task { _ = await mayEnd.wait() }
        task.update { $0 = long }
        return Config()
      })
    _ = try await registry.resolveAsync(Config.self)
    #expect(goodbyes.value == 1)
    mayEnd.open()
    await task.value?.value
  }
}

@Suite("A kept async value", .timeLimit(.hang)) struct KeptAsyncValueTests {
  let registry = InitializerRegistry()

  @Test("shares the graph values of the resolution that makes it")
  func graph() async throws {
    registry.register(Clock.self, scope: .graph) { Clock() }
    registry.register(Network.self, scope: .singleton, .async { Network(clock: try $0.resolve()) })
    registry.register(
      Checkout.self,
      .async { resolver in
        let clock = try resolver.resolve(Clock.self)
        return Checkout(network: try await resolver.resolveAsync(), clock: clock)
      })
    let checkout = try await registry.resolveAsync(Checkout.self)
    #expect(checkout.clock === checkout.network.clock)
    #expect(try await registry.resolveAsync(Checkout.self).clock !== checkout.clock)
  }

  @Test("has hooks that share the graph values of the resolution that makes it")
  func hookShares() async throws {
    let (registry, heard) = (InitializerRegistry(), Shared<[Clock]>([]))
    registry.register(Clock.self, scope: .graph) { Clock() }
    registry.register(Network.self, .async { Network(clock: try $0.resolve()) }).onInjection { _, _ in
      if let clock = try? registry.resolve(Clock.self) { heard.update { $0.append(clock) } }
    }
    let network = try await registry.resolveAsync(Network.self)
    #expect(heard.value.count == 1 && heard.value.first === network.clock)
  }

  @Test("is completed at the end of the resolution that makes it, even if that fails", arguments: [true, false])
  func completion(fails: Bool) async throws {
    let journal = Journal()
    registry.register(Config.self, scope: .singleton, .async { Config() })
      .onCompletion { _, _ in journal.note("completed") }
    registry.register(
      Ticket.self,
      .async { resolver in
        _ = try await resolver.resolveAsync(Config.self)
        await Task.yield()
        journal.note("made")
        if fails { throw Offline() }
        return Ticket(1)
      })
    #expect((try? await registry.resolveAsync(Ticket.self)) == nil ? fails : !fails)
    #expect(journal.entries == ["made", "completed"])
  }

  @Test("is completed before others get it, if the request that began it was cancelled")
  func completionAfterCancellation() async throws {
    let registry = registry
    let (begun, mayEnd, journal) = (AsyncLatch(), AsyncLatch(), Journal())
    registry.register(
      Config.self, scope: .singleton,
      .async {
        begun.open()
        await mayEnd.wait()
        return Config()
      }
    ).onCompletion { _, _ in journal.note("completed") }
    registry.register(
      Ticket.self,
      .async { resolver in
        _ = try await resolver.resolveAsync(Config.self)
        return Ticket(1)
      })
    let impatient = Task { await error(awaiting: Ticket.self, of: registry) }
    await begun.wait()
    let patient = Task { try await registry.resolveAsync(Config.self) }
    for _ in 0..<100 { await Task.yield() }
    impatient.cancel()
    #expect(await impatient.value?.code == .cancelled)
    mayEnd.open()
    _ = try await patient.value
    #expect(!journal.entries.isEmpty)
  }

  /// In a process of its own, because it blocks two of the few threads that run tasks.
  @Test(
    "shares a graph value that another thread of the resolution is making",
    .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1, "one processor has one thread for tasks"))
  func graphValueOfTwoThreads() async {
    await #expect(processExitsWith: .success) {
      let registry = InitializerRegistry()
      let (begun, asks, mayEnd, made) = (AsyncLatch(), Latch(), Latch(), Counter())
      let clocks = Shared<[Clock]>([])
      registry.register(Clock.self, scope: .graph) {
        if made.increment() == 1 {
          begun.open()
          mayEnd.wait()
        }
        return Clock()
      }
      @Sendable func note(_ clock: Clock) { clocks.update { $0.append(clock) } }
      registry.register(
        Network.self, scope: .singleton,
        .async { resolver in
          let clock = try resolver.resolve(Clock.self)
          note(clock)
          return Network(clock: clock)
        })
      registry.register(
        Ticket.self,
        .async { resolver in
          // The request is canceled, and the run of the network goes on, because another task awaits it.
          _ = try? await resolver.resolveAsync(Network.self)
          asks.open()
          note(try resolver.resolve())
          return Ticket(1)
        })
      let impatient = Task { try await registry.resolveAsync(Ticket.self) }
      await begun.wait()
      let patient = Task { try await registry.resolveAsync(Network.self) }
      startThread {
        asks.wait()
        for _ in 0..<1000 where made.value == 1 { sched_yield() }
        mayEnd.open()
      }
      impatient.cancel()
      _ = try await impatient.value
      _ = try await patient.value
      #expect(made.value == 1)
      #expect(clocks.value.count == 2 && clocks.value[0] === clocks.value[1])
    }
  }

  @Test("shares a graph value that is still being made for a request that was cancelled")
  func graphValueAfterCancellation() async throws {
    let registry = registry
    let (begun, mayEnd, made, runs) = (AsyncLatch(), AsyncLatch(), Counter(), Counter())
    registry.register(
      Clock.self, scope: .graph,
      .async {
        made.increment()
        begun.open()
        await mayEnd.wait()
        return Clock()
      })
    registry.register(
      Network.self, scope: .singleton,
      .async { resolver in
        runs.increment()
        return Network(clock: try await resolver.resolveAsync())
      })
    registry.register(
      Ticket.self,
      .async { resolver in
        _ = try? await resolver.resolveAsync(Network.self)
        _ = try await resolver.resolveAsync(Clock.self)
        return Ticket(1)
      })
    let impatient = Task { await error(awaiting: Ticket.self, of: registry) }
    await begun.wait()
    let patient = Task { try await registry.resolveAsync(Network.self) }
    for _ in 0..<100 { await Task.yield() }
    impatient.cancel()
    #expect(await impatient.value?.code == .cancelled)
    mayEnd.open()
    _ = try await patient.value
    // A request that didn't join in time begins another run of both.
    #expect(made.value == runs.value)
  }

  @Test("is released if its completion withdraws it, and the request that began it was cancelled")
  func withdrawnInCompletion() async throws {
    let registry = registry
    let (begun, mayEnd, goodbyes) = (AsyncLatch(), AsyncLatch(), Counter())
    let registration = registry.register(
      Farewell.self, scope: .singleton,
      .async {
        begun.open()
        await mayEnd.wait()
        return Farewell { goodbyes.increment() }
      })
    registration.onCompletion { _, _ in registration.unregister() }
    let impatient = Task { await error(awaiting: Farewell.self, of: registry) }
    await begun.wait()
    let patient = Task { _ = try await registry.resolveAsync(Farewell.self) }
    for _ in 0..<100 { await Task.yield() }
    impatient.cancel()
    _ = await impatient.value
    mayEnd.open()
    try await patient.value
    while goodbyes.value == 0 { await Task.yield() }
  }

  @Test("whose registration is withdrawn while it is made is released with earlier requests", arguments: [true, false])
  func withdrawn(isAsync: Bool) async throws {
    let registry = registry
    let (begun, mayEnd) = (AsyncLatch(), AsyncLatch())
    let (threadBegun, threadMayEnd) = (Latch(), Latch())
    let goodbyes = Counter()
    let registration =
      isAsync
      ? registry.register(
        Farewell.self, scope: .singleton,
        .async {
          begun.open()
          await mayEnd.wait()
          return Farewell { goodbyes.increment() }
        })
      : registry.register(Farewell.self, scope: .singleton) {
        threadBegun.open()
        threadMayEnd.wait()
        return Farewell { goodbyes.increment() }
      }
    async let isMade: Bool =
      isAsync
      ? (try? await registry.resolveAsync(Farewell.self)) != nil
      : onThread { (try? registry.resolve(Farewell.self)) != nil }
    if isAsync { await begun.wait() } else { _ = await onThread { threadBegun.wait() } }
    registration.unregister()
    #expect(registry.error(resolving: Farewell.self)?.code == .notRegistered)
    mayEnd.open()
    threadMayEnd.open()
    #expect(await isMade)
    #expect(goodbyes.value == 1)
    withExtendedLifetime(registration) {}
  }
}
