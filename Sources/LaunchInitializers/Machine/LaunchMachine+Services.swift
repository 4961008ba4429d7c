// The services of the steps, and the shut-down of all steps.

extension LaunchMachine {
  // MARK: Running

  /// Begins the service of a step that has been set up.
  mutating func beginService(of step: Int) {
    passes.launch.steps[step].phase = .readying
    runService(of: step)
  }

  private mutating func runService(of step: Int) {
    services[step, default: ServiceState()].run += 1
    let number = services[step]?.run ?? 1
    event(.serviceBegan(run: number), .launch, step, isService: true)
    let timeout = passes.launch.steps[step].phase == .readying ? declared(step).timeout : nil
    start(Job(purpose: .launch, kind: .run, step: step, number: number), timeout: timeout)
  }

  mutating func ready(_ job: Job) {
    guard jobs[job] != nil, services[job.step]?.isReady == false else { return }
    services[job.step]?.isReady = true
    event(.serviceReady, .launch, job.step, isService: true)
    guard passes.launch.steps[job.step].phase == .readying else { return }
    jobs[job]?.hasTimeout = false
    actions.append(.unschedule(.timeout(job)))
    settle(job.step, .launch, .completed, passes.launch.steps[job.step].message)
  }

  /// Records that a step failed because its service wasn't ready in time, and aborts the launch if its policy says so.
  mutating func notReadyInTime(_ step: Int) {
    services[step]?.isStopping = true
    let message = "was not ready within its timeout of \((declared(step).timeout ?? .zero).text)"
    settle(step, .launch, .failed, message)
    abort(step, .launch, .timedOut)
  }

  mutating func restart(_ step: Int) {
    if services[step]?.isPausing != true { return }
    services[step]?.isPausing = false
    runService(of: step)
  }

  mutating func runEnded(_ job: Job, _ result: Result) {
    let step = job.step
    guard let service = services[step] else { return }
    let isExpected = service.isStopping || phase == .closing
    var failure: String?
    if case .failed(let error, let text, _) = result, note(error, of: job, isExpected) { failure = "failed: \(text)" }
    if isExpected {
      if let failure, phase == .closing { shutDownNotes[step].add("its service \(failure)") }
      serviceEnded(step, message: failure)
      return serviceMayHaveStopped(step)
    }
    let decision = declared(step).exitPolicy.decide(
      threw: failure != nil, at: now, &services[step, default: ServiceState()].restarts)
    let reason = failure ?? "returned without being asked to"
    switch decision {
    case .restart(let pause):
      services[step]?.isPausing = true
      services[step]?.isReady = false
      event(.serviceRestarting(after: pause), .launch, step, message: reason, isService: true)
      schedule(.restart(step, run: service.run), after: pause)
    case .goOn:
      serviceEnded(step, message: failure)
      if passes.launch.steps[step].phase == .readying {
        settle(step, .launch, failure == nil ? .completed : .failed, failure.map { "its service \($0)" })
      }
    case .shutDown:
      serviceEnded(step, message: reason)
      if passes.launch.steps[step].phase == .readying { settle(step, .launch, .failed, "its service \(reason)") }
      passes.launch.steps[step].message = "its service \(reason)"
      close(.failed(step, .serviceFailed))
    }
  }

  /// Records that the service of a step won't run again.
  mutating func serviceEnded(_ step: Int, message: String? = nil) {
    guard services.removeValue(forKey: step) != nil else { return }
    event(.serviceEnded, .launch, step, message: message, isService: true)
  }

  // MARK: Shutting down

  /// Prevents further steps from beginning, and cancels the attempts under way.
  mutating func stopPasses() {
    for purpose in [Purpose.launch, .foreground] where passes[purpose].isUnderWay {
      passes[purpose].stop()
      for step in plan.nodes.indices {
        let state = passes[purpose].steps[step]
        if state.phase == .pausing || state.phase == .waiting && state.attempt > 0 {
          actions.append(.unschedule(.retry(purpose, step, attempt: state.attempt)))
          settle(step, purpose, .failed, state.message)
        } else if state.phase == .readying {
          settle(step, purpose, .failed, "was not ready before the sequence was shut down")
        }
      }
    }
    for (step, service) in services.sorted(by: { $0.key < $1.key }) where service.isPausing {
      actions.append(.unschedule(.restart(step, run: service.run)))
      serviceEnded(step)
    }
    cancelAll { $0.kind == .setUp }
  }

  private mutating func cancelAll(where isWanted: (Job) -> Bool) {
    for job in jobs.keys.filter(isWanted).sorted(by: { ($0.step, $0.number) < ($1.step, $1.number) }) {
      giveGrace(job)
      cancel(job)
    }
  }

  /// Begins to shut the steps down once all attempts have ended, and ends the sequence once all jobs have.
  mutating func proceedClosing() {
    if !passes.shutDown.isUnderWay {
      if passes.launch.running + passes.foreground.running > 0 { return }
      if passes.launch.isUnderWay {
        passes.launch.end()
        if !wasLaunched { event(.phaseEnded, .launch) }
      }
      if passes.launch.steps.contains(where: \.isUp) { begin(.shutDown) }
    }
    if passes.shutDown.isUnderWay { beginReady(.shutDown) }
    if !jobs.isEmpty || (passes.shutDown.isUnderWay && !passes.shutDown.isIdle) { return }
    if passes.shutDown.isUnderWay {
      passes.shutDown.end()
      event(.phaseEnded, .shutDown)
    }
    finish()
  }

  /// Begins to shut a step down; if the step has a service, asks the service to end first.
  mutating func beginShutDown(of step: Int) {
    guard let service = services[step] else {
      return passes.launch.steps[step].isServiceLeft ? settleShutDown(step) : shutDown(step)
    }
    passes.shutDown.steps[step].phase = .stopping
    services[step]?.isStopping = true
    let timeout = plan.nodes[step].stopTimeout
    start(Job(purpose: .shutDown, kind: .stop, step: step, number: 1), timeout: timeout)
    let run = Job(purpose: .launch, kind: .run, step: step, number: service.run)
    if jobs[run] != nil { schedule(.timeout(run), after: timeout) }
  }

  mutating func cannotStop(_ job: Job) {
    guard jobs[job] != nil, let service = services[job.step] else { return }
    cancel(Job(purpose: .launch, kind: .run, step: job.step, number: service.run))
  }

  /// Shuts a step down, if its service and the call that asked the service to end have both ended.
  mutating func serviceMayHaveStopped(_ step: Int) {
    guard passes.shutDown.isUnderWay, passes.shutDown.steps[step].phase == .stopping, services[step] == nil,
      jobs[Job(purpose: .shutDown, kind: .stop, step: step, number: 1)] == nil
    else { return }
    // A service that is still running may use what the step set up, so the step isn't shut down.
    if passes.launch.steps[step].isServiceLeft || reachedLimit != nil { return settleShutDown(step) }
    passes.shutDown.steps[step].phase = .running
    shutDown(step)
  }

  private mutating func shutDown(_ step: Int) {
    start(Job(purpose: .shutDown, kind: .shutDown, step: step, number: 1), timeout: plan.nodes[step].stopTimeout)
  }

  mutating func shutDownEnded(_ job: Job, _ state: JobState, _ result: Result) {
    let step = job.step
    let late = "took longer than its timeout of \(plan.nodes[step].stopTimeout.text)"
    if case .failed(let error, let text, _) = result {
      shutDownNotes[step].add(note(error, of: job, state.isCancelled) ? text : state.isLate ? late : "cancelled")
    }
    settleShutDown(step, note: state.isLate ? late : nil)
  }

  /// Records the end of a step's shut-down.
  mutating func settleShutDown(_ step: Int, note: String? = nil) {
    passes.shutDown.running -= 1
    actions.append(.withdrawAll(step, except: nil))
    passes.shutDown.steps[step].wasAbandoned =
      passes.shutDown.steps[step].wasAbandoned || passes.launch.steps[step].isServiceLeft
    if reachedLimit != nil, passes.shutDown.steps[step].phase == .stopping {
      shutDownNotes[step].add("its service was cancelled")
    }
    let failure = shutDownNotes[step]
    settle(step, .shutDown, failure == nil ? .completed : .failed, failure ?? note)
  }

  /// Cuts short a shut-down that takes too long: cancels everything under way, and lets nothing more begin.
  mutating func limitReached(_ limit: Duration) {
    guard phase == .closing, reachedLimit == nil else { return }
    reachedLimit = limit
    passes.shutDown.stop()
    cancelAll { _ in true }
  }
}
