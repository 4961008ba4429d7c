/// The state of one run through the steps of a plan.
///
/// It decides and does nothing itself. Each function updates the state to match its decision, and returns the actions
/// that follow, which ``LaunchRunner`` performs outside the lock. An input about an attempt that is over changes
/// nothing, so timers and tasks may come late.
struct LaunchStateMachine: Sendable {
  /// One attempt of a step.
  struct Attempt: Hashable, Sendable {
    let step: Int
    /// From 1.
    let number: Int
  }

  /// What a timer is for.
  enum Timer: Sendable {
    /// Ends the time that an attempt may take.
    case timeout
    /// Ends the time that a cancelled attempt may go on for.
    case grace
    /// Ends the pause after a failed attempt.
    case pause
  }

  /// How an attempt ended.
  enum Result: Sendable {
    case completed
    /// The step had nothing to do, and isn't reported.
    case idle
    /// The step's service can be resolved, which performs the step.
    case offered
    case skipped(String)
    /// The step threw an error, which has this description; whether the step's policy retries it.
    case failed(any Error, String, isRetryable: Bool)
  }

  /// Why no further step begins.
  enum Stop: Sendable {
    case failed(Int, LaunchError.Code, any Error)
    case cancelled
    case shutDown
    /// The time limit of the shut-down is reached.
    case limit(Duration)
  }

  enum Action: Sendable {
    /// Begin an attempt, which may take until the time given.
    case begin(Attempt, timeout: Duration?)
    case cancel(Attempt)
    /// Cancel the pause after an attempt.
    case cancelPause(Attempt)
    /// Go on without an attempt, which may still be at work.
    case abandon(Attempt)
    case schedule(Timer, Attempt, at: Duration)
    /// Undo what an abandoned attempt did after all: shut its step down, or only withdraw its services.
    case undo(Attempt, shutsDown: Bool)
    /// Report that a step settled, or that an attempt failed and is retried after a pause.
    case report(Int, retryAfter: Duration?)
    /// Note that the run has begun.
    case start
    /// Note that no further step begins.
    case stop
    /// End the run.
    case end
  }

  /// The purposes of a run.
  enum Purpose: Sendable {
    /// Runs the steps; a failing one aborts the run.
    case launch
    /// Runs the deferred steps, after the launch.
    case deferred
    /// Runs one step because its service is resolved; if it fails, so does the run.
    case lazy
    /// Runs steps again when the app comes back to the foreground.
    case foreground
    /// Runs the plan backwards and shuts the steps down.
    case shutDown

    /// Whether steps run for the first time.
    var isFirstRun: Bool { self == .launch || self == .deferred || self == .lazy }
  }

  let plan: LaunchPlan
  let purpose: Purpose
  private let grace: Duration
  private(set) var steps: [StepState]
  private(set) var stop: Stop?
  /// The steps that completed, in that order.
  private(set) var completed: [Int] = []
  private(set) var hasEnded = false
  private var open: [Int]
  private var ready = ReadyQueue()
  private var limit: ConcurrencyLimit
  private var pausing = 0
  /// The latest time of an input.
  ///
  /// Clocks are read outside the lock, so an input may have an earlier time than the one that caused it.
  private(set) var latest = Duration.zero

  /// Creates the state of a run that has not begun.
  ///
  /// `settled` says for each step how it ended before this run, or nil if it takes part; it is empty if all take part.
  init(
    _ plan: LaunchPlan, _ purpose: Purpose, maxConcurrentSteps: Int, grace: Duration,
    settled: [LaunchReport.Outcome?] = []
  ) {
    self.plan = plan
    self.purpose = purpose
    self.grace = grace
    limit = ConcurrencyLimit(maxConcurrentSteps)
    steps = Array(repeating: StepState(), count: plan.steps.count)
    open = plan.dependencies.counts
    for (step, outcome) in settled.enumerated() {
      guard let outcome else { continue }
      steps[step].isSettledBefore = true
      steps[step].outcome = outcome
    }
  }

  // MARK: Beginning

  /// Begins the run, and the first steps unless ``beginNext(at:)`` does that.
  mutating func start(at time: Duration, beginsSteps: Bool = true) -> [Action] {
    var actions = [Action.start]
    let time = advance(to: time)
    for step in steps.indices where plan.dependencies[step].isEmpty {
      if !makeReady(step, at: time, &actions) { release(step, at: time, &actions) }
    }
    return proceed(&actions, beginsSteps: beginsSteps)
  }

  /// Begins one step beyond the limit, if one is ready.
  ///
  /// For steps that begin on the main actor: whether a step waits is known only when it has begun.
  mutating func beginNext(at time: Duration) -> [Action] {
    guard stop == nil, let step = ready.popFirst() else { return [] }
    return [begin(step, at: advance(to: time))]
  }

  /// Begins the ready steps for which there are slots.
  mutating func beginReady(at time: Duration) -> [Action] {
    _ = advance(to: time)
    var actions: [Action] = []
    return proceed(&actions)
  }

  /// Notes that an attempt has a thread; returns whether it is still wanted.
  mutating func attemptBegan(_ attempt: Attempt) -> Bool {
    guard isUnderWay(attempt), stop == nil, !steps[attempt.step].hasTimedOut else { return false }
    steps[attempt.step].hasBegun = true
    return true
  }

  /// The steps whose attempts are under way.
  var underWay: [Int] { limit.taken == 0 ? [] : steps.indices.filter { steps[$0].phase == .running } }

  /// Whether an attempt runs, and nothing has cancelled it.
  func isWanted(_ attempt: Attempt) -> Bool {
    isUnderWay(attempt) && stop == nil && !steps[attempt.step].hasTimedOut
  }

  // MARK: Ending

  /// Notes the end of an attempt, and begins the steps that are now ready unless ``beginNext(at:)`` does that.
  ///
  /// `random` returns a number from 0 to 1 for the pause before a retry.
  mutating func attemptEnded(
    _ attempt: Attempt, _ result: Result, at time: Duration, random: () -> Double = { 0 }, beginsSteps: Bool = true
  ) -> [Action] {
    let step = attempt.step
    guard isUnderWay(attempt) else {
      // If the step completed before, it is shut down with the others later: not now, while the app runs.
      let shutsDown = if case .completed = result { purpose.isFirstRun } else { false }
      return [.undo(attempt, shutsDown: shutsDown)]
    }
    let time = advance(to: time)
    limit.leave(step, at: time)
    // On a busy machine the timer may be late.
    let isLate =
      steps[step].hasTimedOut || plan.steps[step].timeout.map { time - steps[step].attemptStart > $0 } ?? false
    var actions: [Action] = []
    switch result {
    case .completed, .idle:
      if case .idle = result { steps[step].isUnmentioned = true } else { completed.append(step) }
      settle(step, .completed, at: time, isLate ? overrun(step) : nil, &actions)
    case .offered:
      steps[step].isOffered = true
      settle(step, .notRun, at: time, "performed when its service is first resolved", &actions)
    case .skipped(let reason):
      settle(step, .skipped, at: time, isLate ? "\(reason); \(overrun(step))" : reason, &actions)
    case .failed(let error, let text, let isRetryable):
      fail(step, error, text, isLate: isLate, isRetryable: isRetryable, at: time, random, &actions)
    }
    return proceed(&actions, beginsSteps: beginsSteps)
  }

  private mutating func fail(
    _ step: Int, _ error: any Error, _ text: String, isLate: Bool, isRetryable: Bool, at time: Duration,
    _ random: () -> Double, _ actions: inout [Action]
  ) {
    var message = isLate ? overrun(step) : text
    if isLate, !(error is CancellationError) { message += ", then failed: \(text)" }
    if stop != nil {
      let wasCancelled = error is CancellationError && !isLate
      let cancelled = steps[step].hasBegun ? "cancelled" : "cancelled before it began"
      return settle(step, .failed, at: time, wasCancelled ? cancelled : message, &actions)
    }
    let policy = plan.steps[step].policy
    if let retry = policy.retry, isRetryable, steps[step].attempt <= retry.count {
      let pause = retry.backoff.pause(after: steps[step].attempt, random: random)
      steps[step].pause(since: time, message)
      pausing += 1
      actions.append(.report(step, retryAfter: pause))
      actions.append(.schedule(.pause, current(step), at: time + pause))
      return
    }
    let cause = Stop.failed(
      step, isLate ? .timedOut : .stepFailed, isLate ? TimeoutError(message: message) : error)
    settle(step, .failed, at: time, message, stopping: cause, &actions)
  }

  // MARK: Time

  /// Notes that a timer fired.
  mutating func timerFired(_ timer: Timer, _ attempt: Attempt, at time: Duration) -> [Action] {
    let step = attempt.step
    let time = advance(to: time)
    var actions: [Action] = []
    switch timer {
    case .timeout:
      guard isWanted(attempt) else { return [] }
      steps[step].hasTimedOut = true
      return [.schedule(.grace, attempt, at: time + grace), .cancel(attempt)]
    case .grace:
      guard isUnderWay(attempt) else { return [] }
      abandon(step, at: time, &actions)
    case .pause:
      guard steps[step].phase == .pausing, steps[step].attempt == attempt.number else { return [] }
      pausing -= 1
      steps[step].phase = .waiting
      ready.insert(step)
    }
    return proceed(&actions)
  }

  /// Goes on without an attempt that takes too long and ignores its cancellation.
  private mutating func abandon(_ step: Int, at time: Duration, _ actions: inout [Action]) {
    limit.leave(step, at: time)
    actions.append(.abandon(current(step)))
    let message =
      if steps[step].hasBegun {
        "ignored its cancellation for \(grace.text) and was abandoned"
      } else if steps[step].hasTimedOut {
        overrun(step)
      } else {
        "cancelled before it began: other steps block every thread"
      }
    steps[step].wasAbandoned = steps[step].hasBegun
    let cause = Stop.failed(step, .timedOut, TimeoutError(message: message))
    settle(step, .failed, at: time, message, stopping: cause, &actions)
  }

  /// The message about a step that took longer than its timeout.
  private func overrun(_ step: Int) -> String {
    let timeout = (plan.steps[step].timeout ?? .zero).text
    return steps[step].hasBegun
      ? "took longer than its timeout of \(timeout)"
      : "did not begin within its timeout of \(timeout): other steps block every thread"
  }

  // MARK: Stopping

  /// Lets no further step begin, and cancels those under way.
  mutating func stop(_ cause: Stop, at time: Duration) -> [Action] {
    var actions: [Action] = []
    stop(cause, at: advance(to: time), &actions)
    return proceed(&actions)
  }

  private mutating func stop(_ cause: Stop, at time: Duration, _ actions: inout [Action]) {
    guard stop == nil, !hasEnded else { return }
    stop = cause
    actions.append(.stop)
    ready.removeAll()
    // Those that have timed out are cancelled already.
    let running = underWay.filter { !steps[$0].hasTimedOut }
    // All timers before the first cancellation, whose handlers may take long.
    for step in running { actions.append(.schedule(.grace, current(step), at: time + grace)) }
    for step in running { actions.append(.cancel(current(step))) }
    if case .limit(let limit) = cause {
      let message = "not shut down within \(limit.text)"
      for step in steps.indices where steps[step].phase == .waiting { steps[step].note(message) }
    }
    for step in steps.indices where steps[step].phase == .pausing || steps[step].isBetweenAttempts {
      if steps[step].phase == .pausing {
        pausing -= 1
        actions.append(.cancelPause(current(step)))
      }
      steps[step].finish(.failed, at: steps[step].end, steps[step].message)
      actions.append(.report(step, retryAfter: nil))
    }
  }

  // MARK: What follows

  /// Begins the steps that may begin, and ends the run when none is left; the last part of every input.
  private mutating func proceed(_ actions: inout [Action], beginsSteps: Bool = true) -> [Action] {
    if beginsSteps, stop == nil {
      while !limit.isReached, let step = ready.popFirst() { actions.append(begin(step, at: latest)) }
    }
    if !hasEnded, limit.taken == 0, pausing == 0, ready.isEmpty {
      hasEnded = true
      actions.append(.end)
    }
    return actions
  }

  private mutating func begin(_ step: Int, at time: Duration) -> Action {
    let former = limit.take(since: steps[step].queued)
    steps[step].begin(at: time, tookSlotOf: former)
    return .begin(current(step), timeout: plan.steps[step].timeout.map { time + $0 })
  }

  /// Ends a step, and makes the steps ready that waited for it.
  ///
  /// `cause` is what stops the run instead: a launch unless the step's policy is to go on, and a lazy run. In other runs
  /// the app is running, or ends anyway, and the failure of one step doesn't stop the others.
  private mutating func settle(
    _ step: Int, _ outcome: LaunchReport.Outcome, at time: Duration, _ message: String?, stopping cause: Stop? = nil,
    _ actions: inout [Action]
  ) {
    steps[step].finish(outcome, at: time, message)
    if !steps[step].isUnmentioned { actions.append(.report(step, retryAfter: nil)) }
    if let cause, purpose == .lazy || (purpose == .launch && plan.steps[step].policy.skips != true) {
      stop(cause, at: time, &actions)
    }
    if stop == nil { release(step, at: time, &actions) }
  }

  /// Makes the steps ready that waited for a step and now wait for no other.
  private mutating func release(_ step: Int, at time: Duration, _ actions: inout [Action]) {
    var ended = [step]
    while let step = ended.popLast() {
      for dependent in plan.dependents[step] {
        open[dependent] -= 1
        if open[dependent] == 0, !makeReady(dependent, at: time, &actions) { ended.append(dependent) }
      }
    }
  }

  /// Makes a step ready that waits for nothing; returns false if it has ended because it doesn't run at all.
  private mutating func makeReady(_ step: Int, at time: Duration, _ actions: inout [Action]) -> Bool {
    if steps[step].isSettledBefore {
      steps[step].phase = .done
      return false
    }
    steps[step].queued = time
    guard let reason = plan.steps[step].exclusion ?? unmetRequirement(of: step) else {
      ready.insert(step)
      return true
    }
    steps[step].start = time
    steps[step].finish(.skipped, at: time, reason)
    actions.append(.report(step, retryAfter: nil))
    return false
  }

  private func unmetRequirement(of step: Int) -> String? {
    guard !plan.requirements.isEmpty,
      let required = plan.requirements[step].first(where: { steps[$0].outcome != .completed && !steps[$0].isOffered })
    else { return nil }
    let what =
      switch steps[required].outcome {
      case .skipped: "was skipped"
      case .notRun: "was not run"
      case .completed, .failed: "failed"
      }
    let groups = plan.steps[required].groups
    let group = groups.isEmpty ? "" : " of \(groups.joined(separator: "/"))"
    return "requires \(plan.steps[required].id)\(group), which \(what)"
  }

  /// Takes over what a lazy run did to a step, for the report.
  ///
  /// `offset` is the time between the beginnings of the two runs.
  mutating func adopt(_ state: StepState, of step: Int, at offset: Duration) {
    if steps[step].isOffered, !hasEnded { steps[step].adopt(state, at: offset) }
  }

  private func current(_ step: Int) -> Attempt { Attempt(step: step, number: steps[step].attempt) }

  private func isUnderWay(_ attempt: Attempt) -> Bool {
    steps[attempt.step].phase == .running && steps[attempt.step].attempt == attempt.number
  }

  private mutating func advance(to time: Duration) -> Duration {
    latest = max(latest, time)
    return latest
  }
}
