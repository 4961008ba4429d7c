internal import Support
internal import SpellRegistry

// One launch for all calls, and the roll-back if it fails.

extension LaunchSequence {
  /// Begins the launch, unless it has begun.
  ///
  /// - Returns: The runner if the caller has to start it, and the caller's number.
  func begin() throws -> (runner: LaunchRunner?, caller: Int) {
    let inner = StepAttempt.step(of: self)
    let registry = InitializerRegistry.current
    let isNew = state.withLock { state in if case .new = state.phase { true } else { false } }
    if isNew, Task.isCancelled {
      throw LaunchError(.cancelled, "was cancelled before it began. Call launch() again to begin it.")
    }
    // Outside the lock because it reads the clock; of several callers' runners, one is used.
    let new =
      isNew
      ? LaunchRunner(self, plan, .launch, in: registry, settled: plan.isDeferred.map { $0 ? .notRun : nil }) { [self] in
        launchEnded($0.machine, $0.services)
      } : nil
    return try state.withLock { state in
      switch (state.phase, new) {
      case (.new, let runner?):
        state.phase = .launching(runner)
        state.registry = registry
        return (runner, state.addCaller())
      case (.launching, _):
        guard let inner else { return (nil, state.addCaller()) }
        throw LaunchError(reenteredBy: inner.id)
      case (.new, nil), (.launched, _), (.failed, _): return (nil, state.addCaller())
      }
    }
  }

  /// The number of inputs to the launch under way; 0 if there is none.
  ///
  /// For a test that moves a clock: the end of a pause may show in nothing else.
  package var inputCount: Int {
    let runner = state.withLock { state -> LaunchRunner? in
      if case .launching(let runner) = state.phase { runner } else { nil }
    }
    return runner?.inputCount ?? 0
  }

  /// Waits for the launch's outcome.
  func result(for caller: Int) async throws -> LaunchReport {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome: Result<LaunchReport, any Error>? = state.withLock { state in
          switch state.phase {
          case .launched(let report): return .success(report)
          case .failed(let error): return .failure(error)
          case .new, .launching:
            state.waiters[caller] = continuation
            return nil
          }
        }
        if let outcome { continuation.resume(with: outcome) }
        // The handler may have run before there was a continuation.
        if Task.isCancelled { stopWaiting(caller) }
      }
    } onCancel: {
      stopWaiting(caller)
    }
  }

  /// Ends the wait of a caller that was cancelled; the last one cancels the launch.
  private func stopWaiting(_ caller: Int) {
    let (waiter, runner) = state.withLock { state -> (CheckedContinuation<LaunchReport, any Error>?, LaunchRunner?) in
      guard state.waiters[caller] != nil, case .launching(let runner) = state.phase else { return (nil, nil) }
      if state.callers == [caller] { return (nil, runner) }
      state.callers.remove(caller)
      return (state.waiters.removeValue(forKey: caller), nil)
    }
    waiter?.resume(
      throwing: LaunchError(.cancelled, "goes on for other callers; the task of this caller was cancelled."))
    runner?.stop(.cancelled)
  }

  /// Returns when no launch is under way.
  func launchIsOver() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        guard case .launching = state.phase else { return true }
        state.observers.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  private func launchEnded(_ machine: LaunchStateMachine, _ services: [Int: StepAttempt]) {
    let report = LaunchReport(machine)
    let hasOffers = state.withLock { state in
      state.outcomes = machine.steps.map { $0.outcome }
      for step in state.lazy.completed { state.outcomes[step] = .completed }
      return !state.lazy.offers.isEmpty
    }
    keep(services)
    guard let stop = machine.stop else {
      let deferred = prepareDeferred()
      settle(.launched(report), rollback: .empty)
      deferred?.start()
      return
    }
    if machine.completed.isEmpty, !hasOffers {
      return settle(.failed(LaunchError(stop, report, .empty)), rollback: .empty)
    }
    Task {
      await lazyStepsAreOver()
      let rollback = await shutDownCompleted() ?? .empty
      settle(.failed(LaunchError(stop, report, rollback)), rollback: rollback)
    }
  }

  /// Keeps the attempts whose services are withdrawn when their steps are shut down, and withdraws former ones of the same
  /// steps.
  func keep(_ services: [Int: StepAttempt]) {
    if services.isEmpty { return }
    let replaced = state.withLock { state in
      services.compactMap { step, attempt in state.services.updateValue(attempt, forKey: step) }
    }
    for attempt in replaced { attempt.withdrawServices() }
  }

  private func settle(_ phase: SequenceState.Phase, rollback: LaunchReport) {
    let (waiters, observers) = state.withLock { state in
      state.phase = phase
      state.rollback = rollback
      defer { (state.waiters, state.observers) = ([:], []) }
      return (state.waiters.values, state.observers)
    }
    for waiter in waiters {
      switch phase {
      case .launched(let report): waiter.resume(returning: report)
      case .failed(let error): waiter.resume(throwing: error)
      case .new, .launching: break
      }
    }
    for observer in observers { observer.resume() }
    if case .failed = phase { hub.end() }
  }
}

extension LaunchError {
  fileprivate init(_ stop: LaunchStateMachine.Stop, _ report: LaunchReport, _ rollback: LaunchReport) {
    switch stop {
    case .failed(let step, let code, let error):
      self.init(
        code, id: report.entries[step].id, underlying: error, report: report, rollback: rollback,
        "failed, so the launch was aborted and the completed steps were shut down.")
    case .cancelled:
      self.init(
        .cancelled, report: report, rollback: rollback, "was cancelled, and the completed steps were shut down.")
    case .shutDown, .limit:
      self.init(.shutDown, report: report, rollback: rollback, "was shut down before it had completed.")
    }
  }
}
