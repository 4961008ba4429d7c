// The services of the steps, and the shutdown of all steps.

extension LaunchMachine {
  // MARK: Running

  /// Begins the service of a step that has been set up.
  mutating func beginService(of step: Int) {
    passes.launch.steps[step].phase = .readying
    runService(of: step)
  }

  /// Runs the service of a step.
  ///
  /// If the step has a timeout, the service has to become ready within that time.
  private mutating func runService(of step: Int) {
    services[step, default: ServiceState()].run += 1
    let number = services[step]?.run ?? 1
    let job = runJob(number, of: step)
    start(job, timeout: nil)
    if let timeout = declared(step).timeout { schedule(.readiness(job), after: timeout) }
  }

  private func runJob(_ number: Int, of step: Int) -> Job {
    Job(purpose: .launch, kind: .run, step: step, number: number)
  }

  mutating func ready(_ job: Job) {
    guard jobs[job]?.isLate == false, services[job.step]?.isReady == false else { return }
    services[job.step]?.isReady = true
    unschedule(.readiness(job), of: job)
    event(.serviceReady, .launch, job.step, isService: true)
    guard passes.launch.steps[job.step].phase == .readying else { return }
    settle(job.step, .launch, .completed, passes.launch.steps[job.step].message)
  }

  /// Begins another attempt of a step whose service ended before the service was ready.
  mutating func retryService(of step: Int) {
    beginAttempt(step, .launch)
    passes.launch.steps[step].message = nil
    services[step]?.isPausing = false
    services[step]?.isAttempt = true
    beginService(of: step)
  }

  mutating func restart(_ step: Int) {
    if services[step]?.isPausing != true { return }
    services[step]?.isPausing = false
    if passes.launch.steps[step].phase == .readying { passes.launch.steps[step].message = nil }
    runService(of: step)
  }

  /// The end of a service's run, if the sequence didn't ask the service to end.
  private struct Exit {
    var reason: String
    /// Whether the service threw, or wasn't ready in time.
    var isFailure: Bool
    var isLate = false
    /// Whether the step's failure policy permits a retry after the service's error.
    var isRetryable = true
  }

  mutating func runEnded(_ job: Job, _ state: JobState, _ result: Result) {
    let step = job.step
    guard let service = services[step] else { return }
    let isExpected = service.isStopping || phase == .closing
    var exit = Exit(reason: "returned without being asked to", isFailure: false)
    if case .failed(let error, let text, let isRetryable) = result {
      exit.isRetryable = isRetryable
      exit.isFailure = record(error, of: job, isExpected || state.isCancelled)
      if exit.isFailure { exit.reason = "failed: \(text)" }
    }
    if isExpected {
      let failure = exit.isFailure ? exit.reason : nil
      if let failure { addShutDownProblem("its service \(failure)", of: step) }
      serviceEnded(step, message: failure)
      return continueShutDown(of: step)
    }
    if state.isLate {
      let late = notReadyMessage(of: step)
      exit.reason = exit.isFailure ? "\(late), then \(exit.reason)" : late
      (exit.isLate, exit.isFailure) = (true, true)
    }
    exited(step, exit)
  }

  private func notReadyMessage(of step: Int) -> String {
    "was not ready within its timeout of \((declared(step).timeout ?? .zero).text)"
  }

  /// Decides what follows when a service has ended without being asked to.
  ///
  /// If the service wasn't ready yet, the step hasn't completed, so the failure policy may retry the step. If the
  /// failure policy doesn't retry the step, or if the service was ready, the step's exit policy decides.
  private mutating func exited(_ step: Int, _ exit: Exit) {
    let isStarting = passes.launch.steps[step].phase == .readying
    let message = exit.isLate ? exit.reason : "its service \(exit.reason)"
    if isStarting {
      passes.launch.steps[step].message = message
      passes.launch.steps[step].isRetryable = exit.isRetryable
      if pauseBeforeRetry(step, .launch) {
        services[step]?.isPausing = true
        return
      }
    }
    let decision = declared(step).exitPolicy.decide(
      threw: exit.isFailure, at: now, &services[step, default: ServiceState()].restarts)
    switch decision {
    case .restart(let pause):
      services[step]?.isPausing = true
      services[step]?.isReady = false
      event(.serviceRestarting(after: pause), .launch, step, message: exit.reason, isService: true)
      schedule(.restart(step, run: services[step]?.run ?? 1), after: pause)
    case .goOn: goOn(without: step, exit, message)
    case .shutDown: giveUp(on: step, exit, message)
    }
  }

  private mutating func goOn(without step: Int, _ exit: Exit, _ message: String) {
    let isStarting = passes.launch.steps[step].phase == .readying
    serviceEnded(step, message: exit.isFailure ? exit.reason : nil)
    if isStarting { settle(step, .launch, exit.isFailure ? .failed : .completed, exit.isFailure ? message : nil) }
  }

  private mutating func giveUp(on step: Int, _ exit: Exit, _ message: String) {
    let isStarting = passes.launch.steps[step].phase == .readying
    serviceEnded(step, message: exit.reason)
    if isStarting {
      settle(step, .launch, .failed, message)
      return abort(step, .launch, exit.isLate ? .timedOut : .serviceFailed)
    }
    passes.launch.steps[step].message = message
    close(.failed(step, .serviceFailed))
  }

  /// Handles a service that hasn't ended within the grace period after its cancellation.
  ///
  /// The service may still be running, so it isn't started again.
  mutating func runAbandoned(_ job: Job, _ state: JobState, _ ignored: String) {
    let step = job.step
    let isExpected = services[step]?.isStopping == true || phase == .closing
    passes.launch.steps[step].isServiceLeft = true
    addShutDownProblem("its service \(ignored)", of: step)
    if isExpected {
      serviceEnded(step, message: ignored)
      return continueShutDown(of: step)
    }
    let exit = Exit(
      reason: "\(notReadyMessage(of: step)); its service \(ignored)", isFailure: true, isLate: true, isRetryable: false)
    if declared(step).exitPolicy.survivesError {
      goOn(without: step, exit, exit.reason)
    } else {
      giveUp(on: step, exit, exit.reason)
    }
  }

  /// Records that the service of a step won't run again.
  mutating func serviceEnded(_ step: Int, message: String? = nil) {
    guard services.removeValue(forKey: step) != nil else { return }
    event(.serviceEnded, .launch, step, message: message, isService: true)
  }

  // MARK: Shutting down

  /// Stops the launch, and stops the pass that repeats steps at a return to the foreground.
  ///
  /// No further attempt begins, no service is run again, and the attempts under way are canceled. A step that waits
  /// for a retry, or whose service isn't ready yet, ends as failed.
  mutating func stopPasses() {
    for purpose in [Purpose.launch, .foreground] where passes[purpose].isUnderWay {
      passes[purpose].stop()
      for step in plan.nodes.indices {
        let state = passes[purpose].steps[step]
        if state.phase == .pausing || state.phase == .waiting && state.attempt > 0 {
          actions.append(.unschedule(.retry(purpose, step, attempt: state.attempt)))
          settle(step, purpose, .failed, state.message)
        } else if state.phase == .readying {
          var message = state.message
          message.add("was not ready before the sequence was shut down")
          settle(step, purpose, .failed, message)
        }
      }
    }
    for (step, service) in services.sorted(by: { $0.key < $1.key }) {
      let job = runJob(service.run, of: step)
      unschedule(.readiness(job), of: job)
      guard service.isPausing else { continue }
      actions.append(.unschedule(.restart(step, run: service.run)))
      serviceEnded(step)
    }
    cancelAll { $0.kind == .setUp || $0.kind == .ask }
  }

  private mutating func cancelAll(where isWanted: (Job) -> Bool) {
    for job in jobs.keys.filter(isWanted).sorted(by: { ($0.step, $0.number) < ($1.step, $1.number) }) {
      cancel(job, isLimited: true)
    }
  }

  /// Starts to shut the steps down once all attempts have ended, and ends the sequence once all jobs have ended.
  mutating func proceedClosing() {
    if !passes.shutDown.isUnderWay {
      if passes.launch.running + passes.foreground.running > 0 { return }
      if passes.launch.isUnderWay {
        passes.launch.end()
        if !wasLaunched { event(.phaseEnded, .launch) }
      }
      if passes.launch.steps.contains(where: { $0.isUp || $0.isUndone }) { begin(.shutDown) }
    }
    if passes.shutDown.isUnderWay { beginQueued(.shutDown) }
    if !jobs.isEmpty || (passes.shutDown.isUnderWay && !passes.shutDown.isIdle) { return }
    if passes.shutDown.isUnderWay {
      for step in plan.nodes.indices.reversed() where isMissed(step) {
        event(.ended(.notRun), .shutDown, step, message: missedMessage(of: step))
      }
      passes.shutDown.end()
      event(.phaseEnded, .shutDown)
    }
    finish()
  }

  /// Returns whether a step was set up but not shut down, because the shutdown reached its time limit.
  func isMissed(_ step: Int) -> Bool {
    passes.launch.steps[step].isUp && passes.shutDown.steps[step].outcome == .notRun
  }

  /// Returns the problems of a step that was set up but not shut down, such as a service that went on.
  func missedMessage(of step: Int) -> String? {
    var message = shutDownProblems[step]?.message
    if let missedLimit { message.add(missedLimit) }
    return message
  }

  /// The message about a step that wasn't shut down within the shutdown's time limit; nil until the limit is reached.
  var missedLimit: String? { reachedLimit.map { "not shut down within \($0.text)" } }

  /// Returns whether a step's shutdown has to wait for its service to end, or for its abandoned attempt to be undone.
  ///
  /// A step that is held up doesn't count toward the maximum number of concurrent steps. Therefore every service is
  /// asked to end as soon as the steps that depend on the service's step are shut down.
  func isHeldUp(_ step: Int) -> Bool { services[step] != nil || isUndoing(step) }

  func isUndoing(_ step: Int) -> Bool {
    passes.launch.steps[step].isUndone && jobs.contains { $0.step == step && $1.isLateUndo }
  }

  /// Starts the shutdown of a step for which `isHeldUp(_:)` returns true, and asks the step's service, if any, to end.
  mutating func beginShutDown(of step: Int) {
    passes.shutDown.steps[step].phase = .stopping
    beginShutDownAttempt(step)
    guard let service = services[step] else { return }
    services[step]?.isStopping = true
    let timeout = stopTime(of: step)
    services[step]?.stopTime = timeout
    start(Job(purpose: .shutDown, kind: .stop, step: step, number: 1), timeout: timeout)
    let job = runJob(service.run, of: step)
    if jobs[job] != nil { schedule(.stop(job), after: timeout) }
  }

  /// Cancels a service that hasn't ended within its stop timeout.
  mutating func cutOff(_ job: Job) {
    // Only the cancellation of a service that has a `stop()` method is a problem, since any other service was canceled
    // when its shutdown began.
    if jobs[job]?.isCancelled == false {
      let timeout = (services[job.step]?.stopTime ?? .zero).text
      addShutDownProblem(
        "its service did not end within its stop timeout of \(timeout) and was cancelled", of: job.step)
    }
    cancelLate(job)
  }

  mutating func cannotStop(_ job: Job) {
    guard jobs[job] != nil, let service = services[job.step] else { return }
    cancel(runJob(service.run, of: job.step), isLimited: false)
  }

  /// Returns the time that a step's service has to end, or that the step's own shutdown may take.
  ///
  /// It is the step's stop timeout. If other steps may wait for the step, it is also at most three quarters of the time
  /// that is left, so that a step that hangs leaves time for the others.
  private func stopTime(of step: Int) -> Duration {
    let timeout = plan.nodes[step].stopTimeout
    guard let end, !plan.dependencies[step].isEmpty else { return timeout }
    return min(timeout, max(.zero, end - now) * 3 / 4)
  }

  /// Continues the shutdown of a step, if the step's service, `stop()` call and late undoing have all ended.
  ///
  /// The late undoing is the job that undoes an abandoned attempt.
  mutating func continueShutDown(of step: Int) {
    guard passes.shutDown.isUnderWay, passes.shutDown.steps[step].phase == .stopping, !isHeldUp(step),
      jobs[Job(purpose: .shutDown, kind: .stop, step: step, number: 1)] == nil
    else { return }
    if reachedLimit != nil { return settleShutDown(step) }
    passes.shutDown.steps[step].phase = .waiting
    passes.shutDown.enqueue(step)
  }

  /// Starts the job that shuts a step down, or ends the step's shutdown immediately if the step needs no such job.
  mutating func shutDown(_ step: Int) {
    let state = passes.launch.steps[step]
    if state.isUp, !state.isServiceLeft {
      let job = Job(purpose: .shutDown, kind: .shutDown, step: step, number: 1)
      passes.shutDown.steps[step].time = stopTime(of: step)
      return start(job, timeout: passes.shutDown.steps[step].time, closing: kept[step] ?? [])
    }
    // If the step's service may still be running, the step isn't shut down, because the service may use what the step
    // set up. Otherwise, the step's abandoned attempt has already been undone, so nothing is left to shut down.
    passes.shutDown.running -= 1
    settleShutDown(step)
  }

  mutating func shutDownEnded(_ job: Job, _ state: JobState, _ result: Result) {
    let step = job.step
    let late = "took longer than its timeout of \(passes.shutDown.steps[step].time.text)"
    if case .failed(let error, let text, _) = result {
      let isOwn = record(error, of: job, state.isCancelled)
      addShutDownProblem(isOwn ? text : state.isLate ? late : "cancelled", of: step)
    }
    passes.shutDown.running -= 1
    settleShutDown(step, note: state.isLate ? late : nil)
  }

  mutating func addShutDownProblem(_ problem: String, of step: Int) {
    shutDownProblems[step, default: ShutDownProblems()].message.add(problem)
  }

  /// Unregisters the services that a step registered, and records the end of the step's shutdown.
  mutating func settleShutDown(_ step: Int, note: String? = nil) {
    withdraw(kept.removeValue(forKey: step) ?? [])
    let wasAbandoned = passes.shutDown.steps[step].wasAbandoned
    passes.shutDown.steps[step].wasAbandoned = wasAbandoned || passes.launch.steps[step].isServiceLeft
    if let missedLimit, passes.shutDown.steps[step].phase != .running {
      let isService = passes.shutDown.steps[step].phase == .stopping && declared(step).work.runs
      addShutDownProblem(isService ? "its service was cancelled" : missedLimit, of: step)
    }
    let failure = shutDownProblems[step]?.message
    settle(step, .shutDown, failure == nil ? .completed : .failed, failure ?? note)
  }

  /// Cuts short a shutdown that takes too long: cancels all jobs, and doesn't shut down any further steps.
  mutating func limitReached(_ limit: Duration) {
    guard phase == .closing, reachedLimit == nil else { return }
    reachedLimit = limit
    passes.shutDown.stop()
    // A step may have been queued for its shutdown after its service ended or its abandoned attempt was undone. Such a
    // step won't be shut down anymore.
    for step in passes.shutDown.steps.indices {
      let state = passes.shutDown.steps[step]
      if state.phase == .waiting, state.attempt > 0 { settleShutDown(step) }
    }
    cancelAll { _ in true }
  }
}
