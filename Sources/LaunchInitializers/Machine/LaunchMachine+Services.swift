// The services of the steps, from their first run to the end of the last one.

extension LaunchMachine {
  // MARK: Running

  /// Begins the service of a step that has been set up.
  mutating func beginService(of step: Int, asAttempt: Bool) {
    courses[.launch][step].startService()
    runService(of: step, asAttempt: asAttempt)
  }

  /// Runs the service of a step.
  ///
  /// If the step has a timeout, the service has to become ready within that time.
  private mutating func runService(of step: Int, asAttempt: Bool) {
    let number = supervisors[step, default: ServiceSupervisor()].begin(asAttempt: asAttempt)
    let job = runJob(number, of: step)
    start(job, timeout: plan.declared(step).timeout)
    if let timeout = plan.declared(step).timeout { schedule(.readiness(job), after: timeout) }
  }

  func runJob(_ number: Int, of step: Int) -> Job { Job(purpose: .launch, kind: .run, step: step, number: number) }

  mutating func ready(_ job: Job) {
    guard jobs[job]?.isLate == false, supervisors[job.step]?.becomeReady() == true else { return }
    unschedule(.readiness(job), of: job)
    event(.serviceReady, .launch, job.step, isService: true)
    if courses[.launch][job.step].isStarting {
      settle(job.step, .launch, .completed, courses[.launch][job.step].facts)
    }
  }

  /// Begins another attempt of a step whose service ended before the service was ready.
  mutating func retryService(of step: Int) {
    courses[.launch][step].takeTurn(at: now)
    courses[.launch][step].facts = []
    beginService(of: step, asAttempt: true)
  }

  mutating func restart(_ step: Int) {
    if supervisors[step]?.isPausing != true { return }
    if courses[.launch][step].isStarting { courses[.launch][step].facts = [] }
    runService(of: step, asAttempt: false)
  }

  // MARK: Ends of runs

  /// The end of a service's run, if the sequence didn't ask the service to end.
  private struct Exit {
    /// The event that happened to the service.
    var facts: [StepFact]
    /// Whether the service threw, or wasn't ready in time.
    var isFailure: Bool
    /// Whether the step's failure policy permits a retry after the service's error.
    var isRetryable = true
    /// The code of the error if the end of the service aborts the launch.
    var code = LaunchError.Code.serviceFailed
    /// The consequence for the step.
    var factsOfStep: [StepFact] { code == .timedOut ? facts : facts.map { .ofService($0) } }
  }

  mutating func serviceRun(_ job: Job, _ what: Happening) {
    switch what {
    case .began:
      if supervisors[job.step]?.codeBegan() == true { codeBegan(job.step, .launch) }
      event(.serviceBegan(run: job.number), .launch, job.step, isService: true)
    case .ended(let state, let result): runEnded(job, state, result)
    case .abandoned(let state, let ignored): runAbandoned(job, state, ignored)
    }
  }

  private mutating func runEnded(_ job: Job, _ state: JobState, _ result: Result) {
    guard let service = supervisors[job.step] else { return }
    let isExpected = service.isStopping || phase == .closing
    var exit = Exit(facts: [.returned], isFailure: false)
    if case .failed(let error, let text, let isRetryable) = result {
      exit.isRetryable = isRetryable
      exit.isFailure = record(error, of: job, isExpected || state.isCancelled)
      if exit.isFailure { exit.facts = [.threw(text)] }
    }
    if isExpected { return endedAsAsked(job.step, exit.isFailure ? exit.facts : []) }
    if state.isLate {
      exit.facts = [notReady(job.step)] + (exit.isFailure ? exit.facts : [])
      (exit.code, exit.isFailure) = (.timedOut, true)
    }
    exited(job.step, exit)
  }

  private mutating func endedAsAsked(_ step: Int, _ problems: [StepFact]) {
    for problem in problems { closing.addProblem(.ofService(problem), of: step) }
    serviceEnded(step, problems)
    continueShutDown(of: step)
  }

  private func notReady(_ step: Int) -> StepFact { .notReady(within: plan.declared(step).timeout ?? .zero) }

  /// Handles a service that hasn't ended within the grace period after its cancellation.
  ///
  /// The service may still be running, so it isn't started again.
  private mutating func runAbandoned(_ job: Job, _ state: JobState, _ ignored: StepFact) {
    let step = job.step
    setups[step].serviceStaysInUse()
    if supervisors[step]?.isStopping == true || phase == .closing { return endedAsAsked(step, [ignored]) }
    closing.addProblem(.ofService(ignored), of: step)
    let facts = [notReady(step), .ofService(ignored)]
    let exit = Exit(facts: facts, isFailure: true, isRetryable: false, code: .timedOut)
    if plan.declared(step).exitPolicy.survivesError { goOn(without: step, exit) } else { giveUp(on: step, exit) }
  }

  /// Decides what follows when a service has ended without being asked to.
  ///
  /// If the service wasn't ready yet, the step hasn't completed, so the failure policy may retry the step. If the
  /// failure policy doesn't retry the step, or if the service was ready, the step's exit policy decides.
  private mutating func exited(_ step: Int, _ exit: Exit) {
    if courses[.launch][step].isStarting {
      courses[.launch][step].fail(StepCourse.Failure(code: exit.code, isRetryable: exit.isRetryable), exit.factsOfStep)
      if pauseBeforeRetry(step, .launch) {
        supervisors[step]?.pause()
        return
      }
    }
    let (policy, time) = (plan.declared(step).exitPolicy, now)
    switch supervisors[step]?.decide(policy, threw: exit.isFailure, at: time) ?? .goOn {
    case .restart(let pause):
      supervisors[step]?.pause()
      event(.serviceRestarting(after: pause), .launch, step, message: exit.facts.predicate, isService: true)
      schedule(.restart(step, run: supervisors[step]?.run ?? 1), after: pause)
    case .goOn: goOn(without: step, exit)
    case .shutDown: giveUp(on: step, exit)
    }
  }

  private mutating func goOn(without step: Int, _ exit: Exit) {
    serviceEnded(step, exit.isFailure ? exit.facts : [])
    guard courses[.launch][step].isStarting else { return }
    settle(step, .launch, exit.isFailure ? .failed : .completed, exit.isFailure ? exit.factsOfStep : [])
  }

  private mutating func giveUp(on step: Int, _ exit: Exit) {
    serviceEnded(step, exit.facts)
    if courses[.launch][step].isStarting {
      settle(step, .launch, .failed, exit.factsOfStep)
      return abort(step, .launch, exit.code)
    }
    courses[.launch][step].facts = exit.factsOfStep
    close(.failed(step, .serviceFailed))
  }

  /// Records that the service of a step won't run again.
  mutating func serviceEnded(_ step: Int, _ problems: [StepFact]) {
    guard supervisors.removeValue(forKey: step) != nil else { return }
    event(.serviceEnded, .launch, step, message: problems.predicate, isService: true)
  }
}
