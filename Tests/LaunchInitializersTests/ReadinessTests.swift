@testable import LaunchInitializers
import SpellTesting
import Support
import TestSupport
import Testing

/// A service whose run calls the test's closure.
private struct Server: ReadyInitializer {
  var whenStopped: (@Sendable () async -> Void)?
  let runs = Counter()
  let body: @Sendable (RunningService, Int) async throws -> Void

  init(
    stop: (@Sendable () async -> Void)? = nil, _ body: @escaping @Sendable (RunningService, Int) async throws -> Void
  ) {
    (whenStopped, self.body) = (stop, body)
  }

  func run(_ service: RunningService) async throws { try await body(service, runs.increment()) }
  func stop() async {
    if let whenStopped { await whenStopped() } else { StepContext.cancelService() }
  }
}

/// Tests of the start of a service, which is an attempt of its step, with the step's policy and timeout.
@Suite("Starts of services", .timeLimit(.hang)) struct ReadinessTests {
  let clock = TestClock()
  let journal = Journal()

  private func sequence(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchSequence {
    try LaunchSequence(configuration: NoConfiguration(), clock: clock, log: { _ in }, steps)
  }

  @Test("the launch goes on without a service that throws or returns before it is ready", arguments: [false, true])
  func skip(throwsError: Bool) async throws {
    let launch = try sequence {
      Server { _, _ in if throwsError { throw Broken(number: 1) } }.id("metrics").onFailure(.skip)
      note("next", journal).id("next")
      note("never", journal).id("never").requires("metrics")
    }
    let report = try await launch.launch()
    #expect(report.entries.map(\.outcome) == [.failed, .completed, .skipped])
    #expect(launch.isReady)
    let what = throwsError ? "failed: Broken(number: 1)" : "returned without being asked to"
    #expect(report.entries[0].message == "its service \(what)")
    #expect(await launch.shutDown().entries.map(\.outcome) == [.completed, .completed])
  }

  @Test("a service that throws before it is ready runs again, and its setup doesn't")
  func retry() async throws {
    let server = Server { service, run in
      if run < 3 { throw Broken(number: run) }
      service.ready()
      try await untilCancelled(run)
    }
    let launch = try sequence { server.id("http").onFailure(.retry(2, after: .seconds(5))) }
    let launching = Task { try await launch.launch() }
    await clock.advance(through: .seconds(5), .seconds(10))
    let report = try await launching.value
    #expect(report.entries.map(\.outcome) == [.completed])
    #expect(report.entries[0].attempts == 3)
    #expect(report.entries[0].message == nil)
    #expect(report.entries[0].errors.map { $0 as? Broken } == [1, 2].map { Broken(number: $0) })
    await launch.shutDown()
    #expect(server.runs.value == 3)
  }

  @Test("a launch is aborted when a service has failed before it was ready as often as it may")
  func abort() async throws {
    let server = Server { _, run in throw Broken(number: run) }
    let launch = try sequence { server.id("http").onFailure(.retry(1, after: .zero)) }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect(error.code == .serviceFailed)
    #expect(error.errors.map { $0 as? Broken } == [1, 2].map { Broken(number: $0) })
    #expect(server.runs.value == 2)
  }

  @Test("a service that isn't ready in time is cancelled and runs again")
  func late() async throws {
    let hasBegun = AsyncLatch()
    let server = Server { service, run in
      hasBegun.open()
      if run == 2 { service.ready() }
      try await untilCancelled(run)
    }
    let launch = try sequence {
      server.id("http").timeout(.seconds(3)).onFailure(.retry(1, after: .seconds(7)))
    }
    let launching = Task { try await launch.launch() }
    await hasBegun.wait()
    await clock.advance(through: .seconds(3), .seconds(10))
    #expect(try await launching.value.entries[0].attempts == 2)
    await launch.shutDown()
  }

  @Test("a restarted service has the step's timeout again to become ready")
  func restart() async throws {
    let (mayFail, isRestarted) = (AsyncLatch(), AsyncLatch())
    let server = Server { service, run in
      if run == 2 { isRestarted.open() } else { service.ready() }
      if run == 1 {
        await mayFail.wait()
        throw Broken()
      }
      try await untilCancelled(run)
    }
    let launch = try sequence {
      server.id("feed").timeout(.seconds(3)).onExit(
        .restart(max: 2, within: .seconds(100), backoff: .constant(.seconds(2))))
    }
    let events = launch.events
    try await launch.launch()
    mayFail.open()
    await clock.advance(through: .seconds(2))
    await isRestarted.wait()
    await clock.advance(through: .seconds(5), .seconds(7))
    var messages: [String?] = []
    for await event in events {
      if case .serviceRestarting = event.kind { messages.append(event.message) }
      if event.kind == .serviceReady, messages.count == 2 { break }
    }
    #expect(messages == ["failed: Broken(number: 0)", "was not ready within its timeout of 3 s"])
    #expect(launch.isReady)
    await launch.shutDown()
  }

  @Test("a service that wasn't ready when the launch was aborted has its stop timeout, and not the rest of its start")
  func stopTimeout() async throws {
    let (isAsked, mayFail, mayEnd) = (AsyncLatch(), AsyncLatch(), AsyncLatch())
    let launch = try sequence {
      Server(stop: { isAsked.open() }) { _, _ in
        mayFail.open()
        await mayEnd.wait()
        journal.note(Task.isCancelled ? "cancelled" : "ended")
      }.id("server").timeout(.seconds(2)).stopTimeout(.seconds(9)).after()
      Do { _ in
        await mayFail.wait()
        throw Broken()
      }.id("bad").after()
    }
    let running = Task { await launch.run(on: []) }
    await isAsked.wait()
    await clock.waitForSleeper(until: .seconds(9), within: .seconds(300))
    clock.advance(by: .seconds(8))
    mayEnd.open()
    #expect(await running.value == 1)
    #expect(journal.entries == ["ended"])
  }

  @Test("a service that is cut off at its stop timeout is reported as failed, and the exit code is 1")
  func cutOff() async throws {
    let launch = try sequence {
      Server(stop: {}) { service, run in
        service.ready()
        try await untilCancelled(run)
      }.id("http").stopTimeout(.seconds(4))
    }
    let running = Task { await launch.run(on: []) }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown() }
    await clock.advance(through: .seconds(4))
    let entry = await shutDown.value.entries[0]
    #expect(entry.outcome == .failed)
    #expect(entry.message == "its service did not end within its stop timeout of 4 s and was cancelled")
    #expect(await running.value == 1)
  }

  @Test("a program stays ready while the service of a deferred step begins")
  func deferred() async throws {
    let mayBegin = AsyncLatch()
    let launch = try sequence {
      note("http", journal).id("http")
      Server { service, run in
        await mayBegin.wait()
        service.ready()
        try await untilCancelled(run)
      }.id("reports").deferred()
    }
    let events = launch.events
    try await launch.launch()
    #expect(launch.isReady)
    for await event in events where event.kind == .serviceBegan(run: 1) { break }
    #expect(launch.isReady)
    mayBegin.open()
    await launch.shutDown()
  }

  @Test("each of many services is asked to end at once, however few steps may run concurrently")
  func asked() async throws {
    let (allAsked, count) = (AsyncLatch(opensAfter: 5), 5)
    let launch = try LaunchSequence(configuration: NoConfiguration(), maxConcurrentSteps: 1, clock: clock) {
      for number in 0..<count {
        // Each service ends only after all services have been asked to end.
        Server(stop: { allAsked.open() }) { service, _ in
          service.ready()
          await allAsked.wait()
        }.id("\(number)").after()
      }
    }
    try await launch.launch()
    #expect(await launch.shutDown().entries.map(\.outcome) == Array(repeating: .completed, count: count))
  }

  @Test(
    "the errors of a service that is stopped are in the report of the shutdown, even if the limit cuts its step off")
  func errors() async throws {
    let (isStopped, mayEnd) = (AsyncLatch(), AsyncLatch())
    let launch = try LaunchSequence(
      configuration: NoConfiguration(), maxConcurrentSteps: 1, cancellationGracePeriod: .zero, clock: clock,
      log: { _ in }
    ) {
      Server { service, run in
        service.ready()
        try await untilCancelled(run)
        isStopped.open()
        throw Broken(number: 5)
      }.id("queue").after().patient()
      Do(whenShutDown: { await mayEnd.wait() }) { _ in }.id("slow").after().patient()
    }
    try await launch.launch()
    let shutDown = Task { await launch.shutDown(within: .seconds(20)) }
    await isStopped.wait()
    await clock.waitForSleeper(until: .seconds(20), within: .seconds(300))
    while launch.state.withLock({ $0.machine.closing.problems.isEmpty }) { await Task.yield() }
    clock.advance(by: .seconds(20))
    let entries = await shutDown.value.entries
    let queue = try #require(entries.first { $0.id == "queue" })
    #expect(queue.outcome == .failed)
    #expect(queue.errors.map { $0 as? Broken } == [Broken(number: 5)])
    #expect(queue.message == "its service failed: Broken(number: 5); not shut down within 20 s")
    mayEnd.open()
  }
}
