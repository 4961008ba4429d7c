import Foundation
@testable import LaunchInitializers
import TestSupport
import Testing

/// Random plans in a simulated world, which checks each decision of the machine.
///
/// With `LAUNCH_TESTS=long`, there are very many plans, and the test prints how often each kind of job occurred.
@Suite("Random plans", .timeLimit(.hang)) struct FuzzTests {
  private static let isLong = ProcessInfo.processInfo.environment["LAUNCH_TESTS"] == "long"

  @Test("a random life with services, signals, failures and shutdowns is as the rules say")
  func oracle() throws {
    var counts: [String: Int] = [:]
    var faults: [String] = []
    for seed in 0..<(Self.isLong ? 50_000 : 500) where faults.count < 10 {
      var oracle = try Oracle(RandomPlan(seed: UInt64(seed)))
      faults += oracle.run()
      counts.merge(oracle.counts, uniquingKeysWith: +)
    }
    #expect(faults.isEmpty, "\(faults.prefix(10).joined(separator: "\n"))")
    // Each of these kinds of jobs occurs in some plans.
    let kinds = [
      "launch setUp", "launch rollBack", "launch run", "launch undo", "foreground setUp", "foreground rollBack",
      "shutDown shutDown", "shutDown stop", "second signals", "limits", "abandoned",
      "without a thread", "completed", "failed", "skipped",
    ]
    for kind in kinds { #expect(counts[kind, default: 0] > 0, "\(kind)") }
    if Self.isLong { print(counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")) }
  }

  @Test("a launch that hangs says what it waits for, and goes on to say it")
  func hanging() throws {
    let plan = try LaunchPlan([Do { _ in }.id("stuck").after(), Do { _ in }.id("too").after()], stage: .test)
    var machine = LaunchMachine(plan, maxConcurrentSteps: 8, grace: .zero)
    var (lines, pauses): ([String], [Duration]) = ([], [])
    func take(_ actions: [LaunchMachine.Action], _ time: Duration) {
      for action in actions {
        if case .event(let event) = action { lines.append("\(event)") }
        if case .schedule(.watch, let end) = action { pauses.append(end - time) }
      }
    }
    take(machine.handle(.call(1, .launch), at: .zero), .zero)
    for time in [Duration.seconds(10), .seconds(20)] { take(machine.handle(.fired(.watch), at: time), time) }
    #expect(lines == ["launch: still waiting for stuck, too", "launch: still waiting for stuck, too"])
    #expect(pauses == [.seconds(10), .seconds(10), .seconds(10)])
  }

  @Test("a step that hangs is named ten seconds after it began, although another one is retried every three")
  func hangingBesideRetries() throws {
    let steps = [
      Do { _ in }.id("stuck").after(), Do { _ in }.id("again").after().onFailure(.retry(9, after: .seconds(3))),
    ]
    var machine = LaunchMachine(try LaunchPlan(steps, stage: .test), maxConcurrentSteps: 8, grace: .zero)
    var (lines, due): ([String], [(LaunchMachine.Timer, Duration)]) = ([], [])
    func give(_ input: LaunchMachine.Input, at time: Duration) {
      for action in machine.handle(input, at: time) {
        if case .event(let event) = action { lines.append("\(time): \(event)") }
        if case .schedule(let timer, let end) = action { due.append((timer, end)) }
        if case .start(let job) = action, job.step == 1 {
          due.append((.timeout(job), time))
        }
      }
    }
    give(.call(1, .launch), at: .zero)
    while let next = due.indices.min(by: { due[$0].1 < due[$1].1 }), due[next].1 <= .seconds(20) {
      let (timer, time) = due.remove(at: next)
      if case .timeout(let job) = timer {
        _ = machine.began(job, at: time)
        give(.ended(job, .failed(Broken(), text: "broken", isRetryable: true)), at: time)
      } else {
        give(.fired(timer), at: time)
      }
    }
    #expect(
      lines == ["10.0 seconds: launch: still waiting for stuck", "20.0 seconds: launch: still waiting for stuck"])
  }

  @Test("the grace period of a job begins when its task is canceled, and not when that is decided")
  func grace() throws {
    var machine = LaunchMachine(
      try LaunchPlan([Do { _ in }.id("slow")], stage: .test), maxConcurrentSteps: 8, grace: .seconds(1))
    let job = LaunchMachine.Job(purpose: .launch, kind: .setUp, step: 0, number: 1)
    _ = machine.handle(.call(1, .launch), at: .zero)
    _ = machine.began(job, at: .zero)
    func grace(_ input: LaunchMachine.Input, at time: Duration) -> [Duration] {
      machine.handle(input, at: time).compactMap { if case .schedule(.grace, let end) = $0 { end } else { nil } }
    }
    #expect(grace(.call(2, .shutDown(within: .seconds(30))), at: .zero) == [])
    #expect(grace(.isCancelled(job), at: .seconds(5)) == [.seconds(6)])
  }

  @Test("a step that hangs leaves a quarter of the shutdown's time to the steps after it", arguments: [0, 1])
  func share(grace: Int) throws {
    let plan = try LaunchPlan([Do { _ in }.id("a"), Do { _ in }.stopTimeout(.seconds(60)).id("b")], stage: .test)
    var machine = LaunchMachine(plan, maxConcurrentSteps: 8, grace: .seconds(grace))
    _ = machine.handle(.call(1, .launch), at: .zero)
    for step in 0...1 {
      _ = machine.handle(.ended(.init(purpose: .launch, kind: .setUp, step: step, number: 1), .completed), at: .zero)
    }
    let ends = machine.handle(.call(2, .shutDown(within: .seconds(20))), at: .zero).compactMap { action in
      if case .schedule(.timeout, let end) = action { end } else { nil }
    }
    #expect(ends == [.seconds(15 - grace)])
  }

  @Test("a service that ignores its cancellation at the time limit is reported as abandoned")
  func serviceAtLimit() throws {
    let plan = try LaunchPlan([Runs().id("service"), Do { _ in }.id("slow")], stage: .test)
    var machine = LaunchMachine(plan, maxConcurrentSteps: 8, grace: .seconds(1))
    func job(_ purpose: LaunchMachine.Purpose, _ kind: LaunchMachine.Job.Kind, _ step: Int) -> LaunchMachine.Job {
      LaunchMachine.Job(purpose: purpose, kind: kind, step: step, number: 1)
    }
    _ = machine.handle(.call(1, .launch), at: .zero)
    _ = machine.handle(.ended(job(.launch, .setUp, 0), .completed), at: .zero)
    _ = machine.began(job(.launch, .run, 0), at: .zero)
    _ = machine.handle(.ready(job(.launch, .run, 0)), at: .zero)
    _ = machine.handle(.ended(job(.launch, .setUp, 1), .completed), at: .zero)
    _ = machine.handle(.call(2, .shutDown(within: .seconds(2))), at: .zero)
    _ = machine.began(job(.shutDown, .shutDown, 1), at: .zero)
    _ = machine.handle(.fired(.limit(.seconds(2))), at: .seconds(2))
    for job in [job(.launch, .run, 0), job(.shutDown, .shutDown, 1)] {
      _ = machine.handle(.isCancelled(job), at: .seconds(2))
      _ = machine.handle(.fired(.grace(job)), at: .seconds(3))
    }
    let entry = machine.report(of: .shutDown).entry("service")
    #expect(machine.phase == .over)
    #expect(entry?.wasAbandoned == true)
    let message = "its service ignored its cancellation for 1 s and was abandoned; not shut down within 2 s"
    #expect(entry?.message == message)
  }

  private struct Runs: RunningInitializer {
    func run(_ configuration: any Configurable) async throws {}
  }

  @Test("a shutdown that waits for a repetition names the step, with the time since the return to the foreground")
  func hangingRepetition() throws {
    var machine = LaunchMachine(
      try LaunchPlan([Do { _ in }.id("stuck")], stage: .test), maxConcurrentSteps: 8, grace: .seconds(60))
    let attempt = LaunchMachine.Job(purpose: .launch, kind: .setUp, step: 0, number: 1)
    _ = machine.handle(.call(1, .launch), at: .zero)
    _ = machine.handle(.ended(attempt, .completed), at: .seconds(1))
    _ = machine.handle(.background, at: .seconds(1))
    _ = machine.handle(.call(2, .foreground), at: .seconds(2))
    let repetition = LaunchMachine.Job(purpose: .foreground, kind: .setUp, step: 0, number: 1)
    if machine.began(repetition, at: .zero).end != nil { Issue.record("The repetition isn't wanted.") }
    _ = machine.handle(.call(3, .shutDown(within: .seconds(90))), at: .seconds(5))
    let events = machine.handle(.fired(.watch), at: .seconds(15)).compactMap { action in
      if case .event(let event) = action { event } else { nil }
    }
    #expect(events.map(\.description) == ["foreground: still waiting for stuck"])
    #expect(events.map(\.time) == [.seconds(13)])
  }

  @Test("the shortest limit of a shutdown counts, and a later call can't put it off")
  func limits() throws {
    var machine = LaunchMachine(
      try LaunchPlan([Do { _ in }.id("a")], stage: .test), maxConcurrentSteps: 8, grace: .zero)
    func limits(_ input: LaunchMachine.Input, at time: Duration = .zero) -> [Duration] {
      machine.handle(input, at: time).compactMap { if case .schedule(.limit, let end) = $0 { end } else { nil } }
    }
    #expect(limits(.call(1, .run(drain: .zero, limit: .seconds(2)))) == [])
    #expect(
      limits(.ended(LaunchMachine.Job(purpose: .launch, kind: .setUp, step: 0, number: 1), .completed)) == [])
    #expect(limits(.call(2, .shutDown(within: .seconds(30)))) == [.seconds(2)])
    #expect(limits(.call(3, .shutDown(within: .seconds(2))), at: .seconds(1)) == [])
    #expect(limits(.call(4, .shutDown(within: .milliseconds(500))), at: .seconds(1)) == [.milliseconds(1_500)])
  }

  @Test("no rollback begins when the time limit of the shutdown is over")
  func rollback() throws {
    let plan = try LaunchPlan([Do { _ in }.id("bad").onRollback {}], stage: .test)
    var machine = LaunchMachine(plan, maxConcurrentSteps: 8, grace: .seconds(60))
    let job = LaunchMachine.Job(purpose: .launch, kind: .setUp, step: 0, number: 1)
    _ = machine.handle(.call(1, .launch), at: .zero)
    if machine.began(job, at: .zero).end != nil { Issue.record("The attempt isn't wanted.") }
    _ = machine.handle(.call(2, .shutDown(within: .seconds(1))), at: .zero)
    _ = machine.handle(.fired(.limit(.seconds(1))), at: .seconds(1))
    _ = machine.handle(.ended(job, .failed(Broken(), text: "broken", isRetryable: true)), at: .seconds(2))
    #expect(machine.phase == .over)
    #expect(machine.failure?.report?.entries[0].message == "broken; not rolled back within 1 s")
  }

  @Test("a service that has got no thread within the step's timeout is retried, and isn't reported as abandoned")
  func serviceWithoutThread() throws {
    struct Server: ReadyInitializer {
      func run(_ service: RunningService) async throws {}
    }
    let step = Server().id("server").timeout(.seconds(5)).onFailure(.retry(.constant(.seconds(1)), times: 1))
    var machine = LaunchMachine(try LaunchPlan([step], stage: .test), maxConcurrentSteps: 8, grace: .seconds(2))
    let attempt = LaunchMachine.Job(purpose: .launch, kind: .setUp, step: 0, number: 1)
    let run = LaunchMachine.Job(purpose: .launch, kind: .run, step: 0, number: 1)
    _ = machine.handle(.call(1, .launch), at: .zero)
    _ = machine.handle(.ended(attempt, .completed), at: .zero)
    _ = machine.handle(.fired(.readiness(run)), at: .seconds(5))
    _ = machine.handle(.isCancelled(run), at: .seconds(5))
    let actions = machine.handle(.fired(.grace(run)), at: .seconds(7))
    #expect(actions.contains { if case .giveUp(run) = $0 { true } else { false } })
    _ = machine.handle(.unbegun(run, isRetryable: true), at: .seconds(7))
    let retried = machine.handle(.fired(.retry(.launch, 0, attempt: 1)), at: .seconds(8))
    #expect(retried.contains { if case .start(let job) = $0 { job.kind == .run } else { false } })
    #expect(machine.setups[0].isInUse == false)
    #expect(machine.closing.problems.isEmpty)
  }

  @Test("a late repetition is undone only if the step's shutdown has begun to run", arguments: [false, true])
  func lateRepetition(hasBegun: Bool) throws {
    var machine = LaunchMachine(
      try LaunchPlan([Do { _ in }.id("slow")], stage: .test), maxConcurrentSteps: 8, grace: .seconds(1))
    let attempt = LaunchMachine.Job(purpose: .launch, kind: .setUp, step: 0, number: 1)
    let repetition = LaunchMachine.Job(purpose: .foreground, kind: .setUp, step: 0, number: 1)
    let shutDown = LaunchMachine.Job(purpose: .shutDown, kind: .shutDown, step: 0, number: 1)
    _ = machine.handle(.call(1, .launch), at: .zero)
    _ = machine.handle(.ended(attempt, .completed), at: .zero)
    _ = machine.handle(.background, at: .zero)
    _ = machine.handle(.call(2, .foreground), at: .zero)
    if machine.began(repetition, at: .zero).end != nil { Issue.record("The repetition isn't wanted.") }
    _ = machine.handle(.call(3, .shutDown(within: .seconds(90))), at: .zero)
    _ = machine.handle(.isCancelled(repetition), at: .zero)
    let started = machine.handle(.fired(.grace(repetition)), at: .seconds(1))
    #expect(started.contains { if case .start(shutDown) = $0 { true } else { false } })
    if hasBegun, machine.began(shutDown, at: .zero).end != nil { Issue.record("The shutdown isn't wanted.") }
    let undone = machine.handle(.ended(repetition, .completed), at: .seconds(2))
    #expect(undone.contains { if case .start(let job) = $0 { job.kind == .undo } else { false } } == hasBegun)
  }

  @Test("a service that is shut down during its pause has an event of its end")
  func pause() throws {
    struct Exits: RunningInitializer {
      func run(_ configuration: any Configurable) async throws {}
    }
    let step = Exits().id("server").onExit(.restart(max: 2, within: .seconds(9), backoff: .constant(.seconds(1))))
    var machine = LaunchMachine(try LaunchPlan([step], stage: .test), maxConcurrentSteps: 8, grace: .zero)
    machine.isObserved = true
    var kinds: [LaunchEvent.Kind] = []
    func give(_ input: LaunchMachine.Input) {
      for case .event(let event) in machine.handle(input, at: .zero) where event.phase == .running {
        kinds.append(event.kind)
      }
    }
    let run = LaunchMachine.Job(purpose: .launch, kind: .run, step: 0, number: 1)
    give(.call(1, .launch))
    give(.ended(LaunchMachine.Job(purpose: .launch, kind: .setUp, step: 0, number: 1), .completed))
    for case .event(let event) in machine.began(run, at: .zero).events { kinds.append(event.kind) }
    give(.ready(run))
    give(.ended(run, .completed))
    give(.call(2, .shutDown(within: .seconds(30))))
    #expect(
      kinds == [.serviceBegan(run: 1), .serviceReady, .serviceRestarting(after: .seconds(1)), .serviceEnded])
  }
}
