@testable import LaunchInitializers
import TestSupport

/// A simulated world for the machine of a random plan.
///
/// It acts as the tasks, the timers and the callers, and reports wrong decisions of the machine.
///
/// The oracle knows the plan and what has happened. Of the machine's state, it reads what is under way: the phase, the
/// jobs and the passes.
struct Oracle {
  typealias Job = LaunchMachine.Job
  typealias Machine = LaunchMachine

  enum Happening {
    case input(Machine.Input)
    case begins(Job)
    case fires(Machine.Timer, Int)
  }
  struct Thrown: Error { let number: Int }

  var plan: RandomPlan
  var machine: Machine
  var now = Duration.zero
  var happenings: [(time: Duration, order: Int, what: Happening)] = []
  var order = 0
  var timers: [Machine.Timer: Int] = [:]
  /// The index of each step of the plan, by its node in the machine's plan.
  var steps: [Int: Int] = [:]

  /// The jobs that were started and haven't ended, and those of them that have begun or were abandoned.
  var alive: Set<Job> = []
  var begun: Set<Job> = []
  var abandoned: Set<Job> = []
  /// The attempts that completed before they were abandoned, so that their services are their step's.
  var completed: Set<Job> = []
  var cancelled: Set<Job> = []
  /// The numbers of times that each step's code completed and was undone.
  var (ups, downs): ([Int: Int], [Int: Int]) = ([:], [:])
  var outcomes: [Int: LaunchReport.Outcome] = [:]
  var downOutcomes: [Int: LaunchReport.Outcome] = [:]
  var (thrown, thrownUntilEnd): ([Int], [Int]) = ([], [])
  /// The times at which steps began and ended in the launch and in the shutdown, as the events say.
  var (launchTimes, shutDownTimes) = (ReportOracle.Times(), ReportOracle.Times())
  var answers: [Int: Int] = [:]
  var calls: Set<Int> = []
  var servicesLeft: Set<Int> = []
  /// The jobs that undo abandoned attempts while the sequence lives, with their times, and those that failed.
  var lateUndos: [Job: Duration] = [:]
  var failedUndos: Set<Job> = []
  /// The times at which services were asked to end, and the services that can only be canceled.
  var asked: [Int: Duration] = [:]
  var cannotStop: Set<Int> = []
  /// The times at which runs of services began, and the runs that became ready.
  var runs: [Job: Duration] = [:]
  var readyRuns: Set<Job> = []
  /// Whether a call set a time limit for the shutdown, the time at which the shutdown must be over, and whether it
  /// is.
  var (isLimited, deadline, isOver): (Bool, Duration?, Bool) = (false, nil, false)
  /// The services that attempts made, in a real registry.
  var products = OracleProducts()
  private(set) var faults: [String] = []
  var counts: [String: Int] = [:]

  init(_ plan: RandomPlan) throws {
    self.plan = plan
    machine = try plan.machine()
    for (index, step) in plan.steps.enumerated() {
      let node = machine.plan.nodes.firstIndex { $0.id == step.id && $0.declared != nil }
      if let node { steps[node] = index }
    }
    for (time, input) in plan.script { happen(at: time, .input(input)) }
  }

  mutating func happen(at time: Duration, _ what: Happening) {
    order += 1
    happenings.append((time, order, what))
  }

  mutating func fault(_ text: String) { faults.append("plan \(plan.seed) at \(now): \(text)") }
  mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &plan.random) == 0 }
  mutating func duration(_ range: ClosedRange<Int>) -> Duration {
    .milliseconds(Int.random(in: range, using: &plan.random))
  }
  mutating func error() -> any Error { Thrown(number: Int.random(in: 0..<1_000_000, using: &plan.random)) }

  /// Runs until nothing more happens, and returns the faults.
  mutating func run() -> [String] {
    while let next = happenings.indices.min(by: {
      (happenings[$0].time, happenings[$0].order) < (happenings[$1].time, happenings[$1].order)
    }) {
      let (time, _, what) = happenings.remove(at: next)
      now = max(now, time)
      switch what {
      case .input(let input): give(input)
      case .begins(let job): begin(job)
      case .fires(let timer, let number):
        guard timers[timer] == number else { continue }
        if let job = timer.job, machine.jobs[job] == nil { fault("\(timer) is still set, and its job has ended") }
        give(.fired(timer))
      }
    }
    finish()
    return faults
  }

  // MARK: Inputs

  mutating func give(_ input: Machine.Input) {
    switch input {
    case .call(let id, let call):
      if let id { calls.insert(id) }
      switch call {
      case .run, .shutDown: if machine.phase != .closing { isLimited = true }
      case .launch, .foreground: break
      }
    case .ended(let job, let result): note(job, result)
    case .unbegun(let job, _): note(job, .failed(CancellationError(), text: "", isRetryable: true))
    case .ready(let job):
      if !alive.contains(job) { return }
      readyRuns.insert(job)
    case .cannotStop(let job): cannotStop.insert(job.step)
    default: break
    }
    // A call during the shutdown may shorten the limit.
    if case .call(_, .shutDown) = input, machine.phase == .closing { shorten(to: plan.limit) }
    if case .call(_, .run) = input, machine.phase == .closing { shorten(to: plan.limit) }
    let before = Set(machine.jobs.keys)
    let actions = machine.handle(input, at: now)
    for job in before.subtracting(machine.jobs.keys) where alive.contains(job) {
      abandoned.insert(job)
      if job.kind == .run { servicesLeft.insert(job.step) }
      if lateUndos[job] != nil { failedUndos.insert(job) }
      if !cancelled.contains(job) { fault("\(job) was given up, but not cancelled before") }
    }
    if machine.phase == .closing, deadline == nil {
      deadline = now + (isLimited ? plan.limit : .shutDownLimit) + plan.grace
    }
    let last = actions.drop { if case .cancel = $0 { false } else { true } }
    if !last.allSatisfy({ if case .cancel = $0 { true } else { false } }) { fault("cancellations hold up \(last)") }
    for action in actions { perform(action) }
    checkWork()
    checkServices()
  }

  mutating func shorten(to limit: Duration) {
    if let deadline { self.deadline = min(deadline, now + limit + plan.grace) }
  }

  mutating func note(_ job: Job, _ result: Machine.Result) {
    alive.remove(job)
    switch result {
    case .completed, .idle, .skipped:
      guard case .completed = result, job.kind == .setUp else { break }
      if !abandoned.contains(job) { completed.insert(job) }
      if job.purpose == .launch { ups[job.step, default: 0] += 1 }
    case .failed(let error, _, _):
      if let error = error as? Thrown { thrown.append(error.number) }
      if lateUndos[job] != nil, machine.jobs[job] != nil { failedUndos.insert(job) }
    }
  }

  /// Lets a job begin, and decides how it will end unless it is canceled.
  mutating func begin(_ job: Job) {
    guard alive.contains(job), let index = steps[job.step] else { return }
    let (unwanted, closed, events) = machine.began(job, at: now)
    for action in events { perform(action) }
    products.close(closed, by: job)
    counts["services closed by \(job.kind)", default: 0] += closed.count
    if let unwanted { return give(unwanted) }
    begun.insert(job)
    if job.kind == .setUp { makeServices(job) }
    if machine.phase == .over, job.kind == .run { fault("the service \(job) begins after the end") }
    let text = String(repeating: "it failed as often before, ", count: chance(20) ? 20 : 1)
    let failure = Machine.Result.failed(error(), text: text, isRetryable: !chance(5))
    let end: (Duration, Machine.Result)? =
      switch (job.purpose, job.kind) {
      case (_, .run): chance(2) ? nil : (duration(0...300), chance(2) ? .completed : failure)
      case (_, .stop): (duration(0...60), .completed)
      case (_, .rollBack), (_, .lateRollBack), (_, .undo), (_, .shutDown):
        (duration(0...80), chance(5) ? failure : .completed)
      case (_, .ask): (duration(0...20), chance(2) ? .idle : .completed)
      case (_, .close): (duration(0...80), chance(5) ? failure : .completed)
      case (.foreground, _): (duration(0...60), chance(3) ? .idle : chance(6) ? failure : .completed)
      case (_, .setUp):
        (duration(0...60), chance(12) ? .skipped("nothing to do") : chance(6) ? failure : .completed)
      }
    if let (pause, result) = end { happen(at: now + pause, .input(.ended(job, result))) }
    if job.kind == .run, !plan.steps[index].saysReady || !chance(4) {
      happen(at: plan.steps[index].saysReady ? now + duration(0...80) : now, .input(.ready(job)))
    }
    // Most services can only be canceled; others end when they are asked to.
    if job.kind == .stop {
      if !chance(3) { happen(at: now, .input(.cannotStop(job))) } else { endService(of: job.step, chance(6)) }
    }
  }

  mutating func endService(of step: Int, _ fails: Bool) {
    for job in alive where job.kind == .run && job.step == step {
      end(job, after: duration(0...40), fails ? .failed(error(), text: "", isRetryable: false) : .completed)
    }
  }

  /// Makes a job end in another way than was planned.
  mutating func end(_ job: Job, after pause: Duration, _ result: Machine.Result) {
    happenings.removeAll { if case .input(.ended(job, _)) = $0.what { true } else { false } }
    happen(at: now + pause, .input(.ended(job, result)))
  }

  // MARK: Actions

  mutating func perform(_ action: Machine.Action) {
    switch action {
    case .start(let job): start(job)
    case .giveUp(let job):
      counts["without a thread", default: 0] += 1
      happen(at: now, .input(.unbegun(job, isRetryable: !chance(5))))
    case .cancel(let job):
      if !cancelled.insert(job).inserted { fault("\(job) is cancelled twice") }
      if job.kind == .run { checkCancellation(of: job) }
      happen(at: now, .input(.isCancelled(job)))
      guard begun.contains(job), alive.contains(job), !chance(job.purpose == .foreground ? 2 : 4) else { return }
      let ends: [Machine.Result] = [
        .failed(error(), text: "", isRetryable: true), .completed,
        .failed(CancellationError(), text: "", isRetryable: true),
      ]
      end(job, after: duration(0...20), job.kind == .stop ? .completed : ends[chance(4) ? 0 : chance(5) ? 1 : 2])
    case .schedule(let timer, let time):
      order += 1
      timers[timer] = order
      happen(at: time, .fires(timer, order))
    case .unschedule(let timer): timers[timer] = nil
    case .event(let event): note(event)
    case .answer(let ids, _):
      for id in ids { answers[id, default: 0] += 1 }
      if machine.phase == .over, !isOver { fault("the answers to \(ids) come before the end") }
    case .over:
      isOver = true
      if let deadline, now > deadline { fault("the end comes later than \(deadline)") }
      thrownUntilEnd = thrown
      if machine.phase != .over { fault("the end comes too early") }
    case .endProcess: counts["second signals", default: 0] += 1
    case .withdraw(let products): self.products.withdraw(products)
    }
  }

  /// Lets an attempt make up to two services.
  mutating func makeServices(_ job: Job) {
    for _ in 0..<(chance(3) ? Int.random(in: 1...2, using: &plan.random) : 0) { products.make(by: job, in: &machine) }
  }

  mutating func start(_ job: Job) {
    counts["\(job.purpose) \(job.kind)", default: 0] += 1
    alive.insert(job)
    happen(at: now + (chance(20) ? duration(0...100) : chance(3) ? duration(0...10) : .zero), .begins(job))
    guard let index = steps[job.step] else { return fault("\(job) is of no step") }
    if machine.closing.reachedLimit != nil, machine.jobs[job] != nil { fault("\(job) starts after the time limit") }
    if [.rollBack, .lateRollBack].contains(job.kind), !begun.contains(job.with(.setUp)) {
      fault("\(job) undoes what never began")
    }
    if job.kind.cleansUp {
      let isLate = abandoned.contains(job.with(.setUp))
      if job.kind != .close, job.kind.isAside != isLate {
        fault("\(job) is aside, or isn't, and the attempt isn't over")
      }
      if job.kind.isAside, machine.jobs[job] != nil { lateUndos[job] = now }
      if job.kind == .undo, job.purpose == .launch { downs[job.step, default: 0] += 1 }
      if job.kind == .undo, job.purpose == .foreground, downOutcomes[index] == nil, downs[job.step] == nil {
        fault("\(job) undoes what the step's shutdown will undo")
      }
      return
    }
    if job.purpose != .shutDown, machine.phase == .closing || machine.phase == .over {
      fault("\(job) starts in the shutdown")
    }
    let atWork = machine.jobs.keys.count { other in
      [.setUp, .ask, .shutDown, .rollBack].contains(other.kind) && alive.contains(other)
        && (other.purpose == .shutDown) == (job.purpose == .shutDown)
    }
    if atWork > plan.maxConcurrentSteps { fault("\(atWork) steps at once") }
    if alive.contains(where: { $0 != job && $0.step == job.step && $0.kind == job.kind && !abandoned.contains($0) }) {
      fault("\(job) starts beside another one of the step")
    }
    switch (job.purpose, job.kind) {
    case (.launch, .setUp):
      for (other, isRequired) in plan.steps[index].awaited { checkAwaited(job, other, isRequired) }
    case (.launch, .run):
      runs[job] = now
      if ups[job.step] == nil { fault("\(job) starts before its setup") }
    case (_, .stop): asked[job.step] = now
    case (_, .shutDown): checkShutDown(job, index)
    default: break
    }
  }

  /// Checks the reason for the cancellation of a service: it isn't ready in time, it doesn't end within its stop
  /// timeout, it doesn't implement `stop()`, or the whole shutdown takes too long.
  mutating func checkCancellation(of job: Job) {
    guard let index = steps[job.step], let begin = runs[job] else { return }
    if machine.phase != .closing {
      let isDue = plan.steps[index].timeout.map { now >= begin + $0 } ?? false
      if !isDue || readyRuns.contains(job) { fault("\(job) is cancelled while the sequence goes on") }
    } else if machine.closing.reachedLimit == nil, !cannotStop.contains(job.step) {
      guard let asked = asked[job.step] else { return fault("\(job) is cancelled before it was asked to end") }
      // A step that isn't the last one gets a part of the time that is left until the limit.
      let left = deadline.map { $0 - plan.grace - asked } ?? .seconds(20)
      let part = max(left * 3 / 4 - plan.grace, left / 4)
      if now < asked + min(plan.steps[index].stopTimeout, part) { fault("\(job) is cancelled before its stop timeout") }
    }
  }

  mutating func checkAwaited(_ job: Job, _ other: Int, _ isRequired: Bool) {
    let outcome = outcomes[other]
    if outcome == nil { fault("\(job) starts before \(plan.steps[other].id) has ended") }
    if isRequired, outcome != .completed { fault("\(job) starts although \(plan.steps[other].id) has not completed") }
  }

  mutating func checkShutDown(_ job: Job, _ index: Int) {
    downs[job.step, default: 0] += 1
    if alive.contains(where: { $0.kind == .run && $0.step == job.step }) {
      fault("\(job) starts before its service ended")
    }
    for (node, other) in steps where plan.steps[other].awaited.contains(where: { $0.step == index }) {
      if ups[node] != nil, machine.setups[node].isUp, downOutcomes[other] == nil {
        fault("\(job) starts before \(plan.steps[other].id) is shut down")
      }
      let undo = lateUndos.first { $0.key.step == node && machine.jobs[$0.key] != nil }
      if let undo, undo.value < machine.passes[.shutDown].began { fault("\(job) starts before \(undo.key) has ended") }
    }
  }

  mutating func note(_ event: LaunchEvent) {
    noteTime(of: event)
    guard case .ended(let outcome) = event.kind, let index = plan.steps.firstIndex(where: { $0.id == event.id }) else {
      return
    }
    if event.message?.hasPrefix("after it was left behind") == true { return }
    if event.phase == .shutDown {
      if downOutcomes.updateValue(outcome, forKey: index) != nil { fault("\(plan.steps[index].id) is shut down twice") }
    } else if event.phase != .foreground {
      if outcomes.updateValue(outcome, forKey: index) != nil { fault("\(plan.steps[index].id) ends twice") }
      let isBegun = begun.contains { steps[$0.step] == index && $0.kind == .setUp && $0.purpose == .launch }
      if outcome == .notRun, isBegun { fault("\(plan.steps[index].id) began, and is reported as not run") }
      if outcome == .failed, !isBegun, event.message?.contains("did not get a thread") != true {
        fault("\(plan.steps[index].id) never began, and is reported as failed")
      }
      counts["\(outcome)", default: 0] += 1
    }
  }

  mutating func noteTime(of event: LaunchEvent) {
    guard let index = plan.steps.firstIndex(where: { $0.id == event.id }) else { return }
    switch event.phase {
    case .launch, .deferred: launchTimes.note(event, of: index)
    case .shutDown: shutDownTimes.note(event, of: index)
    case .foreground, .running: break
    }
  }
}
