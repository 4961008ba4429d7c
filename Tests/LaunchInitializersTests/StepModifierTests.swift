import LaunchInitializers
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

@Suite("Modifiers", .timeLimit(.hang)) struct StepModifierTests {
  let clock = TestClock()
  let journal = Journal()

  @Test("a step that fails is rolled back before each retry and before the launch aborts")
  func rollback() async throws {
    let launch = try LaunchSequence {
      note("up", journal)
      Do { _ in
        journal.note("half")
        throw Broken()
      }.id("bad").onFailure(.retry(1, after: .zero)).onRollback { journal.note("undone") }
      Do { _ in throw SkipInitializer("nothing") }.onRollback { journal.note("never") }
    }
    await #expect(throws: LaunchError.self) { try await launch.launch() }
    #expect(journal.entries == ["up", "half", "undone", "half", "undone", "-up"])
  }

  @Test("a rollback that fails is in the step's message, and its error beside the step's")
  func rollbackFails() async throws {
    let launch = try LaunchSequence(log: { _ in }) {
      Do { _ in throw Broken(number: 1) }.id("bad").onRollback { throw Broken(number: 2) }
    }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    let message = "Broken(number: 1); its rollback failed: Broken(number: 2)"
    #expect(error.report?.entry("bad")?.message == message)
    #expect(error.errors.map { $0 as? Broken } == [Broken(number: 1), Broken(number: 2)])
  }

  @Test("a rollback that is cancelled at its time limit is in the step's message, and its cancellation is no error")
  func rollbackCancelled() async throws {
    let launch = try LaunchSequence(clock: clock, log: { _ in }) {
      Do { _ in throw Broken() }.id("bad").stopTimeout(.seconds(3)).onRollback { [clock] in
        try await clock.sleep(for: .seconds(60))
      }
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleeper(until: .seconds(60))
    await clock.waitForSleeper(until: .seconds(3))
    clock.advance(by: .seconds(3))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.report?.entry("bad")?.message == "Broken(number: 0); its rollback was cancelled")
    #expect(error.errors.count == 1)
  }

  @Test("a deferred step begins after the launch, and is shut down like any other")
  func deferred() async throws {
    let gate = AsyncLatch()
    let launch = try LaunchSequence {
      Do { _ in
        await gate.wait()
        journal.note("later")
      }.id("later").deferred()
      note("a", journal).id("a")
      note("latest", journal).id("latest").deferred()
      Do { _ in throw Broken() }.id("bad").after("latest").deferred()
      note("needs bad", journal).id("needs bad").requires("bad").deferred()
      note("b", journal).id("b")
    }
    let events = launch.events
    let report = try await launch.launch()
    #expect(report.entries.map(\.id) == ["a", "b", "later", "latest", "bad", "needs bad"])
    #expect(report.entries.map(\.outcome) == [.completed, .completed, .notRun, .notRun, .notRun, .notRun])
    #expect(journal.entries == ["a", "b"])
    #expect(launch.isReady)
    gate.open()
    for await event in events where event.id == "needs bad" && event.phase == .deferred { break }
    let deferred = launch.report?.entries.suffix(4).map(\.outcome)
    #expect(deferred == [.completed, .completed, .failed, .skipped])
    await launch.shutDown()
    #expect(journal.entries.prefix(4) == ["a", "b", "later", "latest"])
    // The two chains of steps are shut down concurrently.
    let ends = journal.entries.dropFirst(4)
    #expect(ends.filter { $0 != "-latest" } == ["-b", "-a"])
    #expect(ends.contains("-latest"))
  }

  @Test("a shutdown at any time ends the deferred steps")
  func deferredRace() async throws {
    for round in 0..<100 {
      let (up, down) = (Counter(), Counter())
      let launch = try LaunchSequence {
        for number in 0..<6 {
          let step = Do(whenShutDown: { down.increment() }) { _ in
            if round % 2 == 0 { await Task.yield() }
            up.increment()
          }.id("\(number)").after()
          number < 3 ? step : step.deferred()
        }
      }
      async let launched: Void = {
        do { try await launch.launch() } catch {}
      }()
      for _ in 0..<round % 13 { await Task.yield() }
      await launch.shutDown()
      await launched
      #expect(up.value == down.value)
    }
  }

  @Test("a step of the launch can't wait for a deferred step")
  func deferredDependency() throws {
    let error = #expect(throws: LaunchPlanError.self) {
      try LaunchSequence {
        note("later", journal).id("later").deferred()
        note("a", journal).id("a").after("later")
      }
    }
    #expect(error?.code == .deferredDependency)
    #expect(error?.path == ["a", "later"])
    #expect(error?.description.contains("Add .deferred() to \"a\"") == true)
  }

  @Test("the report is there from the end of the launch on")
  func report() async throws {
    let launch = try LaunchSequence { note("only", journal).id("only") }
    #expect(launch.report == nil)
    try await launch.launch()
    #expect(launch.report?.entries.map(\.id) == ["only"])
    await launch.shutDown()
    #expect(launch.report?.entries.map(\.id) == ["only"])
  }

  @Test("there is no report of a launch that failed but in its error")
  func noReport() async throws {
    let launch = try LaunchSequence {
      Do { _ in throw CancellationError() }.id("only")
    }
    let error = await #expect(throws: LaunchError.self) { try await launch.launch() }
    #expect(launch.report == nil)
    #expect(error?.report?.entries.map(\.outcome) == [.failed])
  }
}
