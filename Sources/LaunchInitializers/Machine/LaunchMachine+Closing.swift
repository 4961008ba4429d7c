// The shutdown of the sequence, of its steps, and of their services.

extension LaunchMachine {
  // MARK: The beginning

  /// Starts to shut the sequence down, unless the shutdown has already begun.
  mutating func close(_ cause: Closing.Cause) {
    if phase == .closing || phase == .over { return }
    if phase == .draining { actions.append(.unschedule(.drain)) }
    let limit = closing.begin(cause, wasLaunched: isServing, at: now)
    phase = .closing
    schedule(.limit(limit), after: limit)
    limitCleanUps()
    stopPasses()
  }

  /// Limits the time of the jobs that were cleaning up after attempts when the shutdown began.
  private mutating func limitCleanUps() {
    for (job, state) in jobs where job.kind.cleansUp {
      let left = state.end.map { $0 - now } ?? .zero
      let time = cleanUpTime(left)
      if time < left { limit(job, to: time) }
    }
  }

  /// Returns the time that a job may take that cleans up after an attempt, at most `wanted`.
  ///
  /// During the shutdown, steps may wait for the job, which so leaves them a part of the time.
  func cleanUpTime(_ wanted: Duration) -> Duration {
    closing.time(wanted, othersWait: true, grace: grace, at: now)
  }

  /// Shortens the time limit of the shutdown, or does nothing if the new limit isn't shorter than the current limit.
  ///
  /// If the shutdown has already begun, the new limit counts from now.
  mutating func limitShutDown(to new: Duration) {
    if closing.shortenLimit(to: new, at: now) { schedule(.limit(new), after: new) }
  }

  /// Stops the launch, and stops the pass that repeats steps at a return to the foreground.
  ///
  /// No further attempt begins, no service is run again, and the attempts under way are canceled. A step that waits
  /// for a retry, or whose service isn't ready yet, ends as failed.
  private mutating func stopPasses() {
    for purpose in [Purpose.launch, .foreground] where passes[purpose].isUnderWay {
      passes[purpose].stop()
      for step in plan.nodes.indices {
        let course = courses[purpose][step]
        if course.waitsAgain {
          actions.append(.unschedule(.retry(purpose, step, attempt: course.tries)))
          settle(step, purpose, .failed, course.facts)
        } else if course.isStarting {
          settle(step, purpose, .failed, course.facts + [.notReadyBeforeShutDown])
        }
      }
    }
    for (step, service) in supervisors.sorted(by: { $0.key < $1.key }) {
      let job = runJob(service.run, of: step)
      unschedule(.readiness(job), of: job)
      guard service.isPausing else { continue }
      actions.append(.unschedule(.restart(step, run: service.run)))
      serviceEnded(step, [])
    }
    cancelAll { $0.kind == .setUp || $0.kind == .ask }
  }

  // MARK: The pass

  /// Starts to shut the steps down once all attempts have ended, and ends the sequence once all jobs have ended.
  mutating func proceedClosing() {
    if !passes[.shutDown].isUnderWay {
      if passes[.launch].atWork + passes[.foreground].atWork > 0 { return }
      if passes[.launch].isUnderWay {
        passes[.launch].end()
        if !closing.wasLaunched { event(.phaseEnded, .launch) }
      }
      if setups.contains(where: \.isOfShutDown) { begin(.shutDown) }
    }
    if passes[.shutDown].isUnderWay { beginQueued(.shutDown) }
    if !jobs.isEmpty || (passes[.shutDown].isUnderWay && !passes[.shutDown].isIdle) { return }
    if passes[.shutDown].isUnderWay {
      for step in plan.nodes.indices.reversed() where isMissed(step) {
        event(.ended(.notRun), .shutDown, step, message: missedFacts(of: step).text)
      }
      passes[.shutDown].end()
      event(.phaseEnded, .shutDown)
    }
    finish()
  }

  /// Ends the sequence, and answers all calls.
  private mutating func finish() {
    phase = .over
    failure = makeFailure()
    for step in setups.indices { withdrawProducts(of: step) }
    // The action `.over` comes before all answers, so that the sequence's resources are released before a call returns.
    let firstAnswer = actions.firstIndex { if case .answer = $0 { true } else { false } }
    actions.insert(.over, at: firstAnswer ?? actions.endIndex)
    for (id, call) in calls.all { answer([id], finalAnswer(to: call)) }
  }

  private mutating func withdrawProducts(of step: Int) { withdraw(setups[step].replaceProducts(with: [])) }

  /// Cuts short a shutdown that takes too long: cancels all jobs, and doesn't shut down any further steps.
  mutating func limitReached(_ limit: Duration) {
    guard phase == .closing, closing.cutShort(after: limit) else { return }
    passes[.shutDown].stop()
    // A step may have been queued for its shutdown after its service ended or its abandoned attempt was undone. Such a
    // step won't be shut down anymore.
    for step in courses[.shutDown].indices where courses[.shutDown][step].waitsAgain { settleShutDown(step) }
    cancelAll { _ in true }
  }

  /// Returns whether a step was set up but not shut down, because the shutdown reached its time limit.
  func isMissed(_ step: Int) -> Bool {
    setups[step].isUp && courses[.shutDown][step].outcome == .notRun
  }

  /// Returns the problems of a step that was set up but not shut down, such as a service that went on.
  func missedFacts(of step: Int) -> [StepFact] {
    (closing.problems[step]?.facts ?? []) + (missedLimit.map { [$0] } ?? [])
  }

  /// The fact that a step wasn't shut down within the shutdown's time limit; nil until the limit is reached.
  private var missedLimit: StepFact? { closing.reachedLimit.map { .notShutDown(within: $0) } }

  // MARK: Stopping a service

  /// Returns whether a step's shutdown has to wait for its service to end, or for its abandoned attempt to be undone.
  ///
  /// A step that is held up doesn't count toward the maximum number of concurrent steps. Therefore every service is
  /// asked to end as soon as the steps that depend on the service's step are shut down.
  func isHeldUp(_ step: Int) -> Bool { supervisors[step] != nil || setups[step].isBeingCleaned }

  /// Records that the turn of a step has come in the shutdown.
  mutating func beginTurn(of step: Int) {
    courses[.shutDown][step].takeTurn(at: now)
    codeBegan(step, .shutDown)
  }

  /// Starts the shutdown of a step for which `isHeldUp(_:)` returns true, and asks the step's service, if any, to end.
  mutating func beginStop(of step: Int) {
    beginTurn(of: step)
    courses[.shutDown][step].stopService()
    guard let service = supervisors[step] else { return }
    let time = stopTime(of: step)
    supervisors[step]?.stop(within: time)
    start(stopJob(of: step), timeout: time)
    let job = runJob(service.run, of: step)
    if jobs[job] != nil { schedule(.stop(job), after: time) }
  }

  func stopJob(of step: Int) -> Job { Job(purpose: .shutDown, kind: .stop, step: step, number: 1) }
  func shutDownJob(of step: Int) -> Job { Job(purpose: .shutDown, kind: .shutDown, step: step, number: 1) }

  /// Returns the time that a step's service has to end, or that the step's own shutdown may take.
  ///
  /// It is the step's stop timeout. If other steps may wait for the step, it is also at most three quarters of the time
  /// that is left, so that a step that hangs leaves time for the others.
  private func stopTime(of step: Int) -> Duration {
    let (wanted, othersWait) = (plan.nodes[step].stopTimeout, !plan.dependencies[step].isEmpty)
    return closing.time(wanted, othersWait: othersWait, grace: grace, at: now)
  }

  /// Cancels a service that hasn't ended within its stop timeout.
  mutating func cutOff(_ job: Job) {
    // Only the cancellation of a service that has a `stop()` method is a problem, since any other service was canceled
    // when its shutdown began.
    if jobs[job]?.isCancelled == false {
      let time = supervisors[job.step]?.stopTime ?? .zero
      closing.addProblem(.ofService(.cutOff(after: time)), of: job.step)
    }
    cancelLate(job)
  }

  mutating func cannotStop(_ job: Job) {
    guard jobs[job] != nil, let service = supervisors[job.step] else { return }
    cancel(runJob(service.run, of: job.step), isLimited: false)
  }

  mutating func serviceStop(_ job: Job, _ what: Happening) {
    switch what {
    case .began: courses[.shutDown][job.step].noteSign(at: now)
    case .ended: continueShutDown(of: job.step)
    case .abandoned(let state, let ignored):
      noteAbandonment(of: job.step, state, .ofStop(ignored))
      continueShutDown(of: job.step)
    }
  }

  private mutating func noteAbandonment(of step: Int, _ state: JobState, _ ignored: StepFact) {
    closing.addProblem(state.hasBegun ? ignored : .gotNoThreadToShutDown, of: step)
    if state.hasBegun { courses[.shutDown][step].noteAbandonment() }
  }

  // MARK: Shutting a step down

  /// Continues the shutdown of a step, if the step's service, `stop()` call and clean-up have all ended.
  mutating func continueShutDown(of step: Int) {
    guard passes[.shutDown].isUnderWay, courses[.shutDown][step].isStopping, !isHeldUp(step),
      jobs[stopJob(of: step)] == nil
    else { return }
    if closing.reachedLimit != nil { return settleShutDown(step) }
    courses[.shutDown][step].waitAgain()
    passes[.shutDown].enqueue(step)
  }

  /// Starts the job that shuts a step down, or ends the step's shutdown immediately if the step needs no such job.
  mutating func shutDown(_ step: Int) {
    if case .up = setups[step].state {
      return start(shutDownJob(of: step), timeout: stopTime(of: step), closing: setups[step].products)
    }
    // If the step's service may still be running, the step isn't shut down, because the service may use what the step
    // set up. Otherwise, the step's abandoned attempt has already been undone, so nothing is left to shut down.
    passes[.shutDown].leave()
    settleShutDown(step)
  }

  mutating func stepShutDown(_ job: Job, _ what: Happening) {
    let step = job.step
    switch what {
    case .began: courses[.shutDown][step].noteSign(at: now)
    case .ended(let state, let result):
      let late = StepFact.overran(state.timeout ?? .zero)
      if case .failed(let error, let text, _) = result {
        let isOwn = record(error, of: job, state.isCancelled)
        closing.addProblem(isOwn ? .threw(text) : state.isLate ? late : .wasCancelled, of: step)
      }
      passes[.shutDown].leave()
      settleShutDown(step, state.isLate ? [late] : [])
    case .abandoned(let state, let ignored):
      noteAbandonment(of: step, state, ignored)
      passes[.shutDown].leave()
      settleShutDown(step)
    }
  }

  /// Unregisters the products of a step, and records the end of the step's shutdown.
  private mutating func settleShutDown(_ step: Int, _ notes: [StepFact] = []) {
    withdrawProducts(of: step)
    if setups[step].isInUse { courses[.shutDown][step].noteAbandonment() }
    if let missedLimit, !courses[.shutDown][step].isAtWork {
      let isService = courses[.shutDown][step].isStopping && plan.declared(step).work.runs
      closing.addProblem(isService ? .ofService(.wasCancelled) : missedLimit, of: step)
    }
    let problems = closing.problems[step]?.facts ?? []
    settle(step, .shutDown, problems.isEmpty ? .completed : .failed, problems.isEmpty ? notes : problems)
  }
}
