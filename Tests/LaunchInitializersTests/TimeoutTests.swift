import LaunchInitializers
import SpellTesting
import Testing

@Suite("A step that takes too long", .timeLimit(.minutes(1))) struct TimeoutTests {
  let clock = TestClock()
  let journal = Journal()

  private func sequence(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchSequence {
    try LaunchSequence(configuration: NoConfiguration(), grace: .seconds(2), clock: clock, steps)
  }

  @Test("is cancelled at its timeout and fails")
  func timeout() async throws {
    let launch = try sequence { take(.seconds(60), on: clock).id("slow").timeout(.seconds(5)) }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(5))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == .timedOut)
    #expect(error.id == "slow")
    #expect(error.report?.entries.map(\.end) == [.seconds(5)])
    #expect(error.report?.entries.first?.message == "took longer than its timeout of 5 s")
    #expect(error.abandoned.isEmpty)
  }

  @Test("leaves no timer behind when it is in time")
  func inTime() async throws {
    let launch = try sequence { take(.seconds(1), on: clock).timeout(.seconds(5)) }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    #expect(try await launched.value.entries.map(\.outcome) == [.completed])
    await clock.waitForSleepers(0)
  }

  @Test("is tried again with a timeout of its own")
  func retry() async throws {
    let launch = try sequence {
      Do { _ in
        journal.note("try")
        if journal.entries.count == 1 { try await clock.sleep(for: .seconds(60)) }
      }.timeout(.seconds(5)).onFailure(.retry(1, after: .seconds(1)))
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(5))
    await clock.waitForSleeper(until: .seconds(6))
    clock.advance(by: .seconds(1))
    let report = try await launched.value
    #expect(report.entries.map(\.attempts) == [2])
    #expect(report.entries.map(\.end) == [.seconds(6)])
  }

  @Test("and ignores its cancellation is abandoned after the grace, and named")
  func abandoned() async throws {
    let (gate, isShutDown) = (Gate(), Gate())
    let launch = try sequence {
      note("log", journal).id("log")
      Do(whenShutDown: {
        journal.note("-stuck")
        isShutDown.open()
      }) { _ in await gate.pass() }.id("stuck").after("log").timeout(.seconds(5))
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == .timedOut)
    #expect(error.abandoned == ["stuck"])
    #expect(error.report?.entry("stuck")?.end == .seconds(7))
    #expect(error.report?.entry("stuck")?.message == "ignored its cancellation for 2 s and was abandoned")
    #expect(journal.entries == ["log", "-log"])
    // When it does complete in the end, nobody else will give up what it holds.
    gate.open()
    await isShutDown.pass()
    #expect(journal.entries == ["log", "-log", "-stuck"])
  }

  @Test("and is skipped lets the others go on when it is abandoned")
  func abandonedAndSkipped() async throws {
    let gate = Gate()
    let launch = try sequence {
      Do { _ in await gate.pass() }.id("stuck").timeout(.seconds(5)).onFailure(.skip)
      note("next", journal).id("next").after("stuck")
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    let report = try await launched.value
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.entries.map(\.wasAbandoned) == [true, false])
    gate.open()
  }

  @Test("but completes within the grace counts as completed, and the report says so")
  func late() async throws {
    let gate = Gate()
    let launch = try sequence { Do { _ in await gate.pass() }.timeout(.seconds(5)) }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    await clock.waitForSleepers(1)
    gate.open()
    let report = try await launched.value
    #expect(report.entries.map(\.outcome) == [.completed])
    #expect(report.entries.first?.message == "took longer than its timeout of 5 s")
  }

  @Test("after an abort is abandoned too, and the error names it")
  func abandonedByAbort() async throws {
    let (gate, isRunning) = (Gate(), Gate())
    let launch = try sequence {
      Do { _ in
        isRunning.open()
        await gate.pass()
      }.id("stuck").after()
      Do { _ in
        await isRunning.pass()
        throw Broken()
      }.id("bad").after()
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(2))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.id == "bad")
    #expect(error.abandoned == ["stuck"])
    gate.open()
  }
}
