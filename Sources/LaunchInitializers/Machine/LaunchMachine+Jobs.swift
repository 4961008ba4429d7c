// The jobs of a sequence from their start to their end, whatever they are for.

internal import SpellRegistry

extension LaunchMachine {
  // MARK: Starting

  /// Starts a job, which closes the given products before anything else.
  mutating func start(_ job: Job, timeout: Duration?, closing made: [any StepProduct] = []) {
    if !made.isEmpty { products[job] = made }
    jobs[job] = JobState(start: now, timeout: timeout)
    actions.append(.start(job))
    if let timeout, job.kind != .run { schedule(.timeout(job), after: timeout) }
  }

  /// Limits the time of a job under way, counted from now.
  mutating func limit(_ job: Job, to time: Duration) {
    guard let start = jobs[job]?.start else { return }
    jobs[job]?.timeout = now + time - start
    schedule(.timeout(job), after: time)
  }

  /// Records that the code of a job begins, unless the job needn't run anymore.
  ///
  /// - Returns: The input that ends the job if the job needn't run anymore, otherwise nil; the products that the job has
  ///   to close before anything else; and the resulting events.
  mutating func began(
    _ job: Job, at time: Duration
  ) -> (end: Input?, closing: [any StepProduct], events: [Action]) {
    now = max(now, time)
    let made = takeProducts(of: job)
    // A job that cleans up has to run even if it is canceled or isn't in `jobs`. It isn't in `jobs` if it was abandoned
    // before it began, or if it was started after the time limit or the end of the shutdown.
    if !job.kind.cleansUp {
      guard let state = jobs[job] else { return (.ended(job, .idle), [], []) }
      if state.isCancelled { return (.unbegun(job, isRetryable: true), [], []) }
    }
    if jobs[job] != nil {
      jobs[job]?.hasBegun = true
      happened(.began, to: job)
    }
    defer { actions = [] }
    return (nil, made, actions)
  }

  // MARK: What happens to jobs

  /// Passes what happens to a job under way to the part of the machine that the job is for.
  ///
  /// This is the only place that distinguishes the kinds of jobs by what follows from them.
  private mutating func happened(_ what: Happening, to job: Job) {
    switch job.kind {
    case .setUp: attempt(job, what)
    case .ask: question(job, what)
    case .rollBack: rollBack(job, what)
    case .run: serviceRun(job, what)
    case .stop: serviceStop(job, what)
    case .shutDown: stepShutDown(job, what)
    case .undo, .lateRollBack, .close: cleanUp(job, what)
    }
  }

  mutating func ended(_ job: Job, _ result: Result) {
    guard let state = jobs.removeValue(forKey: job) else { return endedLate(job, result) }
    for timer in state.timers { actions.append(.unschedule(timer)) }
    happened(.ended(state, result), to: job)
  }

  /// Abandons a job that hasn't ended within the grace period after its cancellation.
  mutating func abandon(_ job: Job) {
    guard let state = jobs[job] else { return }
    // What hasn't begun has done nothing, so it may be retried.
    if job.kind.isRetried, !state.hasBegun { return actions.append(.giveUp(job)) }
    jobs[job] = nil
    for timer in state.timers { actions.append(.unschedule(timer)) }
    happened(.abandoned(state, .ignoredCancellation(for: grace)), to: job)
  }

  /// Records an error of a job, unless the error only says that the job was canceled.
  ///
  /// - Returns: Whether the error was recorded.
  mutating func record(_ error: any Error, of job: Job, _ isCancelled: Bool) -> Bool {
    if isCancelled, error is CancellationError || (error as? InjectionError)?.code == .cancelled { return false }
    let isOfShutDown = job.purpose == .shutDown || job.kind.isAside || job.kind == .run && phase == .closing
    for error in (error as? SeveralErrors)?.all ?? [error] {
      if isOfShutDown { closing.note(error, of: job.step) } else { courses[job.purpose][job.step].note(error) }
      errors.append(error)
    }
    return true
  }

  // MARK: Jobs that were abandoned

  /// Handles the late result of an abandoned job, and reports the job's error, if any.
  ///
  /// If an attempt has completed, the method starts to shut down what the attempt set up. After an attempt of a
  /// `.foreground` pass, the method starts this shutdown only if `isGoingDown(_:)` returns true. If an attempt has
  /// failed, the method starts the step's rollback, if the step has one.
  private mutating func endedLate(_ job: Job, _ result: Result) {
    if case .failed(let error, let text, _) = result, record(error, of: job, true) {
      emitLateFailure(of: job, .threw(text))
    }
    guard job.kind == .setUp else { return }
    let made = takeProducts(of: job)
    switch result {
    case .completed where job.purpose == .launch || isGoingDown(job.step):
      startAside(job.with(.undo), closing: made)
    case .failed where plan.declared(job.step).rollback != nil: startAside(job.with(.lateRollBack), closing: made)
    default: closeAside(made, job)
    }
  }

  /// Returns whether the code of a step's shutdown has begun, or the step's shutdown has ended.
  ///
  /// The result is false while the step's shutdown still waits, for example for the step's service to end or for a
  /// thread. It is also false if the service ignored its cancellation, because then the step isn't shut down.
  private func isGoingDown(_ step: Int) -> Bool {
    if !passes[.shutDown].hasBegun || setups[step].isInUse { return false }
    return courses[.shutDown][step].hasEnded || jobs[shutDownJob(of: step)]?.hasBegun == true
  }

  /// Starts to clean up what an attempt did, while its step goes on.
  ///
  /// The step's shutdown waits for it, unless the limit of the shutdown has been reached or the sequence is over.
  private mutating func startAside(_ job: Job, closing made: [any StepProduct]) {
    if phase == .over || closing.reachedLimit != nil {
      products[job] = made
      return actions.append(.start(job))
    }
    setups[job.step].asideJobBegan()
    start(job, timeout: cleanUpTime(plan.nodes[job.step].undoTimeout), closing: made)
  }

  /// Closes products that a step doesn't need anymore, while the step goes on.
  mutating func closeAside(_ made: [any StepProduct], _ attempt: Job) {
    if made.isEmpty { return }
    withdraw(made)
    startAside(attempt.with(.close), closing: made)
  }

  private mutating func cleanUp(_ job: Job, _ what: Happening) {
    switch what {
    case .began: break
    case .ended(_, .completed), .ended(_, .idle), .ended(_, .skipped): cleanedUp(job, nil)
    case .ended(let state, .failed(let error, let text, _)):
      let isOwn = record(error, of: job, state.isCancelled)
      cleanedUp(job, isOwn ? .threw(text) : state.isLate ? .overran(state.timeout ?? .zero) : .wasCancelled)
    case .abandoned(_, let ignored): cleanedUp(job, ignored)
    }
  }

  private mutating func cleanedUp(_ job: Job, _ problem: StepFact?) {
    setups[job.step].asideJobEnded()
    if let problem {
      let fact = StepFact.ofCleanUp(job.kind, problem)
      closing.addProblem(fact, of: job.step)
      emitLateFailure(of: job, fact)
    }
    // The shutdown may have handled the step before the step's abandoned attempt was undone.
    if passes[.shutDown].isUnderWay, courses[.shutDown][job.step].hasEnded {
      let (course, problems) = (courses[.shutDown][job.step], closing.problems[job.step]?.facts ?? [])
      let outcome = problems.isEmpty ? course.outcome : .failed
      courses[.shutDown][job.step].end(.outcome(outcome), problems.isEmpty ? course.facts : problems, at: now)
    }
    continueShutDown(of: job.step)
  }

  // MARK: Products of attempts

  /// Adds a product of an attempt, and returns whether the product is to be registered.
  ///
  /// An attempt that was abandoned registers nothing, but its products are closed when the attempt ends.
  mutating func keep(_ product: any StepProduct, by job: Job) -> Bool {
    products[job, default: []].append(product)
    return jobs[job] != nil
  }

  /// Removes and returns the products that an attempt has made, or that a job has to close.
  mutating func takeProducts(of job: Job) -> [any StepProduct] {
    products.isEmpty ? [] : products.removeValue(forKey: job) ?? []
  }

  mutating func withdraw(_ made: [any StepProduct]) {
    if !made.isEmpty { actions.append(.withdraw(made)) }
  }

  // MARK: Time

  /// Cancels a job that has exceeded a time limit, and limits the time that the job may take to end.
  mutating func cancelLate(_ job: Job) {
    jobs[job]?.isLate = true
    cancel(job, isLimited: true)
  }

  /// Cancels a job; `isLimited` says whether the job then has only the grace period to end.
  mutating func cancel(_ job: Job, isLimited: Bool) {
    switch jobs[job]?.cancellation {
    case .none?:
      jobs[job]?.cancellation = .decided(isLimited: isLimited)
      jobsToCancel.append(job)
    case .decided(let wasLimited)?: jobs[job]?.cancellation = .decided(isLimited: wasLimited || isLimited)
    case .begun?: if isLimited { giveGrace(job) }
    case nil: break
    }
  }

  mutating func cancelAll(where isWanted: (Job) -> Bool) {
    for job in jobs.keys.filter(isWanted).sorted(by: { ($0.step, $0.number) < ($1.step, $1.number) }) {
      cancel(job, isLimited: true)
    }
  }

  /// Begins the grace period of a job whose task is being canceled now.
  ///
  /// The task may be canceled long after the decision, if the cancellation handlers of other tasks take long.
  mutating func cancellationBegan(_ job: Job) {
    guard case .decided(let isLimited)? = jobs[job]?.cancellation else { return }
    jobs[job]?.cancellation = .begun
    if isLimited { giveGrace(job) }
  }

  private mutating func giveGrace(_ job: Job) {
    if jobs[job]?.timers.contains(.grace(job)) == false { schedule(.grace(job), after: grace) }
  }

  mutating func schedule(_ timer: Timer, after pause: Duration) {
    if let job = timer.job, jobs[job]?.timers.contains(timer) == false { jobs[job]?.timers.append(timer) }
    actions.append(.schedule(timer, at: now + pause))
  }

  /// Cancels a timer of a job, if the timer is set.
  mutating func unschedule(_ timer: Timer, of job: Job) {
    guard let index = jobs[job]?.timers.firstIndex(of: timer) else { return }
    jobs[job]?.timers.remove(at: index)
    actions.append(.unschedule(timer))
  }
}
