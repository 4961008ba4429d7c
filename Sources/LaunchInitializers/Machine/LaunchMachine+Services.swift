// The services of the steps, from their first run to the end of the last one.

extension LaunchMachine {
  // MARK: Running

  /// Begins the service of a step that has been set up.
  mutating func beginService(of step: Int, asAttempt: Bool) {
    courses[step, .launch].startService()
    runService(of: step, asAttempt: asAttempt)
  }

  /// Runs the service of a step.
  ///
  /// If the step has a timeout, the service has to become ready within that time.
  private mutating func runService(of step: Int, asAttempt: Bool) {
    let number = services[step, default: ServiceSupervisor()].begin(asAttempt: asAttempt)
    let job = runJob(number, of: step)
    start(job, timeout: declared(step).timeout)
    if let timeout = declared(step).timeout { schedule(.readiness(job), after: timeout) }
  }

  func runJob(_ number: Int, of step: Int) -> Job { Job(purpose: .launch, kind: .run, step: step, number: number) }

  mutating func ready(_ job: Job) {
    guard jobs[job]?.isLate == false, services[job.step]?.becomeReady() == true else { return }
    unschedule(.readiness(job), of: job)
    event(.serviceReady, .launch, job.step, isService: true)
    if courses[job.step, .launch].isStarting {
      settle(job.step, .launch, .completed, courses[job.step, .launch].message)
    }
  }

  /// Begins another attempt of a step whose service ended before the service was ready.
  mutating func retryService(of step: Int) {
    courses[step, .launch].takeTurn(at: now)
    courses[step, .launch].message = nil
    beginService(of: step, asAttempt: true)
  }

  mutating func restart(_ step: Int) {
    if services[step]?.isPausing != true { return }
    if courses[step, .launch].isStarting { courses[step, .launch].message = nil }
    runService(of: step, asAttempt: false)
  }

  // MARK: Ends of runs

  /// The end of a service's run, if the sequence didn't ask the service to end.
  private struct Exit {
    var reason: String
    /// Whether the service threw, or wasn't ready in time.
    var isFailure: Bool
    /// Whether the step's failure policy permits a retry after the service's error.
    var isRetryable = true
    /// The code of the error if the end of the service aborts the launch.
    var code = LaunchError.Code.serviceFailed
    /// The message about the step.
    var message: String { code == .timedOut ? reason : "its service \(reason)" }
  }

  mutating func serviceRun(_ job: Job, _ what: Happening) {
    switch what {
    case .began:
      if services[job.step]?.codeBegan() == true { codeBegan(job.step, .launch) }
      event(.serviceBegan(run: job.number), .launch, job.step, isService: true)
    case .ended(let state, let result): runEnded(job, state, result)
    case .abandoned(let state, let ignored): runAbandoned(job, state, ignored)
    }
  }

  private mutating func runEnded(_ job: Job, _ state: JobState, _ result: Result) {
    guard let service = services[job.step] else { return }
    let isExpected = service.isStopping || phase == .closing
    var exit = Exit(reason: "returned without being asked to", isFailure: false)
    if case .failed(let error, let text, let isRetryable) = result {
      exit.isRetryable = isRetryable
      exit.isFailure = record(error, of: job, isExpected || state.isCancelled)
      if exit.isFailure { exit.reason = "failed: \(text)" }
    }
    if isExpected { return endedAsAsked(job.step, problem: exit.isFailure ? exit.reason : nil) }
    if state.isLate {
      let late = notReadyMessage(of: job.step)
      exit.reason = exit.isFailure ? "\(late), then \(exit.reason)" : late
      (exit.code, exit.isFailure) = (.timedOut, true)
    }
    exited(job.step, exit)
  }

  private mutating func endedAsAsked(_ step: Int, problem: String?) {
    if let problem { closing.addProblem("its service \(problem)", of: step) }
    serviceEnded(step, message: problem)
    continueShutDown(of: step)
  }

  private func notReadyMessage(of step: Int) -> String {
    "was not ready within its timeout of \((declared(step).timeout ?? .zero).text)"
  }

  /// Handles a service that hasn't ended within the grace period after its cancellation.
  ///
  /// The service may still be running, so it isn't started again.
  private mutating func runAbandoned(_ job: Job, _ state: JobState, _ ignored: String) {
    let step = job.step
    setups[step].serviceStaysInUse()
    if services[step]?.isStopping == true || phase == .closing { return endedAsAsked(step, problem: ignored) }
    closing.addProblem("its service \(ignored)", of: step)
    let reason = "\(notReadyMessage(of: step)); its service \(ignored)"
    let exit = Exit(reason: reason, isFailure: true, isRetryable: false, code: .timedOut)
    if declared(step).exitPolicy.survivesError { goOn(without: step, exit) } else { giveUp(on: step, exit) }
  }

  /// Decides what follows when a service has ended without being asked to.
  ///
  /// If the service wasn't ready yet, the step hasn't completed, so the failure policy may retry the step. If the
  /// failure policy doesn't retry the step, or if the service was ready, the step's exit policy decides.
  private mutating func exited(_ step: Int, _ exit: Exit) {
    if courses[step, .launch].isStarting {
      courses[step, .launch].fail(StepCourse.Failure(code: exit.code, isRetryable: exit.isRetryable), exit.message)
      if pauseBeforeRetry(step, .launch) {
        services[step]?.pause()
        return
      }
    }
    let (policy, time) = (declared(step).exitPolicy, now)
    switch services[step]?.decide(policy, threw: exit.isFailure, at: time) ?? .goOn {
    case .restart(let pause):
      services[step]?.pause()
      event(.serviceRestarting(after: pause), .launch, step, message: exit.reason, isService: true)
      schedule(.restart(step, run: services[step]?.run ?? 1), after: pause)
    case .goOn: goOn(without: step, exit)
    case .shutDown: giveUp(on: step, exit)
    }
  }

  private mutating func goOn(without step: Int, _ exit: Exit) {
    serviceEnded(step, message: exit.isFailure ? exit.reason : nil)
    guard courses[step, .launch].isStarting else { return }
    settle(step, .launch, exit.isFailure ? .failed : .completed, exit.isFailure ? exit.message : nil)
  }

  private mutating func giveUp(on step: Int, _ exit: Exit) {
    serviceEnded(step, message: exit.reason)
    if courses[step, .launch].isStarting {
      settle(step, .launch, .failed, exit.message)
      return abort(step, .launch, exit.code)
    }
    courses[step, .launch].message = exit.message
    close(.failed(step, .serviceFailed))
  }

  /// Records that the service of a step won't run again.
  mutating func serviceEnded(_ step: Int, message: String? = nil) {
    guard services.removeValue(forKey: step) != nil else { return }
    event(.serviceEnded, .launch, step, message: message, isService: true)
  }
}
