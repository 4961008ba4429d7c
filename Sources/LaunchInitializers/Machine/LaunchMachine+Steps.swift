// The course of a step, from its turn to its end, during the launch or after a return to the foreground.

extension LaunchMachine {
  /// Returns the declarations of a step, and traps for a point.
  func declared(_ step: Int) -> LaunchStep.Declaration {
    guard let declared = plan.nodes[step].declared else { fatalError("A point was begun as a step.") }
    return declared
  }

  // MARK: Turns

  /// Makes nodes ready that wait for nothing; settles nodes that don't run, and continues with their dependents.
  mutating func makeReady(_ nodes: [Int], _ purpose: Purpose) {
    var waiting = Array(nodes.reversed())
    while let node = waiting.popLast() {
      passes[purpose].steps[node].queued = now
      let takesPart = plan.nodes[node].declared != nil && (purpose == .launch || passes.launch.steps[node].isUp)
      if purpose == .launch, let reason = reasonToSkip(node) {
        passes.launch.steps[node].start = now
        waiting += finish(node, .launch, .skipped, reason).reversed()
      } else if takesPart {
        passes[purpose].makeReady(node)
      } else {
        passes[purpose].steps[node].isUnmentioned = true
        waiting += finish(node, purpose, .completed, nil).reversed()
      }
    }
  }

  /// Returns the reason to skip a node when its turn comes, or nil to run it.
  private mutating func reasonToSkip(_ node: Int) -> String? {
    if let exclusion = plan.nodes[node].exclusion { return exclusion }
    guard let required = plan.requirements[node].first(where: { passes.launch.steps[$0].outcome != .completed })
    else { return nil }
    let culprit = plan.nodes[required].declared == nil ? passes.launch.steps[required].culprit ?? required : required
    passes.launch.steps[node].culprit = culprit
    let groups = plan.nodes[culprit].groups
    let group = groups.isEmpty ? "" : " of \(groups.joined(separator: "/"))"
    let what = passes.launch.steps[culprit].outcome == .skipped ? "was skipped" : "failed"
    return "requires \(plan.nodes[culprit].id)\(group), which \(what)"
  }

  /// Records the end of a node, and returns the nodes that now wait for nothing.
  private mutating func finish(
    _ node: Int, _ purpose: Purpose, _ outcome: LaunchReport.Outcome, _ message: String?
  ) -> [Int] {
    passes[purpose].steps[node].phase = .done
    passes[purpose].steps[node].outcome = outcome
    passes[purpose].steps[node].message = message
    passes[purpose].steps[node].end = now
    if plan.nodes[node].declared != nil, !passes[purpose].steps[node].isUnmentioned {
      event(.ended(outcome), purpose, node, message: message)
    }
    return passes[purpose].settled(node, in: plan)
  }

  /// Records the end of a step, and makes the steps ready that waited only for it.
  mutating func settle(_ step: Int, _ purpose: Purpose, _ outcome: LaunchReport.Outcome, _ message: String? = nil) {
    makeReady(finish(step, purpose, outcome, message), purpose)
  }

  // MARK: Ends of jobs

  mutating func ended(_ job: Job, _ result: Result) {
    guard let state = jobs.removeValue(forKey: job) else { return endedLate(job, result) }
    if state.hasTimeout { actions.append(.unschedule(.timeout(job))) }
    if state.hasGrace { actions.append(.unschedule(.grace(job))) }
    switch job.kind {
    case .shutDown: shutDownEnded(job, state, result)
    case .setUp: attemptEnded(job, state, result)
    case .rollBack:
      if case .failed(let error, let text, _) = result {
        let what = note(error, of: job, state.isCancelled) ? "failed: \(text)" : "was cancelled"
        passes[job.purpose].steps[job.step].message.add("its rollback \(what)")
      }
      fail(job.step, job.purpose)
    case .run: runEnded(job, result)
    case .stop: serviceMayHaveStopped(job.step)
    case .undo: break
    }
  }

  private mutating func attemptEnded(_ job: Job, _ state: JobState, _ result: Result) {
    let (step, purpose) = (job.step, job.purpose)
    // The timer may be late on a busy machine, so the times are compared as well.
    let isLate = state.isLate || declared(step).timeout.map { now - state.start > $0 } ?? false
    passes[purpose].steps[step].isLate = isLate
    let note = isLate ? overrun(step, state) : nil
    switch result {
    case .completed, .idle:
      if case .idle = result { passes[purpose].steps[step].isUnmentioned = true }
      if case .completed = result, job.number > 1 || job.purpose == .foreground {
        actions.append(.withdrawAll(step, except: job))
      }
      passes[purpose].running -= 1
      guard job.purpose == .launch else { return settle(step, job.purpose, .completed, note) }
      passes.launch.steps[step].isUp = true
      passes.launch.steps[step].message = note
      if declared(step).work.runs, phase != .closing { return beginService(of: step) }
      settle(step, .launch, .completed, note)
    case .skipped(let reason):
      passes[purpose].running -= 1
      settle(step, job.purpose, .skipped, note.map { "\(reason); \($0)" } ?? reason)
    case .failed(let error, let text, let isRetryable):
      if settleUnbegun(job, state) { return }
      actions.append(.withdraw(job))
      let isOwn = self.note(error, of: job, state.isCancelled)
      let reason = isOwn ? text : "cancelled"
      passes[purpose].steps[step].message = note.map { isOwn ? "\($0), then failed: \(reason)" : $0 } ?? reason
      passes[purpose].steps[step].isRetryable = isRetryable
      if declared(step).rollback == nil || !state.hasBegun { return fail(step, job.purpose) }
      if let reachedLimit {
        passes[purpose].steps[step].message.add("not rolled back within \(reachedLimit.text)")
        return fail(step, job.purpose)
      }
      start(job.with(.rollBack), timeout: plan.nodes[step].stopTimeout)
    }
  }

  /// Ends a step as if it had not had its turn, if its attempt was cancelled before it began; returns whether it was.
  private mutating func settleUnbegun(_ job: Job, _ state: JobState) -> Bool {
    if state.hasBegun || state.isLate { return false }
    passes[job.purpose].running -= 1
    passes[job.purpose].steps[job.step].attempt -= 1
    let step = passes[job.purpose].steps[job.step]
    settle(job.step, job.purpose, step.attempt == 0 ? .notRun : .failed, step.message)
    return true
  }

  /// Retries a step after a failed attempt and its rollback, or records that the step failed.
  private mutating func fail(_ step: Int, _ purpose: Purpose) {
    passes[purpose].running -= 1
    let (state, declared) = (passes[purpose].steps[step], declared(step))
    if phase != .closing, let retry = declared.policy.retry, state.isRetryable, state.attempt <= retry.count {
      let pause = retry.backoff.pause(after: state.attempt)
      passes[purpose].steps[step].phase = .pausing
      event(.retrying(after: pause), purpose, step, message: state.message)
      return schedule(.retry(purpose, step, attempt: state.attempt), after: pause)
    }
    settle(step, purpose, .failed, state.message)
    abort(step, purpose, state.isLate ? .timedOut : .stepFailed)
  }

  /// Aborts the launch because of a failed step, unless the step is deferred or its policy is to go on.
  mutating func abort(_ step: Int, _ purpose: Purpose, _ code: LaunchError.Code) {
    if purpose == .launch, phase == .launching, declared(step).policy.skips != true, !plan.nodes[step].isDeferred {
      close(.failed(step, code))
    }
  }

  /// Records an error of a job, or returns false if the error only says that the job was cancelled.
  mutating func note(_ error: any Error, of job: Job, _ isCancelled: Bool) -> Bool {
    if isCancelled, error is CancellationError { return false }
    passes[job.purpose].steps[job.step].errors.append(error)
    errors.append(error)
    return true
  }

  /// Handles the result of an abandoned job: reports its error, and undoes what the job has set up.
  private mutating func endedLate(_ job: Job, _ result: Result) {
    if case .failed(let error, let text, _) = result, note(error, of: job, true) {
      event(.ended(.failed), job.purpose, job.step, message: "after it was left behind: \(text)")
    }
    guard job.kind == .setUp else { return }
    actions.append(.withdraw(job))
    switch result {
    case .completed where job.purpose == .launch: actions.append(.start(job.with(.undo)))
    case .failed where declared(job.step).rollback != nil: actions.append(.start(job.with(.rollBack)))
    default: break
    }
  }

  // MARK: Time

  mutating func timedOut(_ job: Job) {
    if jobs[job]?.hasTimeout != true { return }
    jobs[job]?.isLate = true
    giveGrace(job)
    if job.kind == .run, passes.launch.steps[job.step].phase == .readying { notReadyInTime(job.step) }
    cancel(job)
  }

  /// Cancels a job, without a limit on the time that it takes to end.
  mutating func cancel(_ job: Job) {
    guard let state = jobs[job], !state.isCancelled else { return }
    jobs[job]?.isCancelled = true
    cancelled.append(job)
  }

  /// Limits the time that a job may take to end after its cancellation.
  mutating func giveGrace(_ job: Job) {
    guard jobs[job]?.hasGrace == false else { return }
    jobs[job]?.hasGrace = true
    schedule(.grace(job), after: grace)
  }

  /// Returns the message about an attempt that took longer than its timeout.
  private func overrun(_ step: Int, _ state: JobState) -> String {
    let timeout = (declared(step).timeout ?? .zero).text
    return "\(state.hasBegun ? "took longer than" : "did not get a thread within") its timeout of \(timeout)"
  }

  /// Abandons a job that hasn't ended within the grace period after its cancellation.
  mutating func abandon(_ job: Job) {
    guard let state = jobs.removeValue(forKey: job) else { return }
    let (step, purpose) = (job.step, job.purpose)
    let ignored = "ignored its cancellation for \(grace.text) and was abandoned"
    actions.append(.unschedule(.timeout(job)))
    switch job.kind {
    case .undo: return
    case .rollBack:
      passes[purpose].steps[step].wasAbandoned = true
      passes[purpose].steps[step].isRetryable = false
      passes[purpose].steps[step].message.add("its rollback \(ignored)")
      fail(step, job.purpose)
    case .run:
      passes.launch.steps[step].isServiceLeft = true
      shutDownNotes[step].add("its service \(ignored)")
      serviceEnded(step, message: ignored)
      serviceMayHaveStopped(step)
    case .shutDown, .stop:
      let what = job.kind == .stop ? "its stop() \(ignored)" : ignored
      shutDownNotes[step].add(state.hasBegun ? what : "did not get a thread to shut down")
      if state.hasBegun { passes.shutDown.steps[step].wasAbandoned = true }
      if job.kind == .stop { serviceMayHaveStopped(step) } else { settleShutDown(step) }
    case .setUp:
      if settleUnbegun(job, state) { return }
      passes[purpose].running -= 1
      actions.append(.withdraw(job))
      passes[purpose].steps[step].wasAbandoned = state.hasBegun
      settle(step, job.purpose, .failed, state.hasBegun ? ignored : overrun(step, state))
      abort(step, job.purpose, .timedOut)
    }
  }
}

extension String? {
  /// Adds a note to the message, or makes it the message if there is none.
  mutating func add(_ note: String) { self = map { "\($0); \(note)" } ?? note }
}
