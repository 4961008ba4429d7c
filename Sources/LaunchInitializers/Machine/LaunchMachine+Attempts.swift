// The attempts of steps, during the launch or after a return to the foreground.

extension LaunchMachine {
  // MARK: The queue

  /// Queues nodes that wait for no other node.
  ///
  /// A node that doesn't run ends immediately, and the nodes that waited only for that node are queued. The shutdown of
  /// a step for which `isHeldUp(_:)` returns true begins immediately, without the queue.
  mutating func enqueue(_ nodes: [Int], _ purpose: Purpose) {
    var waiting = Array(nodes.reversed())
    while let node = waiting.popLast() {
      // The node that precedes all deferred steps isn't queued during the launch. `launched()` queues it later.
      if node == plan.deferral, purpose == .launch, phase == .launching { continue }
      courses[purpose][node].queue(at: now)
      let reason = reasonToSkip(node, purpose)
      if let reason, purpose == .launch || plan.nodes[node].declared == nil {
        waiting += recordEnd(of: node, purpose, .outcome(.skipped), [reason]).reversed()
      } else if !takesPart(node, purpose) {
        let end = purpose == .launch ? StepCourse.End.outcome(.completed) : .uninvolved
        waiting += recordEnd(of: node, purpose, end, []).reversed()
      } else if purpose == .shutDown, isHeldUp(node), !passes[.shutDown].isStopped {
        beginStop(of: node)
      } else {
        passes[purpose].enqueue(node)
      }
    }
  }

  private func takesPart(_ node: Int, _ purpose: Purpose) -> Bool {
    if plan.nodes[node].declared == nil { return false }
    return switch purpose {
    case .launch: true
    case .foreground: setups[node].isUp
    case .shutDown: setups[node].isOfShutDown
    }
  }

  /// Returns the reason to skip a node that could run now, or nil if the node has to run.
  ///
  /// If the reason is another step, the method records that step as the node's `culprit`.
  private mutating func reasonToSkip(_ node: Int, _ purpose: Purpose) -> StepFact? {
    if purpose == .shutDown { return nil }
    if purpose == .launch, let exclusion = plan.nodes[node].exclusion { return .skipped(exclusion) }
    guard let required = plan.requirements[node].first(where: { isMissing($0, purpose) }) else { return nil }
    let culprit = plan.nodes[required].declared == nil ? courses[purpose][required].culprit ?? required : required
    courses[purpose][node].blame(culprit)
    return reasonToSkip(because: culprit, purpose)
  }

  /// Returns whether a node that has ended keeps the nodes that require it from running in the same pass.
  ///
  /// After a return to the foreground, a step that isn't repeated still is as the launch left it.
  private func isMissing(_ node: Int, _ purpose: Purpose) -> Bool {
    let course = courses[purpose][node]
    return course.outcome != .completed && !course.isUninvolved
  }

  private func reasonToSkip(because culprit: Int, _ purpose: Purpose) -> StepFact {
    let (node, wasSkipped) = (plan.nodes[culprit], courses[purpose][culprit].outcome == .skipped)
    return .requires(node.id, groups: node.groups, wasSkipped: wasSkipped)
  }

  /// Records the end of a node, and returns the nodes that waited only for that node.
  private mutating func recordEnd(
    of node: Int, _ purpose: Purpose, _ end: StepCourse.End, _ facts: [StepFact]
  ) -> [Int] {
    courses[purpose][node].end(end, facts, at: now)
    if plan.nodes[node].declared != nil { emitEnd(of: node, purpose, end, facts) }
    return passes[purpose].ended(node, in: plan)
  }

  /// Emits an event about the end of a step.
  ///
  /// A step that began, but had nothing to do, gets an event about its end, to match the event about its beginning.
  private mutating func emitEnd(of step: Int, _ purpose: Purpose, _ end: StepCourse.End, _ facts: [StepFact]) {
    let hasBegun = courses[purpose][step].attempts > 0
    switch end {
    case .outcome(.notRun): if hasBegun { event(.ended(.notRun), purpose, step, message: facts.text) }
    case .outcome(let outcome): event(.ended(outcome), purpose, step, message: facts.text)
    case .uninvolved: if hasBegun { event(.ended(.skipped), purpose, step, message: facts.text) }
    }
  }

  /// Records the end of a step, and queues the steps that waited only for that step.
  mutating func settle(_ step: Int, _ purpose: Purpose, _ outcome: LaunchReport.Outcome, _ facts: [StepFact]) {
    settle(step, purpose, .outcome(outcome), facts)
  }

  private mutating func settle(_ step: Int, _ purpose: Purpose, _ end: StepCourse.End, _ facts: [StepFact]) {
    enqueue(recordEnd(of: step, purpose, end, facts), purpose)
  }

  // MARK: Attempts

  mutating func codeBegan(_ step: Int, _ purpose: Purpose) {
    let number = courses[purpose][step].codeBegan(at: now)
    event(.began(attempt: number), purpose, step)
  }

  mutating func attempt(_ job: Job, _ what: Happening) {
    switch what {
    case .began: codeBegan(job.step, job.purpose)
    case .ended(let state, let result): attemptEnded(job, state, result)
    case .abandoned(let state, let ignored):
      passes[job.purpose].leave()
      withdraw(products[job] ?? [])
      courses[job.purpose][job.step].noteAbandonment()
      settle(job.step, job.purpose, .failed, (state.isLate ? [overrun(state)] : []) + [ignored])
      abort(job.step, job.purpose, .timedOut)
    }
  }

  private mutating func attemptEnded(_ job: Job, _ state: JobState, _ result: Result) {
    let (step, purpose) = (job.step, job.purpose)
    // The timeout's timer may be late on a busy machine, so the attempt's duration is checked as well.
    let isLate = state.isLate || state.timeout.map { now - state.start > $0 } ?? false
    let notes = isLate ? [overrun(state)] : []
    switch result {
    case .idle:
      passes[purpose].leave()
      closeAside(takeProducts(of: job), job)
      settle(step, purpose, .uninvolved, [.asksForNoRepetition])
    case .completed:
      passes[purpose].leave()
      closeAside(setups[step].complete(with: takeProducts(of: job)), job)
      if purpose == .launch, plan.declared(step).work.runs, phase != .closing {
        courses[.launch][step].facts = notes
        return beginService(of: step, asAttempt: false)
      }
      settle(step, purpose, .completed, notes)
    case .skipped(let reason):
      passes[purpose].leave()
      closeAside(takeProducts(of: job), job)
      settle(step, purpose, .skipped, [.skipped(reason)] + notes)
    case .failed(let error, let text, let isRetryable):
      if settleUnbegun(job, state) { return }
      let reason = record(error, of: job, state.isCancelled) ? StepFact.threw(text) : .wasCancelled
      let failure = StepCourse.Failure(code: isLate ? .timedOut : .stepFailed, isRetryable: isRetryable)
      courses[purpose][step].fail(failure, notes + [reason])
      attemptFailed(job, state)
    }
  }

  /// Rolls a failed attempt back, or decides what follows if there is nothing to roll back.
  private mutating func attemptFailed(_ job: Job, _ state: JobState) {
    let (step, made) = (job.step, takeProducts(of: job))
    withdraw(made)
    guard state.hasBegun, plan.declared(step).rollback != nil || !made.isEmpty else { return goOn(after: job) }
    if let limit = closing.reachedLimit {
      courses[job.purpose][step].facts.append(.notRolledBack(within: limit))
      closeAside(made, job)
      return goOn(after: job)
    }
    start(job.with(.rollBack), timeout: cleanUpTime(plan.nodes[step].stopTimeout), closing: made)
    // The failure ends the launch now, so that nothing else that fails during the rollback seems to be the reason.
    if retry(of: step, job.purpose) == nil { abort(step, job.purpose, courses[job.purpose][step].failure?.code) }
  }

  mutating func rollBack(_ job: Job, _ what: Happening) {
    switch what {
    case .began: courses[job.purpose][job.step].noteSign(at: now)
    case .ended(let state, let result):
      if case .failed(let error, let text, _) = result {
        let what = record(error, of: job, state.isCancelled) ? StepFact.threw(text) : .wasCancelled
        courses[job.purpose][job.step].facts.append(.ofRollback(what))
      }
      goOn(after: job)
    case .abandoned(_, let ignored):
      let course = courses[job.purpose][job.step]
      courses[job.purpose][job.step].noteAbandonment()
      let failure = StepCourse.Failure(code: course.failure?.code ?? .stepFailed, isRetryable: false)
      courses[job.purpose][job.step].fail(failure, course.facts + [.ofRollback(ignored)])
      goOn(after: job)
    }
  }

  /// Skips a step that asks to be repeated, but requires a step that has failed after the return to the foreground.
  mutating func question(_ job: Job, _ what: Happening) {
    switch what {
    case .began: courses[.foreground][job.step].noteSign(at: now)
    case .ended(_, let result):
      passes[.foreground].leave()
      if case .completed = result, let culprit = courses[.foreground][job.step].culprit {
        return settle(job.step, .foreground, .skipped, [reasonToSkip(because: culprit, .foreground)])
      }
      settle(job.step, .foreground, .uninvolved, [])
    case .abandoned(_, let ignored):
      passes[.foreground].leave()
      courses[.foreground][job.step].noteAbandonment()
      settle(job.step, .foreground, .failed, [ignored])
    }
  }

  /// Records the end of a step without counting its attempt, if the attempt was canceled before it began.
  ///
  /// - Returns: Whether the end was recorded. The result is false if the attempt had begun, or exceeded its timeout.
  private mutating func settleUnbegun(_ job: Job, _ state: JobState) -> Bool {
    if state.hasBegun || state.isLate { return false }
    passes[job.purpose].leave()
    let outcome = courses[job.purpose][job.step].loseTurn()
    settle(job.step, job.purpose, outcome, courses[job.purpose][job.step].facts)
    return true
  }

  // MARK: Retries

  /// Retries a step after a failed attempt and its rollback, or records that the step failed.
  private mutating func goOn(after job: Job) {
    let (step, purpose) = (job.step, job.purpose)
    passes[purpose].leave()
    if pauseBeforeRetry(step, purpose) { return }
    settle(step, purpose, .failed, courses[purpose][step].facts)
    abort(step, purpose, courses[purpose][step].failure?.code)
  }

  /// Begins the pause before the next attempt of a step, if another attempt may follow.
  ///
  /// - Returns: Whether another attempt may follow. The result is false if the failure policy doesn't permit another
  ///   attempt after the error, or if the shutdown has begun.
  mutating func pauseBeforeRetry(_ step: Int, _ purpose: Purpose) -> Bool {
    guard let retry = retry(of: step, purpose) else { return false }
    let tries = courses[purpose][step].tries
    let pause = retry.backoff.pause(after: tries)
    courses[purpose][step].pause(at: now)
    event(.retrying(after: pause), purpose, step, message: courses[purpose][step].facts.text)
    schedule(.retry(purpose, step, attempt: tries), after: pause)
    return true
  }

  /// Returns the policy for the retry that follows an attempt of a step; nil if no other attempt follows.
  private func retry(of step: Int, _ purpose: Purpose) -> FailurePolicy.Retry? {
    courses[purpose][step].failure?.isRetryable == false ? nil : remainingRetry(of: step, purpose)
  }

  private func remainingRetry(of step: Int, _ purpose: Purpose) -> FailurePolicy.Retry? {
    guard phase != .closing, let retry = plan.declared(step).policy.retry, courses[purpose][step].tries <= retry.count
    else { return nil }
    return retry
  }

  /// Returns whether an error of a job could lead to a retry, so that the condition of the step's policy is asked.
  func couldRetry(_ job: Job) -> Bool {
    let isAttempt = job.kind == .setUp || job.kind == .run && courses[.launch][job.step].isStarting
    if jobs[job] == nil || phase == .over || !isAttempt { return false }
    return remainingRetry(of: job.step, job.purpose) != nil
  }

  /// Begins the next attempt of a step after the pause.
  ///
  /// If the step's own code has already completed, only the step's service runs again.
  mutating func retry(_ step: Int, _ purpose: Purpose) {
    guard courses[purpose][step].isPausing else { return }
    if purpose == .launch, setups[step].isUp { return retryService(of: step) }
    courses[purpose][step].waitAgain()
    passes[purpose].enqueue(step)
  }

  /// Aborts the launch because of a failed step, unless the step is deferred or its policy lets the launch go on.
  mutating func abort(_ step: Int, _ purpose: Purpose, _ code: LaunchError.Code?) {
    if purpose == .launch, phase == .launching, plan.declared(step).policy.skips != true, !plan.nodes[step].isDeferred {
      close(.failed(step, code ?? .stepFailed))
    }
  }

  /// Returns the fact that an attempt took longer than its timeout, or that it got no thread within that time.
  private func overrun(_ state: JobState) -> StepFact {
    state.hasBegun ? .overran(state.timeout ?? .zero) : .gotNoThread(within: state.timeout ?? .zero)
  }
}
