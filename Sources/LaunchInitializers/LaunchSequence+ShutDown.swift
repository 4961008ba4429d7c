internal import Support
internal import SpellRegistry

extension LaunchSequence {
  /// Shuts down the completed steps, the plan backwards, and lets no further step begin.
  ///
  /// A step is shut down when those that waited for it have been; independent steps are shut down side by side. A
  /// launch under way is ended: its steps are cancelled, and ``launch()`` throws an error of code `.shutDown`. Services
  /// are withdrawn from the registry after the step that created them was shut down, and what they had replaced comes
  /// back.
  ///
  /// A step that takes longer than its `.stopTimeout` is cancelled and, after the cancellation grace period, left
  /// behind, so one that hangs doesn't keep the others up. A step without one has as long as its `.timeout`, or else
  /// ten seconds. When the whole takes longer than `limit`, everything under way is cancelled and nothing further
  /// begins.
  ///
  /// Runs once however many calls there are: all get the same report, and the shortest limit counts. A call from one of
  /// the sequence's own steps doesn't wait, and returns an empty report.
  ///
  /// - Parameters:
  ///   - limit: How long shutting down may take, besides the cancellation grace period.
  ///   - fileID: The source file, for messages.
  ///   - line: The source line, for messages.
  /// - Returns: The steps in the order of the plan backwards. One that was left behind is reported as failed, and one that
  ///   was not reached in time as not run.
  /// - Precondition: The limit isn't negative.
  @discardableResult
  public func shutDown(
    within limit: Duration = .seconds(30), fileID: StaticString = #fileID, line: UInt = #line
  ) async -> LaunchReport {
    if limit < .zero {
      trap("A launch can't shut down in \(limit). Use zero or more.", at: SourcePlace(fileID: fileID, line: line))
    }
    let task = beginShutDown(within: limit)
    if StepAttempt.step(of: self) != nil { return .empty }
    return await task.value
  }

  /// As long as other hosts of services give them, such as .NET's.
  private static let defaultLimit = Duration.seconds(30)

  @discardableResult
  func beginShutDown(within limit: Duration = defaultLimit) -> Task<LaunchReport, Never> {
    let (task, launch, shutDown, listeners) = state.withLock { state in
      var launch: LaunchRunner?
      if case .launching(let runner) = state.phase { launch = runner }
      if case .new = state.phase {
        state.phase = .failed(LaunchError(.shutDown, "was shut down before it began."))
      }
      state.shutDownLimit = min(limit, state.shutDownLimit ?? limit)
      let task = state.shutDown ?? Task { await self.shutDownOnce() }
      state.shutDown = task
      defer { state.listeners = [] }
      return (task, launch, state.shutDownRunner, state.listeners)
    }
    for listener in listeners { listener.wake() }
    launch?.stop(.shutDown)
    shutDown?.limit(to: limit)
    return task
  }

  private func shutDownOnce() async -> LaunchReport {
    await launchIsOver()
    await foregroundIsOver()
    await deferredIsOver()
    let rollback = state.withLock { state in
      if case .launched = state.phase {
        state.phase = .failed(state.failure ?? LaunchError(.shutDown, "is over: the sequence was shut down."))
      }
      return state.rollback
    }
    defer { hub.end() }
    return await shutDownCompleted() ?? rollback
  }

  /// Shuts down the steps that completed, once; nil if there are none.
  func shutDownCompleted() async -> LaunchReport? {
    let (outcomes, registry, limit) = state.withLock { state in
      defer { state.outcomes = [] }
      return (state.outcomes, state.registry, state.shutDownLimit ?? Self.defaultLimit)
    }
    guard outcomes.contains(.completed) else { return nil }
    let ends = AsyncStream<LaunchReport>.makeStream()
    let settled: [LaunchReport.Outcome?] = outcomes.reversed().map { $0 == .completed ? nil : $0 }
    let runner = LaunchRunner(self, plan.reversed(), .shutDown, in: registry, settled: settled) { runner in
      ends.continuation.yield(LaunchReport(runner.machine))
      ends.continuation.finish()
    }
    state.withLock { $0.shutDownRunner = runner }
    runner.limit(to: limit)
    runner.start()
    var report = LaunchReport.empty
    for await ended in ends.stream { report = ended }
    // Of steps that were left behind.
    let (services, supervisors) = state.withLock { state in
      defer { (state.services, state.supervisors, state.shutDownRunner) = ([:], [:], nil) }
      return (state.services, state.supervisors)
    }
    for supervisor in supervisors.values { Task { await supervisor.stop() } }
    for attempt in services.values { attempt.withdrawServices() }
    return report
  }

  /// Withdraws the services of a step that has been shut down.
  func withdrawServices(of step: LaunchPlan.Step) {
    state.withLock { $0.services.removeValue(forKey: step.index) }?.withdrawServices()
  }
}
