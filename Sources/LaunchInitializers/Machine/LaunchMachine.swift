/// The state of a sequence for its whole life: its launch, services, passes at the foreground and shut-down.
///
/// It decides and does nothing itself. ``handle(_:at:)`` takes what happened, under the lock of the sequence, and returns
/// the actions that follow, which ``LaunchSequence`` performs. An input about a job that is over changes nothing, so timers
/// and tasks may come late.
struct LaunchMachine: Sendable {
  enum Phase: Sendable {
    case new, launching, launched
    /// A signal came, and the shut-down begins after a while.
    case draining
    case closing, over
  }

  let plan: LaunchPlan
  let maxConcurrentSteps: Int
  let grace: Duration
  /// Whether there are listeners; without any, only the events for the log are created.
  var isObserved = false

  var phase = Phase.new
  /// By their purposes.
  var passes = [Pass(), Pass(), Pass()]
  /// Those under way.
  var jobs: [Job: JobState] = [:]
  /// Those that run or will run again, by their steps.
  var services: [Int: ServiceState] = [:]
  /// Those that wait for an answer.
  var calls: [Int: Call] = [:]
  /// All that was thrown, in order.
  var errors: [any Error] = []
  /// The reason for the shut-down, and whether the launch had succeeded before it.
  var cause: Cause?
  var wasLaunched = false
  /// The reason that the sequence ended, unless it was shut down after its launch.
  var failure: LaunchError?
  /// The faults of the steps' shut-downs, by step.
  var shutDownNotes: [Int: String] = [:]
  /// The time limit of the shut-down, once it is reached.
  var reachedLimit: Duration?

  /// The pause before the shut-down after a signal, and the shortest time limit that was set for it.
  private var (drain, limit): (Duration, Duration?) = (.zero, nil)
  /// Whether a signal came, and the number of the last arrival.
  private var (hasSignal, lastArrival) = (false, 0)
  /// Whether the app is in the background, and whether a pass follows the one under way.
  private var (isInBackground, isPassDue) = (false, false)
  private var foregroundAttempts = 0
  /// The calls that wait for the next pass.
  private var callsForNextPass: [Int] = []
  /// The number of inputs, and the number when the timer was set that watches it.
  private var inputs = 0
  private var watchedInputs: Int?

  /// The latest time of an input: clocks are read outside the lock, so it may be earlier than that of its cause.
  private(set) var now = Duration.zero
  var actions: [Action] = []
  /// The jobs to cancel after the other actions, since their cancellation handlers may take long.
  var cancelled: [Job] = []

  /// The state of a job under way.
  struct JobState: Sendable {
    let start: Duration
    var hasBegun = false
    var isCancelled = false
    var isLate = false
    /// Whether timers wait for the end of the job, and for its end after it was cancelled.
    var hasTimeout = false
    var hasGrace = false
  }

  init(_ plan: LaunchPlan, maxConcurrentSteps: Int, grace: Duration) {
    (self.plan, self.maxConcurrentSteps, self.grace) = (plan, maxConcurrentSteps, grace)
  }

  /// Takes what happened, and returns what follows.
  mutating func handle(_ input: Input, at time: Duration) -> [Action] {
    now = max(now, time)
    inputs += 1
    switch input {
    case .call(let id, let call): answer(call, id)
    case .cancelled(let id): cancelCall(id)
    case .ended(let job, let result): ended(job, result)
    case .ready(let job): ready(job)
    case .cannotStop(let job): cannotStop(job)
    case .fired(let timer): fired(timer)
    case .signal(let number, let arrival): signal(number, arrival)
    case .background: isInBackground = true
    }
    proceed()
    defer { (actions, cancelled) = ([], []) }
    for job in cancelled { actions.append(.cancel(job)) }
    return actions
  }

  /// Records that a thread performs a job, and returns a result if the job isn't wanted any more.
  mutating func began(_ job: Job) -> Result? {
    // What undoes an attempt that was abandoned isn't waited for.
    guard let state = jobs[job] else { return job.kind == .undo || job.kind == .rollBack ? nil : .idle }
    if state.isCancelled { return .failed(CancellationError(), text: "", isRetryable: false) }
    jobs[job]?.hasBegun = true
    return nil
  }

  private var isServing: Bool { phase == .launched || phase == .draining }
  /// The report of the launch; nil until it has completed, and if it failed.
  var launchReport: LaunchReport? { wasLaunched || isServing ? report(of: .launch) : nil }
  /// Whether the sequence serves.
  var isReady: Bool { phase == .launched && services.values.allSatisfy(\.isReady) }

  // MARK: Calls

  private mutating func answer(_ call: Call, _ id: Int) {
    if phase == .over { return actions.append(.answer([id], finalAnswer(to: call))) }
    calls[id] = call
    switch call {
    case .launch, .run:
      if case .run(let drain, let limit) = call {
        self.drain = drain
        limitShutDown(to: limit)
      }
      if phase == .new {
        phase = .launching
        begin(.launch)
      }
      if isServing, call.isLaunch { settle([id], .report(report(of: .launch))) }
    case .shutDown(let limit):
      limitShutDown(to: limit)
      close(.asked)
    case .foreground: enterForeground(id)
    }
  }

  private func finalAnswer(to call: Call) -> Answer {
    switch call {
    case .launch: .error(failure ?? LaunchError(.shutDown, LaunchError.overMessage))
    case .run: .exitCode(exitCode)
    case .shutDown: .report(report(of: .shutDown))
    case .foreground: .report(.empty)
    }
  }

  private mutating func settle(_ ids: [Int], _ answer: Answer) {
    for id in ids { calls[id] = nil }
    if !ids.isEmpty { actions.append(.answer(ids, answer)) }
  }

  private func ids(where isWanted: (Call) -> Bool) -> [Int] { calls.filter { isWanted($0.value) }.keys.sorted() }

  /// Ends the wait of a caller that was cancelled; the last one that waits for the launch cancels it.
  private mutating func cancelCall(_ id: Int) {
    guard let call = calls[id] else { return }
    switch call {
    case .launch:
      guard phase == .launching else { return }
      if ids(where: { $0.isLaunch || $0.isRun }) == [id] { return close(.cancelled) }
      settle([id], .error(LaunchError(.cancelled, LaunchError.callerMessage)))
    case .run: close(phase == .launching ? .cancelled : .asked)
    case .shutDown, .foreground: break
    }
  }

  /// Begins a pass through the steps.
  mutating func begin(_ purpose: Purpose) {
    let first = passes[purpose.rawValue].begin(plan, isReversed: purpose == .shutDown, at: now)
    event(.phaseBegan, purpose, message: purpose == .shutDown ? reason : nil)
    if reachedLimit != nil { passes[purpose.rawValue].stop() }
    makeReady(first, purpose)
    watch()
  }

  /// Begins what may begin, and ends what has ended; the last part of every input.
  private mutating func proceed() {
    beginReady(.launch)
    if phase == .launching, passes[0].left == 0 { launched() }
    beginReady(.foreground)
    while passes[1].isUnderWay, passes[1].isIdle {
      endPass()
      beginReady(.foreground)
    }
    if phase == .closing { proceedClosing() }
  }

  mutating func beginReady(_ purpose: Purpose) {
    let index = purpose.rawValue
    while passes[index].running < maxConcurrentSteps, let step = passes[index].popReady() {
      passes[index].running += 1
      passes[index].steps[step].phase = .running
      passes[index].steps[step].attempt += 1
      if passes[index].steps[step].attempt == 1 { passes[index].steps[step].start = now }
      event(.began(attempt: passes[index].steps[step].attempt), purpose, step)
      if purpose == .shutDown {
        beginShutDown(of: step)
      } else {
        // An attempt that an earlier pass at the foreground abandoned may still end, so numbers go on.
        if purpose == .foreground { foregroundAttempts += 1 }
        let number = purpose == .launch ? passes[0].steps[step].attempt : foregroundAttempts
        start(Job(purpose: purpose, kind: .perform, step: step, number: number), timeout: declared(step).timeout)
      }
    }
  }

  mutating func start(_ job: Job, timeout: Duration?) {
    jobs[job] = JobState(start: now)
    actions.append(.start(job))
    if let timeout { schedule(.timeout(job), after: timeout) }
  }

  private mutating func launched() {
    phase = .launched
    actions.append(.unschedule(.watch))
    watchedInputs = nil
    event(.phaseEnded, .launch)
    settle(ids(where: \.isLaunch), .report(report(of: .launch)))
    if isPassDue { beginPass() }
  }

  // MARK: The foreground

  private mutating func enterForeground(_ id: Int) {
    guard phase == .launching || isServing else { return settle([id], .report(.empty)) }
    if isInBackground { (isInBackground, isPassDue) = (false, true) }
    if !isPassDue, !passes[1].isUnderWay { return settle([id], .report(.empty)) }
    if isPassDue { callsForNextPass.append(id) }
    if isPassDue, isServing, !passes[1].isUnderWay { beginPass() }
  }

  private mutating func beginPass() {
    (isPassDue, callsForNextPass) = (false, [])
    begin(.foreground)
  }

  private mutating func endPass() {
    passes[1].end()
    event(.phaseEnded, .foreground)
    let waiting = ids(where: \.isForeground).filter { !callsForNextPass.contains($0) }
    settle(waiting, .report(report(of: .foreground)))
    if isPassDue, phase != .closing { beginPass() }
  }

  // MARK: Signals

  private mutating func signal(_ number: Int32, _ arrival: Int) {
    guard arrival > lastArrival else { return }
    lastArrival = arrival
    if hasSignal { return actions.append(.endProcess(number)) }
    hasSignal = true
    if phase == .launched, drain > .zero {
      phase = .draining
      cause = .signal(number)
      event(.draining(drain), .launch, message: reason)
      schedule(.drain, after: drain)
    } else {
      close(.signal(number))
    }
  }

  mutating func schedule(_ timer: Timer, after pause: Duration) {
    if case .timeout(let job) = timer { jobs[job]?.hasTimeout = true }
    actions.append(.schedule(timer, at: now + pause))
  }

  private mutating func fired(_ timer: Timer) {
    switch timer {
    case .timeout(let job): timedOut(job)
    case .grace(let job): abandon(job)
    case .retry(let purpose, let step, _):
      guard passes[purpose.rawValue].steps[step].phase == .pausing else { return }
      passes[purpose.rawValue].steps[step].phase = .waiting
      passes[purpose.rawValue].makeReady(step)
    case .restart(let step, _): restart(step)
    case .limit(let limit): limitReached(limit)
    case .drain: if phase == .draining, let cause { close(cause) }
    case .watch:
      // The timer is an input, too.
      if watchedInputs == inputs - 1 {
        event(.waiting(for: waitedFor), phase == .closing ? .shutDown : .launch)
      }
      watchedInputs = nil
      watch()
    }
  }

  /// Lets a timer tell that nothing happens.
  private mutating func watch() {
    if watchedInputs != nil || (phase != .launching && phase != .closing) { return }
    watchedInputs = inputs
    schedule(.watch, after: .seconds(10))
  }

  /// The ids of the steps that something is waited for.
  private var waitedFor: [String] {
    let steps = passes[passes[2].isUnderWay ? 2 : 0].steps
    let awaited = steps.indices.filter { [.running, .pausing, .readying, .stopping].contains(steps[$0].phase) }
    return awaited.map { plan.nodes[$0].id }
  }

  /// Shuts the sequence down, unless that has begun.
  mutating func close(_ cause: Cause) {
    if phase == .closing || phase == .over { return }
    let limit = limit ?? .seconds(30)
    (self.limit, self.cause, wasLaunched) = (limit, cause, isServing)
    if phase == .draining { actions.append(.unschedule(.drain)) }
    phase = .closing
    schedule(.limit(limit), after: limit)
    stopPasses()
  }

  /// Sets a time limit for the shut-down, from now on or from its beginning; one that isn't shorter would end later.
  private mutating func limitShutDown(to new: Duration) {
    if let limit, limit <= new { return }
    limit = new
    if phase == .closing { schedule(.limit(new), after: new) }
  }

  /// Notes that the sequence is over, and answers all calls.
  mutating func finish() {
    phase = .over
    failure = makeFailure()
    // First, so that nothing is left of the sequence when a caller returns.
    actions.append(.over)
    for (id, call) in calls.sorted(by: { $0.key < $1.key }) { settle([id], finalAnswer(to: call)) }
  }

  /// The exit code of a program that ran the sequence.
  var exitCode: Int32 {
    if !wasLaunched, case .signal(let number)? = cause { return 128 + number }
    let isDown = report(of: .shutDown).entries.allSatisfy { $0.outcome == .completed }
    return wasLaunched && failure == nil && isDown ? 0 : 1
  }
}
