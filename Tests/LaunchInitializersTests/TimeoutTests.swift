import LaunchInitializers
import Support
import SpellTesting
import TestSupport
import Testing

@Suite("Timeouts", .timeLimit(.hang)) struct TimeoutTests {
  let clock = TestClock()
  let journal = Journal()

  private func sequence(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchSequence {
    try LaunchSequence(cancellationGracePeriod: .seconds(2), clock: clock, steps)
  }

  @Test("a step is cancelled at its timeout, and fails")
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

  @Test("a step that ends in time leaves no timer behind")
  func inTime() async throws {
    let launch = try sequence { take(.seconds(1), on: clock).timeout(.seconds(5)) }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    #expect(try await launched.value.entries.map(\.outcome) == [.completed])
    await clock.waitForSleepers(0)
  }

  @Test("each attempt has its own timeout")
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

  @Test("a step that ignores its cancellation is abandoned after the grace period, and named")
  func abandoned() async throws {
    let (gate, isShutDown) = (Gate(), AsyncLatch())
    let launch = try sequence {
      note("log", journal).id("log")
      Do(whenShutDown: {
        journal.note("-stuck")
        isShutDown.open()
      }) { _ in await gate.pass() }.id("stuck").after("log").timeout(.seconds(5))
    }
    let launched = Task { try await launch.launch() }
    await gate.waitForArrival()
    await clock.pass(.seconds(5), .seconds(2))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == .timedOut)
    #expect(error.abandoned == ["stuck"])
    #expect(error.report?.entry("stuck")?.end == .seconds(7))
    let message = "took longer than its timeout of 5 s, then ignored its cancellation for 2 s and was abandoned"
    #expect(error.report?.entry("stuck")?.message == message)
    #expect(journal.entries == ["log", "-log"])
    // When the abandoned step does complete, it is shut down, because nothing else releases what it holds.
    gate.open()
    await isShutDown.wait()
    #expect(journal.entries == ["log", "-log", "-stuck"])
  }

  @Test("the launch goes on without an abandoned step whose policy is to skip")
  func abandonedAndSkipped() async throws {
    let gate = Gate()
    let launch = try sequence {
      Do { _ in await gate.pass() }.id("stuck").timeout(.seconds(5)).onFailure(.skip)
      note("next", journal).id("next").after("stuck")
    }
    let launched = Task { try await launch.launch() }
    await gate.waitForArrival()
    await clock.pass(.seconds(5), .seconds(2))
    let report = try await launched.value
    #expect(report.entries.map(\.outcome) == [.failed, .completed])
    #expect(report.entries.map(\.wasAbandoned) == [true, false])
    gate.open()
  }

  @Test("a step that completes within the grace period counts as completed, and the report says so")
  func late() async throws {
    let gate = Gate()
    let launch = try sequence { Do { _ in await gate.pass() }.timeout(.seconds(5)) }
    let launched = Task { try await launch.launch() }
    await gate.waitForArrival()
    await clock.pass(.seconds(5))
    await clock.waitForSleepers(1)
    gate.open()
    let report = try await launched.value
    #expect(report.entries.map(\.outcome) == [.completed])
    #expect(report.entries.first?.message == "took longer than its timeout of 5 s")
  }

  @Test("a step that ignores an abort is abandoned, and the error names it")
  func abandonedByAbort() async throws {
    let gate = Gate()
    let launch = try sequence {
      Do { _ in await gate.pass() }.id("stuck").after()
      Do { _ in
        await gate.waitForArrival()
        throw Broken()
      }.id("bad").after()
    }
    let launched = Task { try await launch.launch() }
    await clock.advance(through: .seconds(2))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.id == "bad")
    #expect(error.abandoned == ["stuck"])
    gate.open()
  }

  @Test("a step that exceeds its timeout and then fails is reported with its own error")
  func ownError() async throws {
    let launch = try sequence {
      Do { _ in
        do { try await clock.sleep(for: .seconds(60)) } catch { throw Broken(number: 7) }
      }.id("slow").timeout(.seconds(5))
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(5))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == .timedOut)
    #expect(
      error.report?.entries.first?.message == "took longer than its timeout of 5 s, then failed: Broken(number: 7)")
  }

  @Test("a step that exceeds its timeout and then throws SkipInitializer is skipped with both reasons")
  func lateSkip() async throws {
    let launch = try sequence {
      Do { _ in
        do { try await clock.sleep(for: .seconds(60)) } catch { throw SkipInitializer("no key") }
      }.id("slow").timeout(.seconds(5))
    }
    let launched = Task { try await launch.launch() }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(5))
    #expect(try await launched.value.warnings == ["slow (skipped): no key; took longer than its timeout of 5 s"])
  }

  @Test("an abandoned step isn't retried")
  func abandonedIsNotRetried() async throws {
    let gate = Gate()
    let launch = try sequence {
      Do { _ in
        journal.note("try")
        await gate.pass()
      }.id("stuck").timeout(.seconds(5)).onFailure(.retry(3, after: .zero))
    }
    let launched = Task { try await launch.launch() }
    await gate.waitForArrival()
    await clock.pass(.seconds(5))
    await clock.waitForSleeper(until: .seconds(7))
    clock.advance(by: .seconds(2))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.abandoned == ["stuck"])
    #expect(error.report?.entries.map(\.attempts) == [1])
    gate.open()
    #expect(journal.entries == ["try"])
  }

  @Test("a step that exceeds its timeout is reported even if the timer never fires", arguments: [false, true])
  func deafClock(fails: Bool) async throws {
    let clock = DeafClock()
    let launch = try LaunchSequence(clock: clock) {
      Do { _ in
        clock.advance(by: .seconds(7))
        if fails { throw Broken() }
      }.id("slow").timeout(.seconds(5)).onFailure(.skip)
      Do { _ in clock.advance(by: .seconds(5)) }.id("in time").timeout(.seconds(5))
    }
    let report = try await launch.launch()
    let message = "took longer than its timeout of 5 s" + (fails ? ", then failed: Broken(number: 0)" : "")
    #expect(report.entries.map(\.message) == [message, nil])
    #expect(report.entries.map(\.outcome) == [fails ? .failed : .completed, .completed])
  }

  @Test("a step that takes too long to shut down after an abort is named")
  func abandonedInRollback() async throws {
    let gate = Gate()
    let launch = try sequence {
      Do(whenShutDown: { await gate.pass() }) { _ in }.id("up").timeout(.seconds(3))
      Do { _ in
        clock.advance(by: .seconds(1))
        throw Broken()
      }.id("bad")
    }
    let launched = Task { try await launch.launch() }
    await gate.waitForArrival()
    await clock.waitForSleeper(until: .seconds(4))
    clock.advance(by: .seconds(3))
    await clock.waitForSleeper(until: .seconds(6))
    clock.advance(by: .seconds(2))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.id == "bad")
    #expect(error.abandoned == ["up"])
    #expect(error.rollback?.entries.map(\.outcome) == [.failed])
    gate.open()
  }

  @Test(
    "a timeout of centuries is possible, even on a clock that can't wait",
    arguments: [ContinuousClock(), BrokenClock()] as [any Clock<Duration>])
  func centuries(clock: any Clock<Duration>) async throws {
    let launch = try LaunchSequence(
      cancellationGracePeriod: .seconds(Int64.max), clock: clock
    ) {
      Do { _ in try await Task.sleep(for: .milliseconds(20)) }.timeout(.seconds(Int64.max))
    }
    #expect(try await launch.launch().entries.map(\.outcome) == [.completed])
  }

  @Test("a step that awaits its own launch in a detached task is abandoned")
  func detachedReentry() async throws {
    let box = Box<LaunchSequence>()
    let inner = Box<Task<Void, any Error>>()
    let hasBegun = AsyncLatch()
    let launch = try sequence {
      Do { _ in
        let launch = try #require(box.value.withLock { $0 })
        let task = Task.detached { _ = try await launch.launch() }
        inner.value.withLock { $0 = task }
        hasBegun.open()
        try await task.value
      }.id("step").timeout(.seconds(5))
    }
    box.value.withLock { $0 = launch }
    let launched = Task { try await launch.launch() }
    await hasBegun.wait()
    await clock.pass(.seconds(5))
    await clock.waitForSleeper(until: .seconds(7))
    clock.advance(by: .seconds(2))
    let error = try await #require(throws: LaunchError.self) { try await launched.value }
    #expect(error.code == .timedOut)
    #expect(error.abandoned == ["step"])
    let task = try #require(inner.value.withLock { $0 })
    await #expect(throws: LaunchError.self) { try await task.value }
  }
}

/// A clock on which every sleep throws.
private struct BrokenClock: Clock {
  var now: ContinuousClock.Instant { .now }
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { throw Broken() }
}

/// A clock that a test advances, and that never wakes a task.
private final class DeafClock: Clock, Sendable {
  typealias Instant = TestClock.Instant
  private let offset = Lock(Duration.zero)
  var now: Instant { Instant(offset: offset.withLock { $0 }) }
  var minimumResolution: Duration { .nanoseconds(1) }
  func advance(by duration: Duration) { offset.withLock { $0 += duration } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let (stream, end) = AsyncStream<Never>.makeStream()
    defer { end.finish() }
    for await _ in stream {}
    try Task.checkCancellation()
  }
}
