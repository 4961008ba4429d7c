import Foundation
@testable import LaunchInitializers
import SpellTesting
import Support
import TestSupport
import Testing

@Suite("Shutdown", .timeLimit(.hang)) struct ShutDownTests {
  let journal = Journal()

  @Test("completed steps are shut down in reverse order, once for all callers")
  func reverse() async throws {
    let launch = try LaunchSequence {
      for number in 0..<5 { note("\(number)", journal) }
      Do { _ in throw SkipInitializer("nothing") }
    }
    try await launch.launch()
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { await launch.shutDown().entries.count } }
      for await count in group { #expect(count == 5) }
    }
    #expect(journal.entries.suffix(5) == ["-4", "-3", "-2", "-1", "-0"])
    #expect(journal.entries.count == 10)
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .shutDown)
  }

  @Test("independent steps are shut down concurrently")
  func backwards() async throws {
    let (gate, journal) = (AsyncLatch(), journal)
    let launch = try LaunchSequence {
      note("log", journal).id("log")
      Do(whenShutDown: {
        await gate.wait()
        journal.note("-slow")
      }) { _ in }.id("slow").after("log")
      Do(whenShutDown: {
        journal.note("-fast")
        gate.open()
      }) { _ in }.id("fast").after("log")
    }
    try await launch.launch()
    let report = await launch.shutDown()
    #expect(journal.entries == ["log", "-fast", "-slow", "-log"])
    #expect(report.entries.map(\.id) == ["fast", "slow", "log"])
    #expect(report.entries.last?.waitedFor.sorted() == ["fast", "slow"])
  }

  @Test("a step that hangs without a timeout is left behind after ten seconds, and the others go on")
  func hanging() async throws {
    let (clock, gate) = (TestClock(), Gate())
    let launch = try LaunchSequence(clock: clock) {
      note("a", journal).id("a")
      Do(whenShutDown: { await gate.pass() }) { _ in }.id("hangs")
    }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown() }
    await gate.waitForArrival()
    await clock.advance(through: .seconds(10), .seconds(11))
    let report = await shutDown.value
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.entries.map(\.wasAbandoned) == [true, false])
    #expect(journal.entries == ["a", "-a"])
    gate.open()
  }

  @Test("two steps that hang leave time within the shutdown's limit for the step that they need")
  func hangingInARow() async throws {
    let (clock, gates) = (TestClock(), [Gate(), Gate()])
    let launch = try LaunchSequence(clock: clock) {
      note("a", journal).id("a")
      for (number, gate) in gates.enumerated() {
        Do(whenShutDown: { await gate.pass() }) { _ in }.id("hangs \(number)").stopTimeout(.seconds(60))
      }
    }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown(within: .seconds(20)) }
    await clock.advance(through: .seconds(14), .seconds(15), .milliseconds(17_750), .milliseconds(18_750))
    let report = await shutDown.value
    #expect(report.entries.map(\.outcome) == [.failed, .failed, .completed])
    #expect(journal.entries == ["a", "-a"])
    for gate in gates { gate.open() }
  }

  @Test("a rollback that hangs leaves time within the shutdown's limit for the steps that are up")
  func hangingRollback() async throws {
    let (clock, gate) = (TestClock(), Gate())
    let launch = try LaunchSequence(clock: clock, log: { _ in }) {
      note("a", journal).id("a")
      Do { _ in throw Broken() }.id("fails").onRollback { await gate.pass() }.stopTimeout(.seconds(60))
    }
    let launched = Task { try await launch.launch() }
    await clock.advance(through: .seconds(14), .seconds(15))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.rollback?.entries.map(\.outcome) == [.completed])
    #expect(journal.entries == ["a", "-a"])
    gate.open()
  }

  @Test("the undoing of an abandoned attempt that hangs leaves time within the limit of a shutdown that begins later")
  func hangingUndo() async throws {
    let (clock, attempt, undo) = (TestClock(), Gate(), Gate())
    let launch = try LaunchSequence(clock: clock, log: { _ in }) {
      note("a", journal).id("a")
      Do(whenShutDown: { await undo.pass() }) { _ in await attempt.pass() }
        .id("slow").timeout(.seconds(1)).stopTimeout(.seconds(60)).onFailure(.skip)
    }
    let launched = Task { try await launch.launch() }
    await clock.advance(through: .seconds(1), .seconds(2))
    _ = try await launched.value
    attempt.open()
    await undo.waitForArrival()
    let shutDown = Task { await launch.shutDown(within: .seconds(8)) }
    await clock.advance(through: .seconds(7), .seconds(8))
    #expect(await shutDown.value.entries.map(\.outcome) == [.failed, .completed])
    #expect(journal.entries == ["a", "-a"])
    undo.open()
  }

  @Test("a step is cancelled at its stop timeout, and counts as completed if it then returns")
  func stopTimeout() async throws {
    let clock = TestClock()
    let launch = try LaunchSequence(clock: clock) {
      Do(whenShutDown: { do { try await clock.sleep(for: .seconds(60)) } catch {} }) { _ in }.id("slow")
        .timeout(.seconds(1)).stopTimeout(.seconds(3))
    }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown() }
    await clock.waitForSleeper(until: .seconds(60))
    await clock.waitForSleeper(until: .seconds(3))
    clock.advance(by: .seconds(3))
    #expect(await shutDown.value.warnings == ["slow (completed): took longer than its timeout of 3 s"])
  }

  @Test("the limit of a shutdown cancels steps under way, and the others are reported as not run")
  func limit() async throws {
    let (clock, lines, isLogged) = (TestClock(), Journal(), AsyncLatch())
    let log: @Sendable (String) -> Void = { line in
      lines.note(line)
      if line.contains("did not run") { isLogged.open() }
    }
    let launch = try LaunchSequence(clock: clock, log: log) {
      note("a", journal).id("a")
      Do(whenShutDown: { do { try await clock.sleep(for: .seconds(60)) } catch {} }) { _ in }.id("slow")
        .stopTimeout(.seconds(50))
    }
    let running = Task { await launch.run(on: [], shutDownWithin: .seconds(100)) }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown(within: .seconds(20)) }
    await clock.waitForSleeper(until: .seconds(20))
    await clock.waitForSleeper(until: .seconds(60))
    // The shortest limit counts.
    let sooner = Task { await launch.shutDown(within: .seconds(5)) }
    await clock.waitForSleeper(until: .seconds(5))
    clock.advance(by: .seconds(5))
    let report = await shutDown.value
    #expect(report.entries.map(\.outcome) == [.completed, .notRun])
    #expect(report.entries[1].message == "not shut down within 5 s")
    #expect(await sooner.value.entries.count == 2)
    #expect(journal.entries == ["a"])
    // The exit code is 1, and there is no failure, so the log has the reason.
    #expect(await running.value == 1)
    #expect(launch.failure == nil)
    await isLogged.wait()
    // On a busy machine, the log may also say that the shutdown waits for a step.
    #expect(
      lines.entries.filter { !$0.contains("still waiting") } == [
        "shutDown: began: shutDown() was called", "shutDown: a did not run: not shut down within 5 s",
      ])
  }

  @Test("a sequence that was shut down can't be launched")
  func before() async throws {
    let launch = try LaunchSequence { note("a", journal) }
    #expect(await launch.shutDown().entries.isEmpty)
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .shutDown)
    #expect(journal.entries.isEmpty)
  }

  @Test("a shutdown during the launch ends the launch, and shuts completed steps down")
  func during() async throws {
    let (clock, isRunning) = (TestClock(), AsyncLatch())
    let launch = try LaunchSequence(clock: clock) {
      note("a", journal)
      Do { _ in
        isRunning.open()
        try await clock.sleep(for: .seconds(60))
      }
    }
    let launched = Task { try await launch.launch() }
    await isRunning.wait()
    #expect(await launch.shutDown().entries.map(\.id) == ["Do"])
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == .shutDown)
    #expect(journal.entries == ["a", "-a"])
  }

  @Test("a step that shuts the sequence down ends the launch, and doesn't wait for itself")
  func fromInside() async throws {
    let box = Box<LaunchSequence>()
    let launch = try LaunchSequence {
      note("a", journal)
      Do { _ in await box.value.withLock { $0 }?.shutDown() }
      note("late", journal)
    }
    box.value.withLock { $0 = launch }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .shutDown)
    await launch.shutDown()
    #expect(journal.entries == ["a", "-a"])
    // No caller takes the answer to the step's call.
    #expect(launch.state.withLock { $0.answers.isEmpty })
  }

  @Test("a step that exceeds its timeout at the shutdown is left behind, and the others go on")
  func timeout() async throws {
    let (clock, gate) = (TestClock(), Gate())
    let launch = try LaunchSequence(clock: clock) {
      note("a", journal).id("a")
      Do(whenShutDown: { await gate.pass() }) { _ in }.id("stuck").timeout(.seconds(3))
    }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown() }
    await gate.waitForArrival()
    await clock.waitForSleeper(until: .seconds(3))
    clock.advance(by: .seconds(3))
    await clock.waitForSleeper(until: .seconds(4))
    clock.advance(by: .seconds(1))
    let report = await shutDown.value
    #expect(report.entries.map(\.id) == ["stuck", "a"])
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.entries.map(\.end) == [.seconds(4), .seconds(4)])
    #expect(journal.entries == ["a", "-a"])
    gate.open()
  }

  @Test("a shutdown that races with a launch and a foreground pass leaves no step up")
  func race() async throws {
    for round in 0..<50 {
      let journal = Journal()
      let launch = try LaunchSequence {
        for number in 0..<20 {
          Do(wantsForeground: true, whenShutDown: { journal.note("down \(number)") }) { _ in
            if round % 2 == 0 { await Task.yield() }
            journal.note("up \(number)")
          }.id("\(number)").after()
        }
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { do { try await launch.launch() } catch {} }
        group.addTask {
          await launch.enterBackground()
          await launch.enterForeground()
        }
        group.addTask { await launch.shutDown() }
      }
      let entries = journal.entries
      for number in 0..<20 {
        let isUp = entries.contains("up \(number)")
        #expect(entries.count { $0 == "down \(number)" } == (isUp ? 1 : 0))
      }
    }
  }
}
