/// The state machine of a sequence, for its launch, its services, its returns to the foreground, and its shutdown.
///
/// The machine only makes decisions. ``LaunchSequence`` passes each input to ``handle(_:at:)`` while it holds its lock,
/// and carries out the actions that the method returns. An input about a job that has ended changes nothing, so late
/// timers and tasks do no harm.
struct LaunchMachine: Sendable {
  enum Phase: Sendable {
    case new, launching, launched
    /// A signal arrived, and the shutdown begins after a pause, which is called the drain.
    case draining
    case closing, over
  }

  let plan: LaunchPlan
  let maxConcurrentSteps: Int
  let grace: Duration
  /// Whether a stream of events was ever requested.
  ///
  /// If this is false, the machine creates only the events for the log.
  var isObserved = false

  var phase = Phase.new
  /// The order and the room of the steps in each pass, and the course of each step through it.
  var passes = PerPurpose(Pass())
  var courses = PerPurpose([StepCourse]())
  /// The things that each step has set up.
  var setups: [StepSetup]
  /// The supervisors of the services that run or will be restarted, by step.
  var supervisors: [Int: ServiceSupervisor] = [:]
  var closing = Closing()
  /// The jobs under way, and their states.
  var jobs: [Job: JobState] = [:]
  /// The products of each attempt that hasn't ended, and of each job that has yet to close them.
  var products: [Job: [any StepProduct]] = [:]
  /// The unanswered calls to the sequence, such as `launch()` and `shutDown()`, by the number of the call.
  var calls = Calls()
  /// The errors that were thrown, in order.
  var errors = ErrorList()
  /// The error that ended the sequence, if any.
  ///
  /// The error is nil before the end, and also if a call or a signal shut the sequence down after the launch.
  var failure: LaunchError?
  /// Whether a signal such as `SIGTERM` arrived, and the latest signal's number in the order of arrival, starting at 1
  /// (0 before the first signal).
  private(set) var (hasSignal, lastArrival) = (false, 0)
  /// Whether the app is in the background, and whether a pass through the steps is due.
  ///
  /// A pass, in which steps may be performed again, becomes due when the app returns to the foreground.
  private var (isInBackground, isPassDue) = (false, false)
  private var foregroundAttempts = 0
  /// The numbers of the `enterForeground()` calls that wait for the next pass through the steps.
  private var callsForNextPass: [Int] = []
  /// Whether the timer that looks for long waits is set.
  private var isWatching = false

  /// The latest time of all inputs.
  ///
  /// The time of the current input may be earlier, because the sequence reads its clock before it takes its lock.
  var now = Duration.zero
  var actions: [Action] = []
  /// The jobs to cancel after all other actions, because their cancellation handlers may take a long time.
  var jobsToCancel: [Job] = []

  init(_ plan: LaunchPlan, maxConcurrentSteps: Int, grace: Duration) {
    (self.plan, self.maxConcurrentSteps, self.grace) = (plan, maxConcurrentSteps, grace)
    setups = Array(repeating: StepSetup(), count: plan.nodes.count)
  }

  /// Handles an input, and returns the actions to carry out.
  mutating func handle(_ input: Input, at time: Duration) -> [Action] {
    now = max(now, time)
    switch input {
    case .call(let id, let call): accept(call, id)
    case .cancelled(let id): cancelCall(id)
    case .ended(let job, let result): ended(job, result)
    case .unbegun(let job, let isRetryable):
      if jobs[job] != nil { ended(job, .failed(CancellationError(), text: "", isRetryable: isRetryable)) }
    case .ready(let job): ready(job)
    case .cannotStop(let job): cannotStop(job)
    case .isCancelled(let job): cancellationBegan(job)
    case .fired(let timer): fired(timer)
    case .signal(let number, let arrival): signal(number, arrival)
    case .background: isInBackground = true
    }
    proceed()
    watch()
    defer { (actions, jobsToCancel) = ([], []) }
    for job in jobsToCancel { actions.append(.cancel(job)) }
    return actions
  }

  var isServing: Bool { phase == .launched || phase == .draining }
  /// The report of the launch; nil before the launch has completed, and if the launch failed.
  var launchReport: LaunchReport? { closing.wasLaunched || isServing ? report(of: .launch) : nil }
  /// Whether the launch has completed and all services of completed steps are ready.
  ///
  /// The value is false once the shutdown, or the drain before the shutdown, has begun.
  var isReady: Bool {
    phase == .launched && supervisors.allSatisfy { $1.isReady || !courses[.launch][$0].hasEnded }
  }

  // MARK: Calls

  private mutating func accept(_ call: Call, _ id: Int?) {
    if phase == .over { return answer(id, finalAnswer(to: call)) }
    if let id { calls.add(call, id) }
    switch call {
    case .launch, .run:
      if case .run(let drain, let limit) = call {
        closing.setDrain(drain)
        limitShutDown(to: limit)
      }
      if phase == .new {
        phase = .launching
        begin(.launch)
      }
      if isServing, call.isLaunch { answer(id, .report(report(of: .launch))) }
    case .shutDown(let limit):
      limitShutDown(to: limit)
      close(.asked)
    case .foreground: enterForeground(id)
    }
  }

  func finalAnswer(to call: Call) -> Answer {
    switch call {
    case .launch: .error(failure ?? LaunchError(.shutDown, LaunchError.overMessage))
    case .run: .exitCode(exitCode)
    case .shutDown: .report(report(of: .shutDown))
    case .foreground: .report(.empty)
    }
  }

  private mutating func answer(_ id: Int?, _ answer: Answer) { if let id { self.answer([id], answer) } }
  mutating func answer(_ ids: [Int], _ answer: Answer) {
    for id in ids { calls.remove(id) }
    if !ids.isEmpty { actions.append(.answer(ids, answer)) }
  }

  /// Handles the cancellation of the task that made a call.
  ///
  /// The sequence is shut down if the call is `run`, or if it is `launch` and no other call waits for the launch.
  private mutating func cancelCall(_ id: Int) {
    guard let call = calls[id] else { return }
    switch call {
    case .launch:
      guard phase == .launching else { return }
      if calls.waitingForLaunch == 1 { return close(.cancelled) }
      answer([id], .error(LaunchError(.cancelled, LaunchError.callerMessage)))
    case .run: close(phase == .launching ? .cancelled : .asked)
    case .shutDown, .foreground: break
    }
  }

  /// Begins a pass through the steps.
  mutating func begin(_ purpose: Purpose) {
    let first = passes[purpose].begin(plan, isReversed: purpose == .shutDown, at: now)
    courses[purpose] = Array(repeating: StepCourse(), count: plan.nodes.count)
    event(.phaseBegan, purpose, message: purpose == .shutDown ? reason : nil)
    if closing.reachedLimit != nil { passes[purpose].stop() }
    enqueue(first, purpose)
  }

  /// Begins the steps that may begin, and ends each pass or phase whose steps have all ended.
  ///
  /// `handle(_:at:)` calls this method after each input.
  private mutating func proceed() {
    beginQueued(.launch)
    if phase == .launching, passes[.launch].left == 0 {
      launched()
      beginQueued(.launch)
    }
    beginQueued(.foreground)
    while passes[.foreground].isUnderWay, passes[.foreground].isIdle {
      endPass()
      beginQueued(.foreground)
    }
    if phase == .closing { proceedClosing() }
  }

  mutating func beginQueued(_ purpose: Purpose) {
    while hasRoom(for: purpose), let step = passes[purpose].dequeue() {
      if purpose == .shutDown {
        if courses[.shutDown][step].tries == 0 { beginTurn(of: step) } else { courses[.shutDown][step].work() }
        shutDown(step)
      } else {
        courses[purpose][step].takeTurn(at: now)
        // Foreground attempts are numbered across passes, because an abandoned attempt may end during a later pass.
        if purpose == .foreground { foregroundAttempts += 1 }
        let number = purpose == .launch ? courses[.launch][step].tries : foregroundAttempts
        let kind = courses[purpose][step].culprit == nil ? Job.Kind.setUp : .ask
        start(Job(purpose: purpose, kind: kind, step: step, number: number), timeout: plan.declared(step).timeout)
      }
    }
  }

  /// Returns whether the maximum number of concurrent steps permits another step.
  ///
  /// The maximum applies to the steps of the launch and the foreground pass together, and separately to the shutdown.
  private func hasRoom(for purpose: Purpose) -> Bool {
    let atWork = purpose == .shutDown ? passes[.shutDown].atWork : passes[.launch].atWork + passes[.foreground].atWork
    return atWork < maxConcurrentSteps
  }

  private mutating func launched() {
    phase = .launched
    actions.append(.unschedule(.watch))
    isWatching = false
    event(.phaseEnded, .launch)
    answer(calls.ids(where: \.isLaunch), .report(report(of: .launch)))
    if let deferral = plan.deferral { enqueue([deferral], .launch) }
    if isPassDue { beginPass() }
  }

  // MARK: The foreground

  private mutating func enterForeground(_ id: Int?) {
    guard phase == .launching || isServing else { return answer(id, .report(.empty)) }
    if isInBackground { (isInBackground, isPassDue) = (false, true) }
    if !isPassDue, !passes[.foreground].isUnderWay { return answer(id, .report(.empty)) }
    if isPassDue, let id { callsForNextPass.append(id) }
    if isPassDue, isServing, !passes[.foreground].isUnderWay { beginPass() }
  }

  private mutating func beginPass() {
    (isPassDue, callsForNextPass) = (false, [])
    begin(.foreground)
  }

  private mutating func endPass() {
    passes[.foreground].end()
    event(.phaseEnded, .foreground)
    let waiting = calls.ids(where: \.isForeground).filter { !callsForNextPass.contains($0) }
    answer(waiting, .report(report(of: .foreground)))
    if isPassDue, phase != .closing { beginPass() }
  }

  // MARK: Signals

  private mutating func signal(_ number: Int32, _ arrival: Int) {
    guard arrival > lastArrival else { return }
    lastArrival = arrival
    if hasSignal { return actions.append(.endProcess(number)) }
    hasSignal = true
    if phase == .launched, closing.drain > .zero {
      phase = .draining
      closing.beginDrain(.signal(number))
      event(.draining(closing.drain), .launch, message: reason)
      schedule(.drain, after: closing.drain)
    } else {
      close(.signal(number))
    }
  }

  private mutating func fired(_ timer: Timer) {
    if let job = timer.job, jobs[job]?.timers.contains(timer) != true { return }
    switch timer {
    case .timeout(let job), .readiness(let job): cancelLate(job)
    case .stop(let job): cutOff(job)
    case .grace(let job): abandon(job)
    case .retry(let purpose, let step, _): retry(step, purpose)
    case .restart(let step, _): restart(step)
    case .limit(let limit): limitReached(limit)
    case .drain: if phase == .draining, let cause = closing.cause { close(cause) }
    case .watch: emitWaits()
    }
  }

  /// Sets the watch timer during the launch and the shutdown, unless the timer is already set.
  private mutating func watch() {
    if isWatching || (phase != .launching && phase != .closing) { return }
    isWatching = true
    schedule(.watch, after: Self.longWait)
  }

  /// The time without progress after which a step is named in an event about a long wait.
  private static let longWait = Duration.seconds(10)

  /// Emits an event about each pass that has waited long for a step, and sets the watch timer for the next step.
  ///
  /// During a shutdown, the other passes may still wait for attempts, because the shutdown's own pass begins only after
  /// these attempts have ended.
  private mutating func emitWaits() {
    var oldest = now
    for purpose in Purpose.allCases {
      var named: [Int] = []
      for step in courses[purpose].indices where isAwaited(step, purpose) {
        let lastSign = courses[purpose][step].lastSign
        if now - lastSign >= Self.longWait { named.append(step) } else { oldest = min(oldest, lastSign) }
      }
      for step in named { courses[purpose][step].noteSign(at: now) }
      if !named.isEmpty { event(.waiting(for: named.map { plan.nodes[$0].id }), purpose) }
    }
    isWatching = phase == .launching || phase == .closing
    if isWatching { schedule(.watch, after: oldest + Self.longWait - now) }
  }

  private func isAwaited(_ step: Int, _ purpose: Purpose) -> Bool {
    courses[purpose][step].isUnderWay || purpose == .shutDown && setups[step].isBeingCleaned
  }
}
