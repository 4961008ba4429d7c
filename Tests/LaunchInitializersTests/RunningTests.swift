import LaunchInitializers
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

@Suite("Running services", .timeLimit(.minutes(10))) struct RunningTests {
  let clock = TestClock()
  let journal = Journal()

  /// Does what a test says, for as long as it says.
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

  private func sequence(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchSequence {
    try LaunchSequence(configuration: NoConfiguration(), clock: clock, steps)
  }

  private static let untilCancelled: @Sendable (Int) async throws -> Void = { _ in
    let (stream, end) = AsyncStream<Never>.makeStream()
    defer { end.finish() }
    for await _ in stream {}
  }

  @Test("a service begins after its setup, and is cancelled before its shut-down")
  func life() async throws {
    let began = AsyncLatch()
    let launch = try sequence {
      Service(journal: journal) {
        began.open()
        try await Self.untilCancelled($0)
        journal.note("cancelled")
      }.id("server")
      Do(whenShutDown: { journal.note("-after") }) { _ in await began.wait() }.id("after").requires("server")
    }
    try await launch.launch()
    await launch.shutDown()
    #expect(journal.entries == ["up", "run 1", "-after", "cancelled", "down"])
  }

  @Test("a service is restarted after growing pauses, and shuts the sequence down when it exits too often")
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
      #expect(
        await launch.health().steps.first?.health
          == .unhealthy("isn't running: it failed: Broken(number: \(pause / 100))"))
      clock.advance(by: .milliseconds(pause))
    }
    var kinds: [LaunchEvent.Kind] = []
    for await event in events where event.phase == .running {
      kinds.append(event.kind)
      #expect(event.id == "server")
    }
    #expect(
      kinds == [
        .serviceBegan(run: 1), .serviceRestarting(after: .milliseconds(100)), .serviceBegan(run: 2),
        .serviceRestarting(after: .milliseconds(200)), .serviceBegan(run: 3), .serviceEnded,
      ])
    #expect(journal.entries == ["up", "run 1", "run 2", "run 3", "down"])
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .serviceFailed)
    #expect(error.id == "server")
    #expect(error.underlying as? Broken == Broken(number: 3))
  }

  @Test("a service that runs longer than the window has all its restarts again")
  func window() async throws {
    let launch = try sequence {
      Service(journal: journal) { run in
        if run <= 4 {
          try await clock.sleep(for: .seconds(61))
          throw Broken(number: run)
        }
        try await Self.untilCancelled(run)
      }.onExit(.restart(max: 1, within: .seconds(60), backoff: .constant(.seconds(1))))
    }
    try await launch.launch()
    for _ in 0..<4 {
      await clock.waitForSleeper(until: clock.now.offset + .seconds(61))
      clock.advance(by: .seconds(61))
      await clock.waitForSleeper(until: clock.now.offset + .seconds(1))
      clock.advance(by: .seconds(1))
    }
    while journal.entries.last != "run 5" { await Task.yield() }
    #expect(launch.isReady)
    await launch.shutDown()
  }

  @Test("a service that returns shuts the sequence down, without an error")
  func returns() async throws {
    let launch = try sequence { Service(journal: journal) { _ in } }
    do {
      #expect(try await launch.run(on: [LaunchSignal(rawValue: 23)]) == 0)
    } catch let error as LaunchError {
      // It was over before the launch was.
      #expect(error.code == .shutDown)
    }
    #expect(journal.entries.last == "down")
  }

  @Test("a service that fails ends a run with its error")
  func fails() async throws {
    let (launched, journal) = (AsyncLatch(), journal)
    let launch = try sequence {
      Service(journal: journal) { _ in
        await launched.wait()
        throw Broken(number: 7)
      }.id("server")
    }
    let running = Task { try await launch.run(on: [LaunchSignal(rawValue: 23)]) }
    try await launch.launch()
    launched.open()
    let error = try await #require(throws: LaunchError.self) { try await running.value }
    #expect(error.code == .serviceFailed)
    #expect(error.underlying as? Broken == Broken(number: 7))
  }

  @Test("a service that fails during the launch aborts the launch")
  func failsDuringLaunch() async throws {
    let journal = journal
    let launch = try sequence {
      Service(journal: journal) { _ in throw Broken() }.id("server")
      Do { _ in try await clock.sleep(for: .seconds(60)) }.id("slow").after("server")
    }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .serviceFailed)
    #expect(error.id == "server")
    #expect(journal.entries == ["up", "run 1", "down"])
  }

  @Test("a service whose policy is to ignore its exit is unhealthy after it")
  func ignore() async throws {
    let launch = try sequence { Service(journal: journal) { _ in }.id("server").onExit(.ignore) }
    try await launch.launch()
    while await launch.health().isHealthy { await Task.yield() }
    #expect(await launch.health().steps.map(\.health) == [.unhealthy("isn't running: it returned")])
    #expect(launch.isReady)
    await launch.shutDown()
  }

  @Test("a service that ignores its cancellation is left behind at its stop timeout")
  func deaf() async throws {
    let (gate, began) = (AsyncLatch(), AsyncLatch())
    let launch = try sequence {
      Service(journal: journal) { _ in
        began.open()
        await gate.wait()
      }.id("server").stopTimeout(.seconds(3))
    }
    try await launch.launch()
    await began.wait()
    let shutDown = Task { await launch.shutDown() }
    await clock.waitForSleeper(until: .seconds(3))
    clock.advance(by: .seconds(3))
    await clock.waitForSleeper(until: .seconds(4))
    clock.advance(by: .seconds(1))
    #expect(await shutDown.value.entries.map(\.wasAbandoned) == [true])
    gate.open()
  }

  @Test("a service that shuts the sequence down doesn't wait for itself")
  func fromInside() async throws {
    let box = Box<LaunchSequence>()
    let launch = try sequence {
      Service(journal: journal) {
        await box.value.withLock { $0 }?.shutDown()
        try await Self.untilCancelled($0)
      }
    }
    box.value.withLock { $0 = launch }
    do { try await launch.launch() } catch {}
    await launch.shutDown()
    #expect(journal.entries == ["up", "run 1", "down"])
  }

  @Test("services that exit all the time are each shut down once, and don't run afterwards")
  func manyEnds() async throws {
    for _ in 0..<50 {
      let (journal, ends) = (Journal(), Counter())
      let launch = try LaunchSequence(configuration: NoConfiguration()) {
        for number in 0..<4 {
          Service(journal: journal) { _ in
            await Task.yield()
            ends.increment()
            throw Broken()
          }.id("\(number)").after().onExit(.restart(max: 5, within: .seconds(60), backoff: .constant(.zero)))
        }
      }
      do { try await launch.launch() } catch {}
      await launch.shutDown()
      #expect(journal.entries.count { $0 == "up" } == journal.entries.count { $0 == "down" })
      let after = ends.value
      await Task.yield()
      #expect(ends.value == after)
    }
  }

  @Test("a type can create a service and run it")
  func serviceThatRuns() async throws {
    struct Server: ServiceInitializer, RunningInitializer {
      func makeService(with configuration: any Configurable) async throws -> Int { 8080 }
      func run(_ configuration: any Configurable) async throws { try await RunningTests.untilCancelled(1) }
    }
    let registry = InitializerRegistry()
    try await registry.run {
      let launch = try LaunchSequence(configuration: NoConfiguration()) { Server().id("server") }
      try await launch.launch()
      #expect(try registry.resolve(Int.self) == 8080)
      await launch.shutDown()
      #expect(!registry.isRegistered(Int.self))
    }
  }

  @Test("a step that asks for the report of the deferred steps gets an empty one")
  func deferredReportInAStep() async throws {
    let reports = Journal()
    let launches = LaunchReference()
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      Do { _ in reports.note("\(await launches.launch?.deferredReport().entries.count ?? -1)") }.id("asks")
      Do { _ in }.id("later").deferred()
    }
    launches.set(launch)
    try await launch.launch()
    #expect(reports.entries == ["0"])
    #expect(await launch.deferredReport().entries.count == 1)
  }
}

private final class LaunchReference: Sendable {
  private let stored = Lock<LaunchSequence?>(nil)
  var launch: LaunchSequence? { stored.withLock { $0 } }
  func set(_ launch: LaunchSequence) { stored.withLock { $0 = launch } }
}
