import Foundation
import LaunchInitializers
import SpellTesting
import TestSupport
import Testing

/// Random plans, run on a clock that a test moves, against what an oracle says of them.
@Suite("Random plans", .timeLimit(.minutes(10))) struct FuzzTests {
  @Test("random plans run as an oracle predicts: order, attempts, limits, blame, times, roll-back and shut-down")
  func oracle() async throws {
    let count = ProcessInfo.processInfo.environment["LAUNCH_TESTS"] == "long" ? 20_000 : 500
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for number in stride(from: worker, to: count, by: 4) {
            try await Self.run(RandomPlan(seed: UInt64(number)))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func run(_ plan: RandomPlan) async throws {
    let (clock, journal) = (TestClock(), Journal())
    let launch = try plan.sequence(on: clock, journal)
    let events = EventCount(launch)
    let launched = Task { try await launch.launch() }

    var oracle = Oracle(plan)
    try await drive(&oracle, clock, launch, events, "plan \(plan.seed), launch")
    if let blamed = oracle.blamed {
      var rollback = Oracle(shuttingDown: oracle)
      if !oracle.completed.isEmpty {
        try await drive(&rollback, clock, launch, events, after: oracle.eventCount, "plan \(plan.seed), roll-back")
      }
      let error = try await #require(throws: LaunchError.self) { try await launched.value }
      #expect(error.id == plan.steps[blamed].id, "plan \(plan.seed)")
      #expect(error.code == (oracle.steps[blamed].isLate ? .timedOut : .stepFailed), "plan \(plan.seed)")
      try check(#require(error.report), oracle, plan)
      try check(#require(error.rollback), rollback, plan)
    } else {
      let report = try await launched.value
      check(report, oracle, plan)
      checkCriticalPath(report, oracle, plan)
      let shutDown = Task { await launch.shutDown() }
      var backwards = Oracle(shuttingDown: oracle)
      if !oracle.completed.isEmpty {
        try await drive(&backwards, clock, launch, events, after: oracle.eventCount, "plan \(plan.seed), shut-down")
      }
      check(await shutDown.value, backwards, plan)
    }
    try await drain(clock, journal, plan)
  }

  /// Moves the clock from event to event, as soon as everything sleeps that the oracle says.
  private static func drive(
    _ oracle: inout Oracle, _ clock: TestClock, _ launch: LaunchSequence, _ events: EventCount, after before: Int = 0,
    _ what: String
  ) async throws {
    oracle.begin()
    while true {
      var turns = 0
      while clock.deadlines.map(\.offset) != oracle.deadlines || events.count - before < oracle.eventCount {
        // The end of the run removes its timers after its last event.
        if oracle.isOver, events.count - before >= oracle.eventCount { return }
        turns += 1
        try #require(
          turns < 200_000,
          """
          \(what): at \(oracle.now) these sleep: \(clock.deadlines), not \(oracle.deadlines); \
          \(events.count - before) events, not \(oracle.eventCount)
          """)
        await Task.yield()
      }
      guard !oracle.isOver, let next = oracle.next else { return }
      let inputs = launch.inputCount
      clock.advance(to: TestClock.Instant(offset: next))
      // The end of a pause shows in nothing else if the step then waits for its turn.
      if oracle.advance(to: next) { while launch.inputCount == inputs { await Task.yield() } }
    }
  }

  private static func check(_ report: LaunchReport, _ oracle: Oracle, _ plan: RandomPlan) {
    let comment: Comment = "plan \(plan.seed)"
    let expected = oracle.reported
    #expect(report.entries.map(\.id) == expected.map { plan.steps[$0].id }, comment)
    for (entry, index) in zip(report.entries, expected) {
      let step = oracle.steps[index]
      #expect(entry.outcome == step.outcome, "plan \(plan.seed), \(entry)")
      #expect(entry.attempts == step.attempt, "plan \(plan.seed), \(entry)")
      #expect(entry.wasAbandoned == step.wasAbandoned, "plan \(plan.seed), \(entry)")
      if entry.outcome == .notRun { continue }
      let times = [entry.queued, entry.start, entry.end]
      #expect(
        times == [step.queued, step.start, step.end].map { $0 - oracle.origin }, "plan \(plan.seed), \(entry)")
      #expect(Set(entry.waitedFor) == Set(oracle.waitedFor(index).map { plan.steps[$0].id }), comment)
      #expect(entry.tookSlotOf == step.tookSlotOf.map { plan.steps[$0].id }, "plan \(plan.seed), \(entry)")
    }
  }

  private static func checkCriticalPath(_ report: LaunchReport, _ oracle: Oracle, _ plan: RandomPlan) {
    let path = report.criticalPath.compactMap { report.entry($0) }
    #expect(path.last?.end == report.duration, "plan \(plan.seed)")
    #expect(path.first?.queued == .zero, "plan \(plan.seed)")
    for (former, latter) in zip(path, path.dropFirst()) {
      #expect(latter.waitedFor.contains(former.id) || latter.tookSlotOf == former.id, "plan \(plan.seed)")
      if latter.tookSlotOf == nil { #expect(latter.queued == former.end, "plan \(plan.seed)") }
    }
  }

  /// Lets abandoned attempts end; everything that came up has then been shut down once.
  private static func drain(_ clock: TestClock, _ journal: Journal, _ plan: RandomPlan) async throws {
    var turns = 0
    while journal.isUneven {
      clock.advance(by: .seconds(1))
      turns += 1
      try #require(turns < 100_000, "plan \(plan.seed): \(journal.entries)")
      await Task.yield()
    }
  }
}

/// Counts the ends and retries of steps that a sequence reports.
private final class EventCount: Sendable {
  private let journal = Journal()
  private let task: Task<Void, Never>

  init(_ launch: LaunchSequence) {
    let (events, journal) = (launch.events, journal)
    task = Task {
      for await event in events {
        switch event.kind {
        case .ended, .retrying: journal.note("\(event)")
        default: break
        }
      }
    }
  }

  var count: Int { journal.entries.count }
}

extension Journal {
  /// Whether something came up that did not go down.
  fileprivate var isUneven: Bool {
    let entries = entries
    return entries.count { $0.hasPrefix("+") } != entries.count { $0.hasPrefix("-") }
  }
}
