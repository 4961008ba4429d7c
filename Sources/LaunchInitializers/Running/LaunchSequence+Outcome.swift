internal import Locking
internal import SpellRegistry

// One launch for all who call for it, and the way back when it fails.

extension LaunchSequence {
  /// Begins the launch, where no other caller has.
  ///
  /// - Returns: The run, where it was begun, and the caller's number as one who waits for it.
  func begin() throws -> (run: StepRun?, caller: Int) {
    let inner = StepContext.step(of: self)
    let registry = InitializerRegistry.current
    let isNew = state.withLock { state in if case .new = state.phase { true } else { false } }
    if isNew, Task.isCancelled {
      throw LaunchError(.cancelled, "was cancelled before it began; it can still be begun.")
    }
    // Outside the lock, since it asks the clock; of several callers one's is used.
    let new = isNew ? StepRun(self, .launch, in: registry) { [self] in launchEnded($0) } : nil
    return try state.withLock { state in
      switch (state.phase, new) {
      case (.new, let run?):
        state.phase = .launching(run)
        state.registry = registry
        return (run, state.addCaller())
      case (.launching, _):
        guard let inner else { return (nil, state.addCaller()) }
        throw LaunchError(
          .reentered, id: inner.id,
          "calls for the launch that it is part of, and would wait for itself. Let it do its part and return.")
      case (.new, nil), (.launched, _), (.failed, _): return (nil, state.addCaller())
      }
    }
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
        // The handler may have come before the continuation.
        if Task.isCancelled { stopWaiting(caller) }
      }
    } onCancel: {
      stopWaiting(caller)
    }
  }

  /// A caller was cancelled: it stops waiting or, where it is the last, ends the launch.
  private func stopWaiting(_ caller: Int) {
    let (waiter, run) = state.withLock { state -> (CheckedContinuation<LaunchReport, any Error>?, StepRun?) in
      guard state.waiters[caller] != nil, case .launching(let run) = state.phase else { return (nil, nil) }
      if state.callers == [caller] { return (nil, run) }
      state.callers.remove(caller)
      return (state.waiters.removeValue(forKey: caller), nil)
    }
    waiter?.resume(throwing: LaunchError(.cancelled, "goes on for others; the task that waited was cancelled."))
    run?.stop(.cancelled)
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

  private func launchEnded(_ run: StepRun) {
    let (report, stop, completed) = run.state.withLock { (LaunchReport($0), $0.stop, $0.completed) }
    keepServices(of: run)
    guard let stop else { return settle(.launched(report), completed: completed, rollback: .empty) }
    if completed.isEmpty { return settle(.failed(LaunchError(stop, report, .empty)), completed: [], rollback: .empty) }
    Task {
      let rollback = await shutDown(completed)
      settle(.failed(LaunchError(stop, report, rollback)), completed: [], rollback: rollback)
    }
  }

  /// Remembers what to withdraw when the steps are shut down.
  func keepServices(of run: StepRun) {
    let services = run.state.withLock(\.services)
    if !services.isEmpty { state.withLock { $0.services.merge(services) { _, latest in latest } } }
  }

  private func settle(_ phase: LaunchState.Phase, completed: [Int], rollback: LaunchReport) {
    let (waiters, observers) = state.withLock { state in
      state.phase = phase
      state.completed = completed
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
  }
}

extension LaunchError {
  fileprivate init(_ stop: RunState.Stop, _ report: LaunchReport, _ rollback: LaunchReport) {
    switch stop {
    case .failed(let place, let code, let error):
      self.init(
        code, id: report.entries[place].id, underlying: error, report: report, rollback: rollback,
        "failed, so that the launch was aborted and what had completed was shut down.")
    case .cancelled:
      self.init(
        .cancelled, report: report, rollback: rollback, "was cancelled, and what had completed was shut down.")
    case .shutDown:
      self.init(.shutDown, report: report, rollback: rollback, "was shut down before it was done.")
    }
  }
}
