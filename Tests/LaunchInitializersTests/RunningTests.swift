import LaunchInitializers
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

/// A service that runs the test's closure.
private struct Service: RunningInitializer {
  let journal: Journal
  let body: @Sendable (Int) async throws -> Void
  let runs = Counter()

  func perform(with configuration: any Configurable) async throws { journal.note("up") }
  func run(_ configuration: any Configurable) async throws {
    let run = runs.increment()
    journal.note("run \(run)")
    try await body(run)
  }
  func shutDown() async { journal.note("down") }
}

let untilCancelled: @Sendable (Int) async throws -> Void = { _ in
  let (stream, end) = AsyncStream<Never>.makeStream()
  defer { end.finish() }
  for await _ in stream {}
}

@Suite("Running services", .timeLimit(.hang)) struct RunningTests {
  let clock = TestClock()
  let journal = Journal()

  private func sequence(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchSequence {
    try LaunchSequence(clock: clock, log: { _ in }, steps)
  }

  @Test("a service begins after its setup, and is cancelled before its shutdown")
  func life() async throws {
    let isRunning = AsyncLatch()
    let launch = try sequence {
      Service(journal: journal) {
        isRunning.open()
        try await untilCancelled($0)
        journal.note("cancelled")
      }.id("server")
      note("after", journal).id("after").requires("server")
    }
    try await launch.launch()
    await isRunning.wait()
    await launch.shutDown()
    #expect(journal.entries.filter { $0 != "after" } == ["up", "run 1", "-after", "cancelled", "down"])
  }

  @Test("a service is restarted after growing pauses, and ends the sequence when it exits too often")
  func restart() async throws {
    let launch = try sequence {
      Service(journal: journal) { throw Broken(number: $0) }.id("server").onExit(
        .restart(
          max: 2, within: .seconds(60), backoff: .exponential(from: .milliseconds(100), to: .seconds(1))))
    }
    let events = launch.events
    try await launch.launch()
    for pause in [100, 200] {
      await clock.waitForSleeper(until: clock.now.offset + .milliseconds(pause))
      #expect(!launch.isReady)
      clock.advance(by: .milliseconds(pause))
    }
    var kinds: [LaunchEvent.Kind] = []
    for await event in events where event.phase == .running {
      kinds.append(event.kind)
      #expect(event.id == "server")
    }
    #expect(
      kinds == [
        .serviceBegan(run: 1), .serviceReady, .serviceRestarting(after: .milliseconds(100)), .serviceBegan(run: 2),
        .serviceReady, .serviceRestarting(after: .milliseconds(200)), .serviceBegan(run: 3), .serviceReady,
        .serviceEnded,
      ])
    #expect(journal.entries == ["up", "run 1", "run 2", "run 3", "down"])
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .serviceFailed)
    #expect(error.id == "server")
    #expect(error.underlying as? Broken == Broken(number: 1))
    #expect(error.errors.map { $0 as? Broken } == [1, 2, 3].map { Broken(number: $0) })
  }

  @Test("a service that runs longer than the window has all its restarts again")
  func window() async throws {
    let isRunning = AsyncLatch()
    let launch = try sequence {
      Service(journal: journal) { run in
        if run <= 4 {
          try await clock.sleep(for: .seconds(61))
          throw Broken(number: run)
        }
        isRunning.open()
        try await untilCancelled(run)
      }.onExit(.restart(max: 1, within: .seconds(60), backoff: .constant(.seconds(1))))
    }
    try await launch.launch()
    for _ in 0..<4 {
      await clock.waitForSleeper(until: clock.now.offset + .seconds(61))
      clock.advance(by: .seconds(61))
      await clock.waitForSleeper(until: clock.now.offset + .seconds(1))
      clock.advance(by: .seconds(1))
    }
    await isRunning.wait()
    await launch.shutDown()
  }

  @Test("a service that returns unasked has failed, during the launch and after it", arguments: [false, true])
  func returns(isSlow: Bool) async throws {
    let gate = AsyncLatch()
    let launch = try sequence {
      Service(journal: journal) { _ in if isSlow { await gate.wait() } }.id("server")
    }
    let running = Task { await launch.run(on: []) }
    if isSlow {
      try await launch.launch()
      gate.open()
    }
    #expect(await running.value == 1)
    #expect(launch.failure?.code == .serviceFailed)
    #expect(launch.failure?.id == "server")
    #expect(launch.failure?.underlying == nil)
    #expect(journal.entries == ["up", "run 1", "down"])
  }

  @Test(
    "a service that is to end goes on to nothing when it returns, and fails with an error", arguments: [false, true])
  func finish(fails: Bool) async throws {
    let launch = try sequence {
      Service(journal: journal) { _ in if fails { throw Broken(number: 3) } }.id("task").onExit(.finish)
    }
    let events = launch.events
    let running = Task { await launch.run(on: []) }
    for await event in events where event.kind == .serviceEnded { break }
    if !fails { await launch.shutDown() }
    #expect(await running.value == (fails ? 1 : 0))
    #expect(launch.failure?.underlying as? Broken == (fails ? Broken(number: 3) : nil))
  }

  @Test("a service whose policy is to ignore its exit may fail, and its error is reported")
  func ignore() async throws {
    let launch = try sequence {
      Service(journal: journal) { _ in throw Broken(number: 5) }.id("server").onExit(.ignore)
    }
    let events = launch.events
    try await launch.launch()
    for await event in events where event.kind == .serviceEnded { break }
    #expect(launch.isReady)
    #expect(launch.report?.entries.first?.errors.first as? Broken == Broken(number: 5))
    #expect(await launch.shutDown().entries.map(\.outcome) == [.completed])
  }

  @Test("a service that fails ends a run with its error")
  func fails() async throws {
    let launched = AsyncLatch()
    let launch = try sequence {
      Service(journal: journal) { _ in
        await launched.wait()
        throw Broken(number: 7)
      }.id("server")
    }
    let running = Task { await launch.run(on: []) }
    try await launch.launch()
    launched.open()
    #expect(await running.value == 1)
    #expect(launch.failure?.code == .serviceFailed)
    #expect(launch.failure?.underlying as? Broken == Broken(number: 7))
  }

  @Test("a service that fails during the launch aborts the launch")
  func failsDuringLaunch() async throws {
    let launch = try sequence {
      Service(journal: journal) { _ in throw Broken() }.id("server")
      Do { _ in try await clock.sleep(for: .seconds(60)) }.id("slow").after("server")
    }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .serviceFailed)
    #expect(error.id == "server")
    #expect(journal.entries == ["up", "run 1", "down"])
  }

  @Test("what a service throws while it is stopped is in the report of the shutdown, and the exit code is 1")
  func failsWhenStopped() async throws {
    let launch = try sequence {
      Service(journal: journal) {
        try await untilCancelled($0)
        throw Broken(number: 9)
      }.id("queue")
    }
    let running = Task { await launch.run(on: []) }
    try await launch.launch()
    let report = await launch.shutDown()
    #expect(report.entries.map(\.outcome) == [.failed])
    #expect(report.entries[0].message?.contains("Broken(number: 9)") == true)
    #expect(await running.value == 1)
    #expect(journal.entries == ["up", "run 1", "down"])
  }

  @Test("a service that ignores its cancellation is left behind, and what it uses isn't shut down")
  func deaf() async throws {
    let gate = Gate()
    let launch = try sequence {
      Service(journal: journal) { _ in await gate.pass() }.id("server").stopTimeout(.seconds(3))
    }
    try await launch.launch()
    await gate.waitForArrival()
    let shutDown = Task { await launch.shutDown() }
    await clock.advance(through: .seconds(3), .seconds(4))
    #expect(await shutDown.value.entries.map(\.wasAbandoned) == [true])
    #expect(journal.entries == ["up", "run 1"])
    gate.open()
  }

  @Test("a service whose stop() ignores its cancellation is left behind, and the exit code is 1")
  func hangingStop() async throws {
    struct Hangs: RunningInitializer {
      let gate: Gate
      func run(_ configuration: any Configurable) async throws { try await untilCancelled(0) }
      func stop() async { await gate.pass() }
    }
    let gate = Gate()
    let launch = try sequence { Hangs(gate: gate).id("server").stopTimeout(.seconds(3)) }
    let events = launch.events
    let running = Task { await launch.run(on: []) }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown() }
    await gate.waitForArrival()
    await clock.advance(through: .seconds(3))
    for await event in events where event.kind == .serviceEnded { break }
    await clock.advance(through: .seconds(4))
    let entry = await shutDown.value.entries[0]
    let cutOff = "its service did not end within its stop timeout of 3 s and was cancelled"
    #expect(entry.message == "\(cutOff); its stop() ignored its cancellation for 1 s and was abandoned")
    #expect(entry.outcome == .failed && entry.wasAbandoned)
    #expect(await running.value == 1)
    gate.open()
  }

  @Test("a service that shuts the sequence down doesn't wait for itself")
  func fromInside() async throws {
    let box = Box<LaunchSequence>()
    let launch = try sequence {
      Service(journal: journal) {
        await box.value.withLock { $0 }?.shutDown()
        try await untilCancelled($0)
      }
    }
    box.value.withLock { $0 = launch }
    do { try await launch.launch() } catch {}
    await launch.shutDown()
    #expect(journal.entries == ["up", "run 1", "down"])
  }

  @Test("a type can create a service and run it")
  func serviceThatRuns() async throws {
    struct Server: ServiceInitializer, RunningInitializer {
      func makeService(with configuration: any Configurable) async throws -> Int { 8080 }
      func run(_ configuration: any Configurable) async throws { try await untilCancelled(1) }
    }
    let registry = InitializerRegistry()
    try await registry.run {
      let launch = try LaunchSequence { Server().id("server") }
      try await launch.launch()
      #expect(try registry.resolve(Int.self) == 8080)
      await launch.shutDown()
      #expect(throws: InjectionError.self) { try registry.resolve(Int.self) }
    }
  }
}

/// A server that reports when it is ready, and ends when it is asked to.
private struct Server: ReadyInitializer {
  let journal: Journal
  let hasBegun = AsyncLatch()
  let mayServe = AsyncLatch()
  let mayEnd = AsyncLatch()
  var fails = false

  func perform(with configuration: any Configurable) async throws {}
  func run(_ service: RunningService) async throws {
    hasBegun.open()
    await mayServe.wait()
    if fails { throw Broken(number: 4) }
    journal.note("ready")
    service.ready()
    service.ready()
    await mayEnd.wait()
    journal.note(Task.isCancelled ? "cancelled" : "ended")
  }
  func stop() async {
    journal.note("stop")
    mayEnd.open()
  }
  func shutDown() async { journal.note("down") }
}

@Suite("Ready services", .timeLimit(.hang)) struct ReadyTests {
  let clock = TestClock()
  let journal = Journal()

  @Test("steps that wait for a service wait until it is ready, and it ends without being cancelled when it is asked to")
  func life() async throws {
    let server = Server(journal: journal)
    let launch = try LaunchSequence(clock: clock) {
      server.id("http")
      note("after", journal).after("http")
      Do { _ in server.mayServe.open() }.after()
    }
    try await launch.launch()
    #expect(journal.entries == ["ready", "after"])
    #expect(launch.isReady)
    await launch.shutDown()
    #expect(journal.entries == ["ready", "after", "-after", "stop", "ended", "down"])
  }

  @Test(
    "a service that isn't ready within its timeout fails the launch, or is gone on without", arguments: [false, true])
  func timeout(skips: Bool) async throws {
    let server = Server(journal: journal)
    server.mayEnd.open()
    let launch = try LaunchSequence(clock: clock) {
      let step = server.id("http").timeout(.seconds(5))
      skips ? step.onFailure(.skip) : step
      note("after", journal).after("http")
    }
    let launched = Task { try await launch.launch() }
    await server.hasBegun.wait()
    await clock.waitForSleeper(until: .seconds(5))
    clock.advance(by: .seconds(5))
    await clock.waitForSleeper(until: .seconds(6))
    server.mayServe.open()
    if skips {
      #expect(try await launched.value.entries.map(\.outcome) == [.failed, .completed])
    } else {
      let error = try await #require(throws: LaunchError.self) { try await launched.value }
      #expect(error.code == .timedOut)
      #expect(error.report?.entries.first?.message == "was not ready within its timeout of 5 s")
    }
    await launch.shutDown()
    #expect(journal.entries.last == "down")
  }

  @Test("a service that fails before it is ready fails the launch with its error")
  func fails() async throws {
    var server = Server(journal: journal)
    server.fails = true
    server.mayServe.open()
    let launch = try LaunchSequence(clock: clock) {
      server.id("http")
      note("after", journal).after("http")
    }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .serviceFailed)
    #expect(error.underlying as? Broken == Broken(number: 4))
    #expect(journal.entries == ["down"])
  }

  @Test("run(_:) with a configuration runs the service for a test")
  func alone() async throws {
    let server = Server(journal: journal)
    server.mayServe.open()
    server.mayEnd.open()
    try await server.run(NoConfiguration())
    #expect(journal.entries == ["ready", "ended"])
  }
}
