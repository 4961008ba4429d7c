import LaunchInitializers
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

@Suite("Lazy steps", .registry, .timeLimit(.minutes(10))) struct LazyStepTests {
  final class Index: Sendable {
    let number: Int
    init(number: Int) { self.number = number }
  }

  /// Creates an index, whose number is that of the call.
  struct IndexInitializer: ServiceInitializer {
    let journal: Journal
    var again = false
    var body: @Sendable (Int) async throws -> Void = { _ in }
    let calls = Counter()

    func makeService(with configuration: any Configurable) async throws -> Index {
      let call = calls.increment()
      journal.note("make \(call)")
      try await body(call)
      return Index(number: call)
    }
    func shouldPerformWhenApplicationEntersForeground() async -> Bool { again }
    func health() async -> StepHealth { .degraded("small") }
    func shutDown() async {
      let index: Index? = try? InitializerRegistry.current.resolve()
      journal.note("down \(index?.number ?? 0)")
    }
  }

  let clock = TestClock()
  let journal = Journal()

  private func sequence(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchSequence {
    try LaunchSequence(configuration: NoConfiguration(), clock: clock, steps)
  }

  private func resolve() async throws -> Index { try await InitializerRegistry.current.resolveAsync() }

  private func error() async throws -> InjectionError {
    let registry = InitializerRegistry.current
    return try await #require(throws: InjectionError.self) { try await registry.resolveAsync(Index.self) }
  }

  @Test("a lazy step is performed once, at the first resolve of its service")
  func first() async throws {
    let launch = try sequence { IndexInitializer(journal: journal).id("index").lazily() }
    let report = try await launch.launch()
    #expect(report.entries.map(\.outcome) == [.notRun])
    #expect(report.entries.map(\.attempts) == [0])
    #expect(report.timeline().contains("not run: performed when its service is first resolved"))
    #expect(journal.entries.isEmpty)
    let early = #expect(throws: InjectionError.self) { try InitializerRegistry.current.resolve(Index.self) }
    #expect(early?.code == .notReady)

    let registry = InitializerRegistry.current
    let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<20 { group.addTask { try await registry.resolveAsync(Index.self).number } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(numbers == Array(repeating: 1, count: 20))
    #expect(try registry.resolve(Index.self).number == 1)
    #expect(journal.entries == ["make 1"])
  }

  @Test("a performed lazy step is asked for its health and shut down, and the registration that it replaced comes back")
  func life() async throws {
    InitializerRegistry.current.register { Index(number: -1) }
    let launch = try sequence {
      IndexInitializer(journal: journal).id("index").lazily()
      note("user", journal).id("user").requires("index")
    }
    try await launch.launch()
    #expect(await launch.health().steps.map(\.id) == ["user"])
    _ = try await resolve()
    #expect(await launch.health().steps.map(\.id) == ["index", "user"])
    let report = await launch.shutDown()
    #expect(report.entries.map(\.id) == ["user", "index"])
    #expect(journal.entries == ["user", "make 1", "-user", "down 1"])
    #expect(try InitializerRegistry.current.resolve(Index.self).number == -1)
  }

  @Test("a lazy step that was never performed isn't shut down, and its service can't be resolved afterwards")
  func never() async throws {
    let launch = try sequence {
      IndexInitializer(journal: journal).lazily()
      note("other", journal)
    }
    try await launch.launch()
    await launch.shutDown()
    #expect(journal.entries == ["other", "-other"])
    #expect(try await error().code == .notRegistered)
  }

  @Test("a step of the launch can resolve a lazy service, and the report has the times of the lazy step")
  func duringLaunch() async throws {
    let launch = try sequence {
      IndexInitializer(journal: journal) { [clock] _ in try await clock.sleep(for: .seconds(3)) }.id("index").lazily()
      Do { _ in
        try await clock.sleep(for: .seconds(1))
        _ = try await resolve()
      }.id("user").requires("index")
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleeper(until: .seconds(1))
    clock.advance(by: .seconds(1))
    await clock.waitForSleeper(until: .seconds(4))
    clock.advance(by: .seconds(3))
    let report = try await launched.value
    #expect(report.entries.map(\.outcome) == [.completed, .completed])
    #expect(report.entry("index")?.start == .seconds(1))
    #expect(report.entry("index")?.end == .seconds(4))
    #expect(report.entry("index")?.attempts == 1)
  }

  @Test(
    "a failing lazy step gives its error to the callers, aborts nothing, and is performed again for the next caller")
  func fails() async throws {
    let launch = try sequence {
      IndexInitializer(journal: journal) { if $0 == 1 { throw Broken(number: 7) } }.id("index").lazily()
    }
    try await launch.launch()
    let error = try await error()
    #expect(error.code == .initializerFailed)
    let failure = try #require(error.underlying as? LaunchError)
    #expect(failure.id == "index")
    #expect(failure.code == .stepFailed)
    #expect(failure.underlying as? Broken == Broken(number: 7))
    #expect(launch.isReady)
    #expect(try await resolve().number == 2)
  }

  @Test("a lazy step has retries, a timeout and events")
  func policies() async throws {
    let launch = try sequence {
      IndexInitializer(journal: journal) { [clock] call in
        if call == 1 { throw Broken() }
        try await clock.sleep(for: .seconds(60))
      }.id("index").timeout(.seconds(5)).onFailure(.retry(1, after: .seconds(2))).lazily()
    }
    let events = launch.events
    try await launch.launch()
    let registry = InitializerRegistry.current
    let resolved = Task { try await registry.resolveAsync(Index.self) }
    await clock.waitForSleeper(until: .seconds(2))
    clock.advance(by: .seconds(2))
    await clock.waitForSleeper(until: .seconds(7))
    clock.advance(by: .seconds(5))
    let error = try await #require(throws: InjectionError.self) { try await resolved.value }
    #expect((error.underlying as? LaunchError)?.code == .timedOut)
    await launch.shutDown()
    let lines = await events.reduce(into: [String]()) { if $1.phase == .lazy { $0.append("\($1)") } }
    #expect(
      lines == [
        "lazy: began", "lazy: index began", "lazy: index failed, next attempt in 2 s: Broken(number: 0)",
        "lazy: index began, attempt 2", "lazy: index failed: took longer than its timeout of 5 s",
        "lazy: ended after 7 s",
      ])
  }

  @Test("a skipped lazy step gives its reason to the callers, and a step whose condition doesn't hold has no service")
  func skipped() async throws {
    struct Other: ServiceInitializer {
      func makeService(with configuration: any Configurable) async throws -> Int { 7 }
    }
    let launch = try sequence {
      IndexInitializer(journal: journal) { _ in throw SkipInitializer("no disk") }.lazily()
      Other().lazily().when { _ in false }
      Other().id("elsewhere").lazily().only(in: .production)
    }
    let report = try await launch.launch()
    #expect(report.entries.map(\.outcome) == [.notRun, .skipped, .skipped])
    #expect((try await error().underlying as? SkipInitializer)?.reason == "no disk")
    let registry = InitializerRegistry.current
    let missing = await #expect(throws: InjectionError.self) { try await registry.resolveAsync(Int.self) }
    #expect(missing?.code == .notRegistered)
  }

  @Test("a lazy step that resolves its own service or calls its launch gets an error")
  func reentry() async throws {
    let box = Box<LaunchSequence>()
    let registry = InitializerRegistry.current
    let launch = try sequence {
      IndexInitializer(journal: journal) { call in
        if call == 1 { _ = try await registry.resolveAsync(Index.self) }
        try await box.value.withLock { $0 }?.launch()
      }.lazily()
    }
    box.value.withLock { $0 = launch }
    try await launch.launch()
    let cycle = try await error()
    #expect((cycle.underlying as? LaunchError).flatMap { $0.underlying as? InjectionError }?.code == .cycle)
    #expect(try await resolve().number == 2)
  }

  @Test("a lazy step runs again at the foreground only if it was performed")
  func foreground() async throws {
    let launch = try sequence { IndexInitializer(journal: journal, again: true).id("index").lazily() }
    try await launch.launch()
    for expected in [[], ["index"]] {
      await launch.enterBackground()
      #expect(await launch.enterForeground().entries.map(\.id) == expected)
      if expected.isEmpty { _ = try await resolve() }
    }
    #expect(try InitializerRegistry.current.resolve(Index.self).number == 2)
    await launch.shutDown()
    #expect(journal.entries == ["make 1", "make 2", "down 2"])
    #expect(try await error().code == .notRegistered)
  }

  @Test("a lazy step can be deferred, and deferred steps can require it")
  func deferred() async throws {
    let launch = try sequence {
      IndexInitializer(journal: journal).id("index").lazily().deferred()
      Do { _ in journal.note("index \(try await resolve().number)") }.id("user").requires("index").deferred()
      note("also", journal).id("also").requires("index").deferred()
    }
    try await launch.launch()
    let report = await launch.deferredReport()
    #expect(report.entries.map(\.outcome) == [.notRun, .completed, .completed])
    await launch.shutDown()
    #expect(journal.entries.contains("index 1") && journal.entries.contains("down 1"))
  }

  @Test("a shut-down or a failing launch ends a lazy step under way", arguments: [false, true])
  func stopped(launchFails: Bool) async throws {
    let (began, journal) = (AsyncLatch(), journal)
    let launch = try sequence {
      IndexInitializer(journal: journal) { [clock] _ in
        began.open()
        try await clock.sleep(for: .seconds(60))
      }.id("index").lazily()
      Do { _ in _ = try await resolve() }.id("user").requires("index")
      Do { _ in
        await began.wait()
        if launchFails { throw Broken() }
        try await clock.sleep(for: .seconds(60))
      }.id("bad").after("index")
    }
    let launched = Task { try await launch.launch() }
    await began.wait()
    if !launchFails { await launch.shutDown() }
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == (launchFails ? .stepFailed : .shutDown))
    #expect(error.abandoned.isEmpty)
    #expect(journal.entries == ["make 1"])
    #expect(try await self.error().code == .notRegistered)
  }

  @Test("a lazy step that is resolved during a failing launch or a shut-down is shut down if it completed")
  func races() async throws {
    for round in 0..<200 {
      let (up, down) = (Counter(), Counter())
      struct Part: ServiceInitializer {
        let (up, down): (Counter, Counter)
        func makeService(with configuration: any Configurable) async throws -> Index {
          await Task.yield()
          try Task.checkCancellation()
          return Index(number: up.increment())
        }
        func shutDown() async { down.increment() }
      }
      let registry = InitializerRegistry()
      let launch = try LaunchSequence(configuration: NoConfiguration(), cancellationGracePeriod: .seconds(60)) {
        Part(up: up, down: down).id("lazy").lazily()
        Do(whenShutDown: { down.increment() }) { _ in up.increment() }.id("step").after("lazy")
        if round % 3 == 0 { Do { _ in throw Broken() }.after("step") }
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { do { _ = try await registry.run { try await launch.launch() } } catch {} }
        group.addTask {
          for _ in 0..<round % 7 { await Task.yield() }
          for _ in 0..<5 { do { _ = try await registry.resolveAsync(Index.self) } catch {} }
        }
        group.addTask {
          for _ in 0..<round % 11 { await Task.yield() }
          if round % 2 == 0 { await launch.shutDown() }
        }
      }
      await launch.shutDown()
      #expect(up.value == down.value)
    }
  }
}
