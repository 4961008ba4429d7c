// The handling of a step from its start to its end, during the launch or after a return to the foreground.

internal import SpellRegistry

extension LaunchMachine {
  /// Returns what the program has declared for the step with the given index; traps if the node isn't a step.
  func declared(_ step: Int) -> LaunchStep.Declaration {
    guard let declared = plan.nodes[step].declared else { fatalError("A point was begun as a step.") }
    return declared
  }

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
      passes[purpose].steps[node].queued = now
      if purpose == .launch, let reason = reasonToSkip(node) {
        passes.launch.steps[node].start = now
        waiting += recordEnd(of: node, .launch, .skipped, reason).reversed()
      } else if !takesPart(node, purpose) {
        passes[purpose].steps[node].isUnmentioned = true
        waiting += recordEnd(of: node, purpose, .completed, nil).reversed()
      } else if purpose == .shutDown, isHeldUp(node), !passes.shutDown.isStopped {
        beginShutDown(of: node)
      } else {
        passes[purpose].enqueue(node)
      }
    }
  }

  private func takesPart(_ node: Int, _ purpose: Purpose) -> Bool {
    if plan.nodes[node].declared == nil { return false }
    let step = passes.launch.steps[node]
    return purpose == .launch || step.isUp || (purpose == .shutDown && step.isUndone)
  }

  /// Returns the reason to skip a node that could run now, or nil if the node has to run.
  ///
  /// If the reason is another step, the method records that step as the node's `culprit`.
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

  /// Records the end of a node, and returns the nodes that waited only for that node.
  private mutating func recordEnd(
    of node: Int, _ purpose: Purpose, _ outcome: LaunchReport.Outcome, _ message: String?
  ) -> [Int] {
    progress += 1
    passes[purpose].steps[node].phase = .done
    passes[purpose].steps[node].outcome = outcome
    passes[purpose].steps[node].message = message
    passes[purpose].steps[node].end = now
    // A step that began, but had nothing to do, gets an event about its end, to match the event about its beginning.
    let state = passes[purpose].steps[node]
    if plan.nodes[node].declared != nil, state.attempt > 0 || !state.isUnmentioned {
      event(.ended(outcome), purpose, node, message: message)
    }
    return passes[purpose].settled(node, in: plan)
  }

  /// Records the end of a step, and queues the steps that waited only for that step.
  mutating func settle(_ step: Int, _ purpose: Purpose, _ outcome: LaunchReport.Outcome, _ message: String? = nil) {
    enqueue(recordEnd(of: step, purpose, outcome, message), purpose)
  }

  // MARK: Ends of jobs

  mutating func ended(_ job: Job, _ result: Result) {
    guard let state = jobs.removeValue(forKey: job) else { return endedLate(job, result) }
    for timer in state.timers { actions.append(.unschedule(timer)) }
    if state.isLateUndo { return lateUndoEnded(job, state, result) }
    switch job.kind {
    case .shutDown: shutDownEnded(job, state, result)
    case .setUp: attemptEnded(job, state, result)
    case .rollBack:
      if case .failed(let error, let text, _) = result {
        let what = record(error, of: job, state.isCancelled) ? "failed: \(text)" : "was cancelled"
        passes[job.purpose].steps[job.step].message.add("its rollback \(what)")
      }
      attemptFailed(job.step, job.purpose)
    case .run: runEnded(job, state, result)
    case .stop: continueShutDown(of: job.step)
    case .undo: break
    }
  }

  private mutating func attemptEnded(_ job: Job, _ state: JobState, _ result: Result) {
    let (step, purpose) = (job.step, job.purpose)
    // The timeout's timer may be late on a busy machine, so the attempt's duration is checked as well.
    let isLate = state.isLate || declared(step).timeout.map { now - state.start > $0 } ?? false
    passes[purpose].steps[step].isLate = isLate
    let note = isLate ? overrun(step, state) : nil
    switch result {
    case .idle:
      passes[purpose].steps[step].isUnmentioned = true
      passes[purpose].running -= 1
      settle(step, purpose, .skipped, "doesn't ask to be repeated")
    case .completed:
      if job.number > 1 || job.purpose == .foreground { actions.append(.withdrawAll(step, before: job)) }
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
      let isOwn = record(error, of: job, state.isCancelled)
      let reason = isOwn ? text : "cancelled"
      passes[purpose].steps[step].message = note.map { isOwn ? "\($0), then failed: \(reason)" : $0 } ?? reason
      passes[purpose].steps[step].isRetryable = isRetryable
      if declared(step).rollback == nil || !state.hasBegun { return attemptFailed(step, job.purpose) }
      if let reachedLimit {
        passes[purpose].steps[step].message.add("not rolled back within \(reachedLimit.text)")
        return attemptFailed(step, job.purpose)
      }
      start(job.with(.rollBack), timeout: plan.nodes[step].stopTimeout)
    }
  }

  /// Records the end of a step without counting its attempt, if the attempt was canceled before it began.
  ///
  /// - Returns: Whether the end was recorded. The result is false if the attempt had begun, or exceeded its timeout.
  private mutating func settleUnbegun(_ job: Job, _ state: JobState) -> Bool {
    if state.hasBegun || state.isLate { return false }
    passes[job.purpose].running -= 1
    passes[job.purpose].steps[job.step].attempt -= 1
    let step = passes[job.purpose].steps[job.step]
    settle(job.step, job.purpose, step.attempt == 0 ? .notRun : .failed, step.message)
    return true
  }

  /// Retries a step after a failed attempt and its rollback, or records that the step failed.
  private mutating func attemptFailed(_ step: Int, _ purpose: Purpose) {
    passes[purpose].running -= 1
    if pauseBeforeRetry(step, purpose) { return }
    let state = passes[purpose].steps[step]
    settle(step, purpose, .failed, state.message)
    abort(step, purpose, state.isLate ? .timedOut : .stepFailed)
  }

  /// Begins the pause before the next attempt of a step, if another attempt may follow.
  ///
  /// - Returns: Whether another attempt may follow. The result is false if the failure policy doesn't permit another
  ///   attempt after the error, or if the shutdown has begun.
  mutating func pauseBeforeRetry(_ step: Int, _ purpose: Purpose) -> Bool {
    let state = passes[purpose].steps[step]
    guard phase != .closing, let retry = declared(step).policy.retry, state.isRetryable, state.attempt <= retry.count
    else { return false }
    let pause = retry.backoff.pause(after: state.attempt)
    passes[purpose].steps[step].phase = .pausing
    event(.retrying(after: pause), purpose, step, message: state.message)
    schedule(.retry(purpose, step, attempt: state.attempt), after: pause)
    return true
  }

  /// Begins the next attempt of a step after the pause.
  ///
  /// If the step's own code has already completed, only the step's service runs again.
  mutating func retry(_ step: Int, _ purpose: Purpose) {
    guard passes[purpose].steps[step].phase == .pausing else { return }
    if purpose == .launch, passes.launch.steps[step].isUp { return retryService(of: step) }
    passes[purpose].steps[step].phase = .waiting
    passes[purpose].enqueue(step)
  }

  /// Aborts the launch because of a failed step, unless the step is deferred or its policy lets the launch go on.
  mutating func abort(_ step: Int, _ purpose: Purpose, _ code: LaunchError.Code) {
    if purpose == .launch, phase == .launching, declared(step).policy.skips != true, !plan.nodes[step].isDeferred {
      close(.failed(step, code))
    }
  }

  /// Records an error of a job, unless the error only says that the job was canceled.
  ///
  /// - Returns: Whether the error was recorded.
  mutating func record(_ error: any Error, of job: Job, _ isCancelled: Bool, isLateUndo: Bool = false) -> Bool {
    if isCancelled, error is CancellationError || (error as? InjectionError)?.code == .cancelled { return false }
    let isOfShutDown = job.purpose == .shutDown || isLateUndo || job.kind == .run && phase == .closing
    if isOfShutDown {
      shutDownProblems[job.step, default: ShutDownProblems()].errors.append(error)
    } else {
      passes[job.purpose].steps[job.step].errors.append(error)
    }
    errors.append(error)
    return true
  }

  // MARK: Abandoned attempts

  /// Handles the late result of an abandoned job, and reports the job's error, if any.
  ///
  /// If an attempt has completed, the method starts to shut down what the attempt set up. After an attempt of a
  /// `.foreground` pass, the method starts this shutdown only if `isGoingDown(_:)` returns true. If an attempt has
  /// failed, the method starts the step's rollback, if the step has one.
  private mutating func endedLate(_ job: Job, _ result: Result) {
    if case .failed(let error, let text, _) = result, record(error, of: job, true) {
      event(.ended(.failed), job.purpose, job.step, message: "after it was left behind: \(text)")
    }
    guard job.kind == .setUp else { return }
    actions.append(.withdraw(job))
    switch result {
    case .completed where job.purpose == .launch || isGoingDown(job.step): undoLate(job.with(.undo))
    case .failed where declared(job.step).rollback != nil: undoLate(job.with(.rollBack))
    default: break
    }
  }

  /// Returns whether the code of a step's shutdown has begun, or the step's shutdown has ended.
  ///
  /// The result is false while the step's shutdown still waits, for example for the step's service to end or for a
  /// thread. It is also false if the service ignored its cancellation, because then the step isn't shut down.
  private func isGoingDown(_ step: Int) -> Bool {
    if passes.shutDown.steps.isEmpty || passes.launch.steps[step].isServiceLeft { return false }
    let shutDown = Job(purpose: .shutDown, kind: .shutDown, step: step, number: 1)
    return passes.shutDown.steps[step].phase == .done || jobs[shutDown]?.hasBegun == true
  }

  /// Starts to undo what an abandoned attempt did.
  ///
  /// The shutdown waits for the undoing, unless the limit of the shutdown has been reached or the sequence is over.
  private mutating func undoLate(_ job: Job) {
    if phase == .over || reachedLimit != nil { return actions.append(.start(job)) }
    passes.launch.steps[job.step].isUndone = true
    start(job, timeout: plan.nodes[job.step].undoTimeout)
    jobs[job]?.isLateUndo = true
  }

  private mutating func lateUndoEnded(_ job: Job, _ state: JobState, _ result: Result) {
    var problem: String?
    if case .failed(let error, let text, _) = result {
      let isOwn = record(error, of: job, state.isCancelled, isLateUndo: true)
      let late = "took longer than its timeout of \(plan.nodes[job.step].undoTimeout.text)"
      problem = isOwn ? "failed: \(text)" : state.isLate ? late : "was cancelled"
    }
    lateUndoEnded(job, problem: problem)
  }

  private mutating func lateUndoEnded(_ job: Job, problem: String?) {
    if let problem {
      let message = "the \(job.kind == .undo ? "shutdown" : "rollback") of its abandoned attempt \(problem)"
      addShutDownProblem(message, of: job.step)
      event(.ended(.failed), job.purpose, job.step, message: "after it was left behind: \(message)")
    }
    // The shutdown may have handled the step before the step's abandoned attempt was undone.
    if passes.shutDown.isUnderWay, passes.shutDown.steps[job.step].phase == .done {
      passes.shutDown.steps[job.step].end = now
      if let problem = shutDownProblems[job.step]?.message {
        passes.shutDown.steps[job.step].outcome = .failed
        passes.shutDown.steps[job.step].message = problem
      }
    }
    continueShutDown(of: job.step)
  }

  // MARK: Time

  /// Cancels a job that has exceeded a time limit, and limits the time that the job may take to end.
  mutating func cancelLate(_ job: Job) {
    jobs[job]?.isLate = true
    giveGrace(job)
    cancel(job)
  }

  /// Cancels a job, but doesn't limit the time that the job may take to end.
  mutating func cancel(_ job: Job) {
    guard let state = jobs[job], !state.isCancelled else { return }
    jobs[job]?.isCancelled = true
    jobsToCancel.append(job)
  }

  /// Limits the time that a job may take to end after its cancellation.
  mutating func giveGrace(_ job: Job) {
    if jobs[job]?.timers.contains(.grace(job)) == false { schedule(.grace(job), after: grace) }
  }

  /// Returns the message about an attempt that took longer than its timeout, or that got no thread within that time.
  private func overrun(_ step: Int, _ state: JobState) -> String {
    let timeout = (declared(step).timeout ?? .zero).text
    return "\(state.hasBegun ? "took longer than" : "did not get a thread within") its timeout of \(timeout)"
  }

  /// Abandons a job that hasn't ended within the grace period after its cancellation.
  mutating func abandon(_ job: Job) {
    guard let state = jobs[job] else { return }
    // An attempt without a thread has done nothing, and neither has the run of a service, so it may be retried.
    if [.setUp, .run].contains(job.kind), !state.hasBegun { return actions.append(.giveUp(job)) }
    jobs[job] = nil
    let (step, purpose) = (job.step, job.purpose)
    let ignored = "ignored its cancellation for \(grace.text) and was abandoned"
    for timer in state.timers { actions.append(.unschedule(timer)) }
    if state.isLateUndo { return lateUndoEnded(job, problem: ignored) }
    switch job.kind {
    case .undo: return
    case .rollBack:
      passes[purpose].steps[step].wasAbandoned = true
      passes[purpose].steps[step].isRetryable = false
      passes[purpose].steps[step].message.add("its rollback \(ignored)")
      attemptFailed(step, job.purpose)
    case .run: runAbandoned(job, state, ignored)
    case .shutDown, .stop:
      let what = job.kind == .stop ? "its stop() \(ignored)" : ignored
      addShutDownProblem(state.hasBegun ? what : "did not get a thread to shut down", of: step)
      if state.hasBegun { passes.shutDown.steps[step].wasAbandoned = true }
      if job.kind == .stop { return continueShutDown(of: step) }
      passes.shutDown.running -= 1
      settleShutDown(step)
    case .setUp:
      passes[purpose].running -= 1
      actions.append(.withdraw(job))
      passes[purpose].steps[step].wasAbandoned = true
      settle(step, job.purpose, .failed, ignored)
      abort(step, job.purpose, .timedOut)
    }
  }
}

extension String? {
  /// Appends a note to the message; if the message is nil, the note becomes the message.
  mutating func add(_ note: String) { self = map { "\($0); \(note)" } ?? note }
}
