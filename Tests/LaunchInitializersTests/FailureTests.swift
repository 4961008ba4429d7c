import LaunchInitializers
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

@Suite("Failing steps", .timeLimit(.hang)) struct FailureTests {
  let clock = TestClock()
  let journal = Journal()

  private func sequence(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchSequence {
    try LaunchSequence(clock: clock, steps)
  }

  @Test(
    "a failing step cancels running steps, shuts completed steps down in reverse order, and keeps the others from running"
  )
  func abort() async throws {
    let isRunning = AsyncLatch()
    let launch = try sequence {
      note("log", journal).id("log")
      note("db", journal).id("db").after("log")
      Do { _ in
        isRunning.open()
        do { try await clock.sleep(for: .seconds(60)) } catch {
          journal.note("cancelled")
          throw error
        }
      }.id("slow").after("db")
      Do { _ in
        await isRunning.wait()
        throw Broken()
      }.id("bad").after("db")
      note("late", journal).id("late").after("bad")
    }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .stepFailed)
    #expect(error.id == "bad")
    #expect(error.underlying as? Broken == Broken())
    #expect(error.description.contains("\"bad\" failed"))
    #expect(journal.entries == ["log", "db", "cancelled", "-db", "-log"])
    let report = try #require(error.report)
    #expect(report.entries.map(\.id) == ["log", "db", "slow", "bad", "late"])
    #expect(report.entries.map(\.outcome) == [.completed, .completed, .failed, .failed, .notRun])
    #expect(report.entry("slow")?.message == "cancelled")
    #expect(error.abandoned.isEmpty)
    await #expect(throws: LaunchError.self) { try await launch.launch() }
    #expect(journal.entries.count == 5)
  }

  @Test("a step that waits for an async service and is cancelled has no error of its own", .registry)
  func cancelledRequest() async throws {
    let isAwaited = AsyncLatch()
    InitializerRegistry.current.register(
      Int.self, scope: .singleton,
      .async { [clock] in
        isAwaited.open()
        try await clock.sleep(for: .seconds(60))
        return 1
      })
    let launch = try sequence {
      Do { _ in _ = try await InitializerRegistry.current.resolveAsync(Int.self) }.id("waiting").after()
      Do { _ in
        await isAwaited.wait()
        throw Broken()
      }.id("bad").after()
    }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.errors.map { $0 is Broken } == [true])
    #expect(error.report?.entry("waiting")?.message == "cancelled")
    #expect(error.report?.entry("waiting")?.errors.isEmpty == true)
  }

  @Test("a step is reported as not run, and never as failed, if the launch is aborted before it begins")
  func unbegun() async throws {
    for _ in 0..<500 {
      let began = AsyncLatch()
      let launch = try LaunchSequence(log: { _ in }) {
        Do { _ in throw Broken() }.id("bad").after()
        Do { _ in
          began.open()
          try Task.checkCancellation()
        }.id("other").after()
      }
      let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
      let other = try #require(error.report?.entry("other"))
      #expect((other.outcome == .notRun) == !began.isOpen)
      #expect(other.attempts == (began.isOpen ? 1 : 0))
    }
  }

  @Test("a failing step whose policy is to skip is reported with its error, and the launch goes on")
  func skip() async throws {
    let launch = try sequence {
      Do { _ in throw Broken(number: 7) }.id("bad").onFailure(.skip)
      note("next", journal).id("next").after("bad")
    }
    let report = try await launch.launch()
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.warnings == ["bad (failed): Broken(number: 7)"])
    await launch.shutDown()
    #expect(journal.entries == ["next", "-next"])
  }

  @Test("the log has each failed step, even one whose error says that something was cancelled")
  func logged() async throws {
    enum Payment: Error { case cancelled }
    let (journal, isLogged) = (Journal(), AsyncLatch())
    let log: @Sendable (String) -> Void = { line in
      journal.note(line)
      if line.contains("failed") { isLogged.open() }
    }
    let launch = try LaunchSequence(log: log) { Do { _ in throw Payment.cancelled }.id("pay") }
    #expect(await launch.run(on: []) == 1)
    await isLogged.wait()
    // On a busy machine, the log may also say that the launch waits for a step.
    #expect(journal.entries.filter { !$0.contains("still waiting") } == ["launch: pay failed: cancelled"])
  }

  @Test("an error's description can ask the sequence")
  func description() async throws {
    struct Asks: Error, CustomStringConvertible {
      let box: Box<LaunchSequence>
      var description: String { "ready: \(box.value.withLock { $0 }?.isReady ?? false)" }
    }
    let box = Box<LaunchSequence>()
    let launch = try LaunchSequence(log: { _ in }) {
      Do { _ in throw Asks(box: box) }.id("asks").onFailure(.skip).onRollback { throw Asks(box: box) }
    }
    box.value.withLock { $0 = launch }
    #expect(try await launch.launch().warnings == ["asks (failed): ready: false; its rollback failed: ready: false"])
    box.value.withLock { $0 = nil }
  }

  @Test("a step that throws SkipInitializer is skipped with a warning, and is neither retried nor a reason to abort")
  func nothingToDo() async throws {
    let launch = try sequence {
      Do { configuration in
        guard configuration.value(for: "Crash", key: "ApiKey") != nil else { throw SkipInitializer("no ApiKey") }
      }.id("crash").onFailure(.retry(3, after: .seconds(1)))
    }
    let report = try await launch.launch()
    #expect(report.warnings == ["crash (skipped): no ApiKey"])
    #expect(report.entries.map(\.attempts) == [1])
  }

  @Test("a step is retried after a pause, and its duration includes all attempts")
  func retry() async throws {
    let launch = try sequence {
      Do { _ in
        try await clock.sleep(for: .seconds(1))
        journal.note("try")
        if journal.entries.count < 3 { throw Broken() }
      }.id("net").onFailure(.retry(2, after: .seconds(10)))
    }
    let launched = Task { try await launch.launch() }
    for pause in [1, 10, 1, 10, 1] {
      await clock.pass(.seconds(pause))
    }
    let report = try await launched.value
    let entry = try #require(report.entries.first)
    #expect(entry.outcome == .completed)
    #expect(entry.attempts == 3)
    #expect((entry.start, entry.end) == (.zero, .seconds(23)))
    #expect(entry.message == nil)
  }

  private enum Trace {
    @TaskLocal static var id = "none"
  }

  @Test("a retry has the task-local values of the launch's caller")
  func retryContext() async throws {
    let launch = try LaunchSequence(clock: ContinuousClock()) {
      Do { _ in
        journal.note(Trace.id)
        if journal.entries.count == 1 { throw Broken() }
      }.id("net").onFailure(.retry(1, after: .milliseconds(1)))
      Do { _ in journal.note(Trace.id) }.id("next")
    }
    try await Trace.$id.withValue("mine") { _ = try await launch.launch() }
    #expect(journal.entries == ["mine", "mine", "mine"])
  }

  @Test("a step aborts the launch when no retry is left")
  func retriesUsedUp() async throws {
    let launch = try sequence {
      Do { _ in
        journal.note("try")
        throw Broken(number: journal.entries.count)
      }.id("net").onFailure(.retry(2, after: .zero))
    }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.underlying as? Broken == Broken(number: 1))
    #expect(error.errors.map { $0 as? Broken } == [1, 2, 3].map { Broken(number: $0) })
    #expect(error.report?.entries.map(\.attempts) == [3])
  }

  @Test(
    "a step with the policies to retry and to skip is retried and then skipped, in either order of the policies",
    arguments: [false, true])
  func retryThenSkip(skipFirst: Bool) async throws {
    let launch = try sequence {
      let bad = Do { _ in throw Broken() }
      (skipFirst
        ? bad.onFailure(.skip).onFailure(.retry(2, after: .zero))
        : bad.onFailure(.retry(2, after: .zero)).onFailure(.skip)).id("bad")
      note("next", journal).id("next").after("bad")
    }
    let report = try await launch.launch()
    #expect(report.entries.map(\.attempts) == [3, 1])
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
  }

  @Test("a step is retried with pauses that grow to a limit, only after the errors that its policy accepts")
  func exponential() async throws {
    let launch = try sequence {
      Do { _ in
        journal.note("\(clock.now.offset / .milliseconds(1))")
        throw Broken(number: journal.entries.count)
      }.id("net").onFailure(
        .retry(
          .exponential(from: .milliseconds(100), to: .milliseconds(300)), times: 9,
          if: { ($0 as? Broken)?.number != 5 }, then: .skip))
    }
    let launched = Task { try await launch.launch() }
    for pause in [100, 200, 300, 300] {
      await clock.pass(.milliseconds(pause))
    }
    let report = try await launched.value
    #expect(journal.entries == ["0.0", "100.0", "300.0", "600.0", "900.0"])
    #expect(report.entries.map(\.outcome) == [.failed])
    #expect(report.warnings == ["net (failed): Broken(number: 5)"])
  }

  @Test("jitter only shortens the pauses before retries")
  func jitter() async throws {
    for _ in 0..<20 {
      let clock = TestClock()
      let launch = try LaunchSequence(clock: clock) {
        Do { _ in throw Broken() }.onFailure(
          .retry(.exponential(from: .seconds(10), to: .seconds(10), jitter: 0.2), times: 1, then: .skip))
      }
      let launched = Task { try await launch.launch() }
      await clock.waitForSleepers(1)
      let deadline = try #require(clock.deadlines.first?.offset)
      #expect(deadline >= .seconds(8) && deadline <= .seconds(10))
      clock.advance(by: deadline)
      #expect(try await launched.value.entries.map(\.attempts) == [2])
    }
  }

  @Test("an abort ends a step that waits for its next attempt")
  func abortDuringPause() async throws {
    let launch = try LaunchSequence(maxConcurrentSteps: 1, clock: clock) {
      Do { _ in throw Broken(number: 1) }.id("net").after().onFailure(.retry(1, after: .seconds(60)))
      Do { _ in throw Broken(number: 2) }.id("bad").after()
    }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.id == "bad")
    #expect(error.report?.entry("net")?.outcome == .failed)
    #expect(error.report?.entry("net")?.message == "Broken(number: 1)")
    await clock.waitForSleepers(0)
  }

  @Test("of many steps that fail at the same time, one gives the error, and each completed step is shut down once")
  func race() async throws {
    for _ in 0..<20 {
      let journal = Journal()
      let launch = try LaunchSequence(maxConcurrentSteps: 64) {
        for number in 0..<100 {
          Do(whenShutDown: { journal.note("down") }) { _ in
            if number % 10 == 9 { throw Broken() }
            journal.note("up")
          }.id("\(number)").after()
        }
      }
      let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
      #expect(error.code == .stepFailed)
      #expect(journal.entries.count { $0 == "up" } == journal.entries.count { $0 == "down" })
      #expect(error.report?.entries.count { $0.outcome == .completed } == journal.entries.count { $0 == "up" })
    }
  }

  @Test("the end of a launch cancels the pause before a retry, and no timer is left", arguments: [0, 1, 2])
  func pauseIsCancelled(reason: Int) async throws {
    let (gate, attempts, clock) = (AsyncLatch(), Counter(), clock)
    let launch = try sequence {
      Do { _ in
        attempts.increment()
        throw Broken(number: 1)
      }.id("pausing").after().onFailure(.retry(1, after: .seconds(60)))
      Do { _ in
        await gate.wait()
        if reason == 0 { throw Broken(number: 2) }
      }.id("other").after().onFailure(reason == 0 ? .abort : .skip)
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleeper(until: .seconds(60))
    if reason == 1 { launched.cancel() }
    if reason == 2 { Task { await launch.shutDown() } }
    gate.open()
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == [.stepFailed, .cancelled, .shutDown][reason])
    #expect(error.report?.entry("pausing")?.outcome == .failed)
    #expect(error.report?.entry("pausing")?.message == "Broken(number: 1)")
    while !clock.deadlines.isEmpty { await Task.yield() }
    #expect(attempts.value == 1)
  }
}
