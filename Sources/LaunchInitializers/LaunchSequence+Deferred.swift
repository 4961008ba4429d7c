internal import Support
internal import SpellRegistry

// What goes on after the launch: deferred steps, and services.

extension LaunchSequence {
  /// Waits until the deferred steps are done, and returns how they ended.
  ///
  /// During the launch, it waits for the launch's end as well.
  ///
  /// - Returns: The deferred steps, in the order of the plan; none if the launch failed, or has not begun.
  public func deferredReport() async -> LaunchReport {
    await launchIsOver()
    return await state.withLock(\.deferred)?.report.value ?? .empty
  }

  /// Prepares the run of the deferred steps; nil if there are none.
  ///
  /// Before the launch is known to be over, so that a shut-down finds the run.
  func prepareDeferred() -> LaunchRunner? {
    let isDeferred = plan.deferred
    guard !isDeferred.isEmpty else { return nil }
    let (ended, end) = AsyncStream.makeStream(of: LaunchReport.self)
    let (outcomes, registry) = state.withLock { ($0.outcomes, $0.registry) }
    let settled = zip(outcomes, isDeferred).map { outcome, isDeferred in isDeferred ? nil : outcome }
    let runner = LaunchRunner(self, plan, .deferred, in: registry, settled: settled) { [self] runner in
      let machine = runner.machine
      state.withLock { state in
        for (index, isDeferred) in isDeferred.enumerated() where isDeferred {
          state.outcomes[index] = machine.steps[index].outcome
        }
      }
      keep(runner.services())
      end.yield(LaunchReport(machine))
      end.finish()
    }
    let report = Task {
      for await report in ended { return report }
      return .empty
    }
    state.withLock { $0.deferred = (runner, report) }
    return runner
  }

  /// Ends the deferred steps under way, and returns when there are none.
  func deferredIsOver() async {
    guard let deferred = state.withLock(\.deferred) else { return }
    deferred.runner.stop(.shutDown)
    _ = await deferred.report.value
  }
}

// MARK: Services

extension LaunchSequence {
  /// Begins to run the service of a step that has completed.
  func startService(of step: LaunchPlan.Step, in registry: InitializerRegistry, _ clock: LaunchClock) {
    guard let service = step.initializer as? any RunningInitializer else { return }
    let supervisor = ServiceSupervisor(service, of: step, in: self, clock)
    state.withLock { $0.supervisors[step.index] = supervisor }
    supervisor.start(in: registry)
  }

  /// Ends the service of a step that is shut down.
  func stopService(of step: LaunchPlan.Step) async {
    await state.withLock { $0.supervisors.removeValue(forKey: step.index) }?.stop()
  }

  /// Shuts down, since a service ended by itself.
  func serviceEnded(_ step: LaunchPlan.Step, _ error: (any Error)?) {
    let launch = state.withLock { state -> LaunchRunner? in
      if let error, state.failure == nil, state.shutDown == nil {
        state.failure = LaunchError(
          .serviceFailed, id: step.id, underlying: error,
          "ended while the program was running, so the sequence was shut down.")
      }
      return if case .launching(let runner) = state.phase { runner } else { nil }
    }
    if let launch, let error { return launch.stop(.failed(step.index, .serviceFailed, error)) }
    beginShutDown()
  }
}
