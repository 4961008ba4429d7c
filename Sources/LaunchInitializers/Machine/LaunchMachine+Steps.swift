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
      let reason = reasonToSkip(node, purpose)
      if let reason, purpose == .launch || plan.nodes[node].declared == nil {
        passes[purpose].steps[node].start = now
        waiting += recordEnd(of: node, purpose, .skipped, reason).reversed()
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
  private mutating func reasonToSkip(_ node: Int, _ purpose: Purpose) -> String? {
    if purpose == .shutDown { return nil }
    if purpose == .launch, let exclusion = plan.nodes[node].exclusion { return exclusion }
    guard let required = plan.requirements[node].first(where: { isMissing($0, purpose) }) else { return nil }
    let culprit = plan.nodes[required].declared == nil ? passes[purpose].steps[required].culprit ?? required : required
    passes[purpose].steps[node].culprit = culprit
    return reasonToSkip(because: culprit, purpose)
  }

  /// Returns whether a node that has ended keeps the nodes that require it from running in the same pass.
  ///
  /// After a return to the foreground, a step that isn't repeated still is as the launch left it.
  private func isMissing(_ node: Int, _ purpose: Purpose) -> Bool {
    let state = passes[purpose].steps[node]
    return state.outcome != .completed && (purpose == .launch || !state.isUnmentioned)
  }

  private func reasonToSkip(because culprit: Int, _ purpose: Purpose) -> String {
    let groups = plan.nodes[culprit].groups
    let group = groups.isEmpty ? "" : " of \(groups.joined(separator: "/"))"
    let what = passes[purpose].steps[culprit].outcome == .skipped ? "was skipped" : "failed"
    return "requires \(plan.nodes[culprit].id)\(group), which \(what)"
  }

  /// Records the end of a node, and returns the nodes that waited only for that node.
  private mutating func recordEnd(
    of node: Int, _ purpose: Purpose, _ outcome: LaunchReport.Outcome, _ message: String?
  ) -> [Int] {
    passes[purpose].steps[node].phase = .done
    passes[purpose].steps[node].outcome = outcome
    passes[purpose].steps[node].message = message
    passes[purpose].steps[node].end = now
    if passes[purpose].steps[node].begun == 0 { passes[purpose].steps[node].start = now }
    // A step that began, but had nothing to do, gets an event about its end, to match the event about its beginning.
    let state = passes[purpose].steps[node]
    let isTold = state.begun > 0 || !state.isUnmentioned && outcome != .notRun
    if plan.nodes[node].declared != nil, isTold {
      event(.ended(outcome), purpose, node, message: message)
    }
    return passes[purpose].settled(node, in: plan)
  }

  /// Records the end of a step, and queues the steps that waited only for that step.
  mutating func settle(_ step: Int, _ purpose: Purpose, _ outcome: LaunchReport.Outcome, _ message: String? = nil) {
    enqueue(recordEnd(of: step, purpose, outcome, message), purpose)
  }

  // MARK: Beginnings

  /// Records that a step's turn for an attempt has come; the attempt's code may begin later, or never.
  mutating func beginAttempt(_ step: Int, _ purpose: Purpose) {
    passes[purpose].steps[step].attempt += 1
    passes[purpose].steps[step].lastSign = now
    if passes[purpose].steps[step].begun == 0 { passes[purpose].steps[step].start = now }
  }

  /// Records that the shutdown of a step begins, perhaps with the end of its service.
  mutating func beginShutDownAttempt(_ step: Int) {
    beginAttempt(step, .shutDown)
    codeBegan(step, .shutDown)
  }

  /// Records that the code of a step's attempt begins.
  private mutating func codeBegan(_ step: Int, _ purpose: Purpose) {
    passes[purpose].steps[step].begun += 1
    passes[purpose].steps[step].lastSign = now
    let number = passes[purpose].steps[step].begun
    if number == 1 { passes[purpose].steps[step].start = now }
    event(.began(attempt: number), purpose, step)
  }

  mutating func noteBeginning(of job: Job) {
    switch job.kind {
    case .setUp: codeBegan(job.step, job.purpose)
    case .run:
      if services[job.step]?.isAttempt == true {
        services[job.step]?.isAttempt = false
        codeBegan(job.step, .launch)
      }
      event(.serviceBegan(run: job.number), .launch, job.step, isService: true)
    case .ask, .rollBack, .stop, .shutDown, .undo, .close: passes[job.purpose].noteSign(of: job.step, at: now)
    }
  }

  // MARK: Ends of jobs

  mutating func ended(_ job: Job, _ result: Result) {
    guard let state = jobs.removeValue(forKey: job) else { return endedLate(job, result) }
    for timer in state.timers { actions.append(.unschedule(timer)) }
    if state.isLateUndo { return lateUndoEnded(job, state, result) }
    switch job.kind {
    case .shutDown: shutDownEnded(job, state, result)
    case .setUp: attemptEnded(job, state, result)
    case .ask: asked(job, result)
    case .rollBack:
      if case .failed(let error, let text, _) = result {
        let what = record(error, of: job, state.isCancelled) ? "failed: \(text)" : "was cancelled"
        passes[job.purpose].steps[job.step].message.add("its rollback \(what)")
      }
      attemptFailed(job.step, job.purpose)
    case .run: runEnded(job, state, result)
    case .stop: continueShutDown(of: job.step)
    case .undo, .close: break
    }
  }

  /// Skips a step that asks to be repeated, but requires a step that has failed after the return to the foreground.
  private mutating func asked(_ job: Job, _ result: Result) {
    passes.foreground.running -= 1
    if case .completed = result, let culprit = passes.foreground.steps[job.step].culprit {
      return settle(job.step, .foreground, .skipped, reasonToSkip(because: culprit, .foreground))
    }
    passes.foreground.steps[job.step].isUnmentioned = true
    settle(job.step, .foreground, .notRun)
  }

  private mutating func attemptEnded(_ job: Job, _ state: JobState, _ result: Result) {
    let (step, purpose) = (job.step, job.purpose)
    // The timeout's timer may be late on a busy machine, so the attempt's duration is checked as well.
    let isLate = state.isLate || declared(step).timeout.map { now - state.start > $0 } ?? false
    passes[purpose].steps[step].isLate = isLate
    let note = isLate ? overrun(step, state) : nil
    switch result {
    case .idle:
      closeAside(made.removeValue(forKey: job) ?? [], job)
      passes[purpose].steps[step].isUnmentioned = true
      passes[purpose].running -= 1
      settle(step, purpose, .skipped, "doesn't ask to be repeated")
    case .completed:
      passes[purpose].running -= 1
      let former = kept.updateValue(made.removeValue(forKey: job) ?? [], forKey: step) ?? []
      closeAside(former, job)
      guard job.purpose == .launch else { return settle(step, job.purpose, .completed, note) }
      passes.launch.steps[step].isUp = true
      passes.launch.steps[step].message = note
      if declared(step).work.runs, phase != .closing { return beginService(of: step) }
      settle(step, .launch, .completed, note)
    case .skipped(let reason):
      passes[purpose].running -= 1
      closeAside(made.removeValue(forKey: job) ?? [], job)
      settle(step, job.purpose, .skipped, note.map { "\(reason); \($0)" } ?? reason)
    case .failed(let error, let text, let isRetryable):
      if settleUnbegun(job, state) { return }
      let services = made.removeValue(forKey: job) ?? []
      withdraw(services)
      let isOwn = record(error, of: job, state.isCancelled)
      let reason = isOwn ? text : "cancelled"
      passes[purpose].steps[step].message = note.map { isOwn ? "\($0), then failed: \(reason)" : $0 } ?? reason
      passes[purpose].steps[step].isRetryable = isRetryable
      let isRolledBack = state.hasBegun && (declared(step).rollback != nil || !services.isEmpty)
      if !isRolledBack { return attemptFailed(step, job.purpose) }
      if let reachedLimit {
        passes[purpose].steps[step].message.add("not rolled back within \(reachedLimit.text)")
        closeAside(services, job)
        return attemptFailed(step, job.purpose)
      }
      start(job.with(.rollBack), timeout: plan.nodes[step].stopTimeout, closing: services)
      // The failure ends the launch now, so that nothing else that fails during the rollback seems to be the reason.
      if retry(of: step, purpose) == nil { abort(step, purpose, isLate ? .timedOut : .stepFailed) }
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
    guard let retry = retry(of: step, purpose) else { return false }
    let state = passes[purpose].steps[step]
    let pause = retry.backoff.pause(after: state.attempt)
    passes[purpose].steps[step].phase = .pausing
    passes[purpose].steps[step].lastSign = now
    event(.retrying(after: pause), purpose, step, message: state.message)
    schedule(.retry(purpose, step, attempt: state.attempt), after: pause)
    return true
  }

  /// Returns the policy for the retry that follows an attempt of a step; nil if no other attempt follows.
  private func retry(of step: Int, _ purpose: Purpose) -> FailurePolicy.Retry? {
    let state = passes[purpose].steps[step]
    guard phase != .closing, let retry = declared(step).policy.retry, state.isRetryable, state.attempt <= retry.count
    else { return nil }
    return retry
  }

  /// Returns whether an error of a job could lead to a retry, so that the condition of the step's policy is asked.
  func couldRetry(_ job: Job) -> Bool {
    if jobs[job] == nil || phase == .over { return false }
    switch job.kind {
    case .setUp: break
    case .run: if passes.launch.steps[job.step].phase != .readying { return false }
    case .ask, .rollBack, .stop, .shutDown, .undo, .close: return false
    }
    guard phase != .closing, let retry = declared(job.step).policy.retry else { return false }
    return passes[job.purpose].steps[job.step].attempt <= retry.count
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
    for error in (error as? SeveralErrors)?.all ?? [error] {
      if isOfShutDown {
        shutDownProblems[job.step, default: ShutDownProblems()].errors.append(error)
      } else {
        passes[job.purpose].steps[job.step].errors.append(error)
      }
      errors.append(error)
    }
    return true
  }

  // MARK: Services that attempts made

  /// Adds a service that an attempt made, and returns whether the service is to be registered.
  ///
  /// An attempt that was abandoned registers nothing, but its service is closed when the attempt ends.
  mutating func keep(_ service: any MadeService, by job: Job) -> Bool {
    made[job, default: []].append(service)
    return jobs[job] != nil
  }

  mutating func withdraw(_ services: [any MadeService]) {
    if !services.isEmpty { actions.append(.withdraw(services)) }
  }

  /// Closes services that a step doesn't need anymore, while the step goes on.
  private mutating func closeAside(_ services: [any MadeService], _ attempt: Job) {
    if services.isEmpty { return }
    withdraw(services)
    undoLate(attempt.with(.close), closing: services)
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
    let services = made.removeValue(forKey: job) ?? []
    switch result {
    case .completed where job.purpose == .launch || isGoingDown(job.step): undoLate(job.with(.undo), closing: services)
    case .failed where declared(job.step).rollback != nil: undoLate(job.with(.rollBack), closing: services)
    default: closeAside(services, job)
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
  private mutating func undoLate(_ job: Job, closing services: [any MadeService]) {
    if phase == .over || reachedLimit != nil { return actions.append(.start(job, closing: services)) }
    passes.launch.steps[job.step].isUndone = true
    start(job, timeout: plan.nodes[job.step].undoTimeout, closing: services)
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
      let what =
        switch job.kind {
        case .undo: "the shutdown of its abandoned attempt"
        case .rollBack: "the rollback of its abandoned attempt"
        default: "the shutdown of a service that it had made"
        }
      addShutDownProblem("\(what) \(problem)", of: job.step)
      event(.ended(.failed), job.purpose, job.step, message: "after it was left behind: \(what) \(problem)")
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

  /// Returns the message about an attempt that took longer than its timeout, or that got no thread within that time.
  private func overrun(_ step: Int, _ state: JobState) -> String {
    let timeout = (declared(step).timeout ?? .zero).text
    return "\(state.hasBegun ? "took longer than" : "did not get a thread within") its timeout of \(timeout)"
  }

  /// Abandons a job that hasn't ended within the grace period after its cancellation.
  mutating func abandon(_ job: Job) {
    guard let state = jobs[job] else { return }
    // An attempt without a thread has done nothing, and neither has the run of a service, so it may be retried.
    if [.setUp, .ask, .run].contains(job.kind), !state.hasBegun { return actions.append(.giveUp(job)) }
    jobs[job] = nil
    let (step, purpose) = (job.step, job.purpose)
    let ignored = "ignored its cancellation for \(grace.text) and was abandoned"
    for timer in state.timers { actions.append(.unschedule(timer)) }
    if state.isLateUndo { return lateUndoEnded(job, problem: ignored) }
    switch job.kind {
    case .undo, .close: return
    case .ask:
      passes.foreground.running -= 1
      passes.foreground.steps[step].wasAbandoned = true
      settle(step, .foreground, .failed, ignored)
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
      withdraw(made[job] ?? [])
      passes[purpose].steps[step].wasAbandoned = true
      settle(step, job.purpose, .failed, state.isLate ? "\(overrun(step, state)), then \(ignored)" : ignored)
      abort(step, job.purpose, .timedOut)
    }
  }
}

extension String? {
  /// Appends a note to the message; if the message is nil, the note becomes the message.
  mutating func add(_ note: String) { self = map { "\($0); \(note)" } ?? note }
}
