import Foundation
@testable import LaunchInitializers
import SpellTesting
import Support
import Synchronization
import TestSupport
import Testing

@Suite("What happened to a step's code", .registry, .timeLimit(.hang)) struct WhatHappenedTests {
  let clock = TestClock()
  let journal = Journal()

  @Test("the retry condition is asked about the errors after which a retry is left, and about no others")
  func retryCondition() async throws {
    let journal = journal
    let isRetryable: @Sendable (any Error) -> Bool = { error in
      journal.note("\(error)")
      return true
    }
    struct Failing: Initializable {
      func perform(with configuration: any Configurable) throws { throw Broken(number: 1) }
    }
    struct FailingLate: Initializable {
      func perform(with configuration: any Configurable) {}
      func shutDown() throws { throw Broken(number: 3) }
    }
    let launch = try LaunchSequence(log: { _ in }) {
      Failing().onRollback { throw Broken(number: 2) }
        .onFailure(.retry(.constant(.zero), times: 2, if: isRetryable, then: .skip))
      FailingLate().onFailure(.retry(.constant(.zero), times: 2, if: isRetryable))
    }
    try await launch.launch()
    await launch.shutDown()
    #expect(journal.entries == ["Broken(number: 1)", "Broken(number: 1)"])
  }

  @Test("a step isn't repeated if a step that it requires has failed after the same return to the foreground")
  func foregroundRequirement() async throws {
    let (calls, journal) = (Counter(), journal)
    let launch = try LaunchSequence(log: { _ in }) {
      Do(wantsForeground: true) { _ in if calls.increment() > 1 { throw Broken() } }.id("sign in")
      LaunchGroup("data") { note("sync", journal, again: true) }.requires("sign in")
      note("once", journal).requires("sign in").id("once")
      note("more", journal, again: true).requires("data").id("more")
      note("other", journal, again: true).after("sign in").id("other")
    }
    try await launch.launch()
    await launch.enterBackground()
    let report = await launch.enterForeground()
    #expect(report.entries.map(\.id) == ["sign in", "Do", "more", "other"])
    #expect(report.entries.map(\.outcome) == [.failed, .skipped, .skipped, .completed])
    #expect(report.entry("more")?.message == "requires sign in, which failed")
    #expect(journal.entries.filter { $0 == "sync" || $0 == "more" || $0 == "once" }.count == 3)
  }

  @Test("each event of a beginning is an attempt of the report, in 200 aborted launches")
  func beginnings() async throws {
    for _ in 0..<200 {
      let launch = try LaunchSequence(log: { _ in }) {
        Do { _ in throw Broken() }.id("failing").after()
        for number in 0..<6 { Do { _ in }.id("\(number)").after() }
      }
      let events = launch.events
      let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
      var begun: [String: Int] = [:]
      for await event in events where event.phase == .launch {
        if case .began = event.kind { begun[event.id ?? "", default: 0] += 1 }
      }
      for entry in error.report?.entries ?? [] { #expect(entry.attempts == begun[entry.id] ?? 0) }
    }
  }

  /// A step whose conformance is isolated to the main actor.
  @MainActor final class Window: @MainActor Initializable {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func perform(with configuration: any Configurable) { journal.note("ran") }
  }

  actor Store: Initializable {
    let journal: Journal
    /// A thread of the actor's own, because blocking one of the few threads that run tasks could block other tests.
    private let executor = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    init(_ journal: Journal) { self.journal = journal }
    func perform(with configuration: any Configurable) { journal.note("ran") }
    /// Blocks the actor.
    func block(_ isBlocked: AsyncLatch, until end: Latch) {
      isBlocked.open()
      end.wait()
    }
  }

  @Test("a step whose actor is busy hasn't begun at its timeout, is retried, and runs once")
  func busyActor() async throws {
    let (isBlocked, end, store) = (AsyncLatch(), Latch(), Store(journal))
    let launch = try LaunchSequence(clock: clock, log: { _ in }) {
      store.timeout(.seconds(5)).onFailure(.retry(1, after: .seconds(3)))
    }
    let blocking = Task { await store.block(isBlocked, until: end) }
    await isBlocked.wait()
    let launched = Task { try await launch.launch() }
    await clock.advance(through: .seconds(5), .seconds(6))
    await clock.waitForSleeper(until: .seconds(9))
    end.open()
    await blocking.value
    await clock.advance(through: .seconds(9))
    let entry = try await launched.value.entries[0]
    #expect(entry.outcome == .completed)
    #expect(entry.attempts == 1)
    #expect(journal.entries == ["ran"])
  }

  @Test("a step of the main actor that ended without beginning doesn't run after the launch")
  @MainActor func busyMainActor() async throws {
    let (clock, journal) = (clock, journal)
    let window = Window(journal)
    let launch = try LaunchSequence(clock: clock, log: { _ in }) { window.timeout(.seconds(5)).onFailure(.skip) }
    let isOver = Latch()
    let outcomes = Mutex<[LaunchReport.Outcome]>([])
    Task.detached {
      let launched = Task { try await launch.launch() }
      await clock.advance(through: .seconds(5), .seconds(6))
      let report = try await launched.value
      outcomes.withLock { $0 = report.entries.map(\.outcome) }
      isOver.open()
    }
    // Blocks the main actor, so that the step can't begin.
    block(on: isOver)
    for _ in 0..<10 { await Task.yield() }
    #expect(outcomes.withLock { $0 } == [.failed])
    #expect(journal.entries == [])
  }

  private nonisolated func block(on latch: Latch) { latch.wait() }

  @Test("2,000 functions need few shared threads, and one that blocks delays no other")
  func sharedThreads() async {
    let (end, areAdded, done) = (Latch(), Latch(), AsyncLatch(opensAfter: 2_000))
    let atOnce = Mutex((now: 0, most: 0))
    callOnSharedThread { end.wait() }
    for _ in 0..<2_000 {
      callOnSharedThread {
        atOnce.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
        areAdded.wait()
        atOnce.withLock { $0.now -= 1 }
        done.open()
      }
    }
    areAdded.open()
    await done.wait()
    end.open()
    // While all threads are blocked, 16 are added every 250 milliseconds, so a slow machine may have some more.
    #expect(atOnce.withLock { $0.most } < 500)
  }

  @Test("functions that block their threads don't delay the functions after them, however many they are")
  func blockedThreads() async {
    let (end, done) = (Latch(), AsyncLatch())
    for _ in 0..<100 { callOnSharedThread { end.wait() } }
    callOnSharedThread { done.open() }
    await done.wait()
    end.open()
  }

  @Test("a launch isn't less urgent than a task that waits for it")
  func priority() async throws {
    let gate = Gate()
    let seen = Mutex<TaskPriority?>(nil)
    let launch = try LaunchSequence {
      Do { _ in await gate.pass() }.id("a")
      Do { _ in seen.withLock { $0 = Task.currentPriority } }.id("b")
    }
    let background = Task.detached(priority: .background) { _ = try await launch.launch() }
    await gate.waitForArrival()
    let urgent = Task.detached(priority: .userInitiated) { _ = try await launch.launch() }
    while launch.state.withLock({ $0.machine.calls.all.count }) < 2 { await Task.yield() }
    gate.open()
    _ = try await (background.value, urgent.value)
    #expect(seen.withLock { $0 ?? .background } >= .userInitiated)
  }

  @Test("a reader of events ends when the sequence is released")
  func streamEnds() async throws {
    var launch: LaunchSequence? = try LaunchSequence { Do { _ in }.id("a") }
    let events = try #require(launch?.events)
    try await launch?.launch()
    launch = nil
    for await _ in events {}
  }

  @Test("a service that keeps its context doesn't keep the sequence")
  func keptContext() async throws {
    final class Server: ReadyInitializer, Sendable {
      let kept = Box<RunningService>()
      func run(_ service: RunningService) async throws {
        kept.value.withLock { $0 = service }
        service.ready()
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
      }
    }
    let server = Server()
    weak var released: LaunchSequence?
    func live() async throws {
      let launch = try LaunchSequence(clock: ContinuousClock()) { server.patient() }
      released = launch
      try await launch.launch()
      await launch.shutDown(within: .patience)
    }
    try await live()
    while released != nil { await Task.yield() }
    server.kept.value.withLock { $0 }?.ready()
  }

  @Test("timers that have fired or aren't needed anymore are forgotten")
  func timers() async throws {
    let calls = Counter()
    let launch = try LaunchSequence(clock: ContinuousClock(), log: { _ in }) {
      Do { _ in if calls.increment() < 500 { throw Broken() } }.timeout(.patience).onFailure(.retry(500, after: .zero))
    }
    try await launch.launch()
    #expect(launch.state.withLock(\.timerCount) == 0)
    await launch.shutDown()
  }
}
