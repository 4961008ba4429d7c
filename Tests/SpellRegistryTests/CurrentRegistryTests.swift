import SpellRegistry
import Support
import TestSupport
import Testing

/// An executor whose jobs run when a thread takes them out, like those of a main run loop that an initializer runs.
private final class Loop: SerialExecutor {
  private let jobs = Lock<[UnownedJob]>([])
  private let arrivals = AsyncStream<Void>.makeStream()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    arrivals.continuation.yield()
  }

  func waitForJob() async { for await _ in arrivals.stream { return } }

  func run() {
    let jobs = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}

private actor Guest {
  nonisolated let loop: Loop
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
  init(on loop: Loop) { self.loop = loop }
  func run<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result { try body() }
}

@Suite("A task that runs on the thread of another task's initializer", .timeLimit(.hang)) struct CurrentRegistryTests {
  let registry = InitializerRegistry()

  /// Returns the result of a body that another task runs while an initializer of the registry runs on its thread.
  private func inLoop<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    let loop = Loop()
    let guest = Guest(on: loop)
    let task = Task.detached { try await guest.run(body) }
    await loop.waitForJob()
    registry.register(Network.self, scope: .graph) { resolver in
      let clock: Clock = try resolver.resolve()
      loop.run()
      return Network(clock: clock)
    }
    _ = try registry.resolve(Network.self)
    return try await task.value
  }

  @Test("doesn't have the initializer's registry")
  func runLoop() async throws {
    registry.register { Clock() }
    #expect(try await inLoop { InitializerRegistry.current === InitializerRegistry.shared })
  }

  @Test("may ask for what the initializer makes")
  func sameService() async throws {
    registry.register { Clock() }
    let registry = registry
    _ = try await inLoop { try registry.resolve(Network.self) }
  }

  @Test("begins a resolution of its own")
  func resolution() async throws {
    let count = Counter()
    registry.register(Clock.self, scope: .graph) {
      count.increment()
      return Clock()
    }
    let registry = registry
    _ = try await inLoop { try registry.resolve(Clock.self) }
    #expect(count.value == 2)
  }

  @Test("has its hooks called, even if the initializer's hook runs it")
  func hooks() async throws {
    let (loop, count) = (Loop(), Counter())
    let guest = Guest(on: loop)
    registry.register(Clock.self) { Clock() }.onInjection { _, _ in
      count.increment()
      loop.run()
    }
    let registry = registry
    let task = Task.detached { try await guest.run { try registry.resolve(Clock.self) } }
    await loop.waitForJob()
    _ = try registry.resolve(Clock.self)
    _ = try await task.value
    #expect(count.value == 2)
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @Test("has the registry of its own run, if the initializer started it at once")
  func immediate() async throws {
    let other = InitializerRegistry()
    registry.register(Task<[Bool], Never>.self) {
      Task.immediate {
        let before = InitializerRegistry.current === InitializerRegistry.shared
        let inRun = await other.run { () async in InitializerRegistry.current === other }
        await Task.yield()
        return [before, inRun, InitializerRegistry.current === InitializerRegistry.shared]
      }
    }
    #expect(try await registry.resolve(Task<[Bool], Never>.self).value == [true, true, true])
  }
}
