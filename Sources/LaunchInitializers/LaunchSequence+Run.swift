internal import SpellRegistry
internal import Support

extension LaunchSequence {
  /// Launches, waits for a signal, shuts down, and returns the exit code: the whole life of a server or command-line tool.
  ///
  /// ```swift
  /// exit(try await launch.run(on: [.terminate, .interrupt]))
  /// ```
  ///
  /// From the call on, the signals don't end the process. A signal during the launch ends the launch: running steps are
  /// cancelled, and completed steps are shut down. Also returns when `shutDown(within:)` is called elsewhere or the task is
  /// cancelled. If the sequence has been launched already, only waits and shuts down.
  ///
  /// The exit code is 0 after an orderly shut-down, and 1 if a step was left behind or not reached in time. If the signal
  /// came during the launch, it is 128 plus the signal's number, as in shells.
  ///
  /// Signals belong to the process: if several sequences run, each one receives every signal.
  ///
  /// - Parameters:
  ///   - signals: The signals to wait for.
  ///   - secondSignal: What a second signal does during the shut-down.
  ///   - limit: How long the shut-down may take; see `shutDown(within:)`.
  /// - Returns: The exit code.
  /// - Throws: What ``launch()`` throws, unless a signal ended the launch. A ``LaunchError`` of code `.serviceFailed` if an
  ///   error of a service ended the sequence.
  /// - Precondition: There is at least one signal, and a program can handle each of them; SIGKILL and SIGSTOP it can't.
  public func run(
    on signals: [LaunchSignal] = [.terminate, .interrupt], secondSignal: SecondSignalPolicy = .endProcess,
    shutDownWithin limit: Duration = .seconds(30)
  ) async throws -> Int32 {
    if let inner = StepAttempt.step(of: self) { throw LaunchError(reenteredBy: inner.id) }
    let listener = SignalListener(signals)
    defer { listener.finish() }
    let isShutDown = state.withLock { state in
      state.listeners.append(listener)
      return state.shutDown != nil
    }
    if isShutDown { listener.wake() }
    let stopping = Task { await stop(at: listener, secondSignal, within: limit) }
    var failure: LaunchError?
    do { try await launch() } catch let error as LaunchError {
      failure = error
      listener.wake()
    }
    let (signal, report) = await withTaskCancellationHandler {
      await stopping.value
    } onCancel: {
      listener.wake()
    }
    if let failure {
      guard let signal, failure.code == .shutDown else { throw failure }
      // The sequence may have been launched elsewhere, and the signal have come before this call asked for the outcome.
      if !state.withLock(\.wasLaunched) { return 128 + signal.rawValue }
    }
    if let failure = state.withLock(\.failure) { throw failure }
    return report.entries.allSatisfy { $0.outcome == .completed } ? 0 : 1
  }

  /// Waits for a signal, and shuts the sequence down.
  private func stop(
    at listener: SignalListener, _ secondSignal: SecondSignalPolicy, within limit: Duration
  ) async -> (LaunchSignal?, LaunchReport) {
    let signal = await listener.first()
    if secondSignal == .endProcess { listener.finish() }
    let second = Task {
      await listener.first { $0 != nil }
      if secondSignal == .endShutDown, !Task.isCancelled { beginShutDown(within: .zero) }
    }
    defer { second.cancel() }
    return (signal, await shutDown(within: limit))
  }
}

// MARK: Shutting down

extension LaunchSequence {
  /// Shuts down the completed steps in reverse order, and prevents further steps from beginning.
  ///
  /// A step is shut down after the steps that waited for it; independent steps are shut down concurrently. A launch under
  /// way is ended: its steps are cancelled, and ``launch()`` throws an error of code `.shutDown`. A service is withdrawn
  /// from the registry after its step was shut down, and the registration that it had replaced comes back.
  ///
  /// A step that exceeds its `.stopTimeout` is cancelled and, after the cancellation grace period, left behind, so a step
  /// that hangs doesn't hold up the others. A step without a `.stopTimeout` has as long as its `.timeout`, or ten seconds
  /// if it has none. When the whole shut-down exceeds `limit`, everything under way is cancelled and nothing further
  /// begins.
  ///
  /// Runs once however many calls there are: all get the same report, and the shortest limit counts. A call from one of
  /// the sequence's own steps doesn't wait, and returns an empty report.
  ///
  /// - Parameters:
  ///   - limit: How long the shut-down may take, apart from the cancellation grace period.
  ///   - fileID: The source file, for messages.
  ///   - line: The source line, for messages.
  /// - Returns: The steps in reverse order. A step that was left behind is reported as failed, and a step that was not
  ///   reached in time as not run.
  /// - Precondition: The limit isn't negative.
  @discardableResult
  public func shutDown(
    within limit: Duration = .seconds(30), fileID: StaticString = #fileID, line: UInt = #line
  ) async -> LaunchReport {
    if limit < .zero {
      trap(
        "A sequence can't shut down in \(limit). Use a limit of zero or more.",
        at: SourcePlace(fileID: fileID, line: line))
    }
    let task = beginShutDown(within: limit)
    if StepAttempt.step(of: self) != nil { return .empty }
    return await task.value
  }

  /// The limit that other hosts of services have, such as .NET's.
  private static let defaultLimit = Duration.seconds(30)

  @discardableResult
  func beginShutDown(within limit: Duration = defaultLimit) -> Task<LaunchReport, Never> {
    let (task, launch, shutDown, listeners) = state.withLock { state in
      var launch: LaunchRunner?
      if case .launching(let runner) = state.phase { launch = runner }
      if case .new = state.phase {
        state.phase = .failed(
          LaunchError(.shutDown, "was shut down before it began. Create a new sequence to launch again."))
      }
      state.shutDownLimit = min(limit, state.shutDownLimit ?? limit)
      let task = state.shutDown ?? Task { await self.shutDownOnce() }
      state.shutDown = task
      defer { state.listeners = [] }
      return (task, launch, state.shutDownRunner, state.listeners)
    }
    for listener in listeners { listener.wake() }
    stopLazySteps()
    launch?.stop(.shutDown)
    shutDown?.limit(to: limit)
    return task
  }

  private func shutDownOnce() async -> LaunchReport {
    await launchIsOver()
    await foregroundIsOver()
    await deferredIsOver()
    await lazyStepsAreOver()
    let rollback = state.withLock { state in
      if case .launched = state.phase {
        state.wasLaunched = true
        state.phase = .failed(
          state.failure
            ?? LaunchError(
              .shutDown, "is over because the sequence was shut down. Create a new sequence to launch again."))
      }
      return state.rollback
    }
    defer { hub.end() }
    return await shutDownCompleted() ?? rollback
  }

  /// Shuts down the completed steps, once, and withdraws services; nil if there are no completed steps.
  func shutDownCompleted() async -> LaunchReport? {
    let (outcomes, registry, limit) = state.withLock { state in
      defer { state.outcomes = [] }
      return (state.outcomes, state.registry, state.shutDownLimit ?? Self.defaultLimit)
    }
    defer { withdrawOffers() }
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
    // The services of steps that were left behind.
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
    let (attempt, withdrawOffer) = state.withLock { state in
      (state.services.removeValue(forKey: step.index), state.lazy.offers.removeValue(forKey: step.index))
    }
    attempt?.withdrawServices()
    withdrawOffer?()
  }
}
