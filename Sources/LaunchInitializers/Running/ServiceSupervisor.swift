internal import Support
internal import SpellRegistry

/// Keeps a ``RunningInitializer`` running, in a task that the step's shut-down cancels.
final class ServiceSupervisor: Sendable {
  private let step: LaunchPlan.Step
  private let service: any RunningInitializer
  private let sequence: LaunchSequence
  private let clock: LaunchClock
  private let state = Lock(State())

  private struct State {
    var task: Task<Void, Never>?
    var isStopped = false
    /// Why the service doesn't run; nil if it does.
    var silence: String?
  }

  init(_ service: any RunningInitializer, of step: LaunchPlan.Step, in sequence: LaunchSequence, _ clock: LaunchClock) {
    self.step = step
    self.service = service
    self.sequence = sequence
    self.clock = clock
  }

  /// Why the service doesn't run at the moment; nil if it does.
  var silence: String? { state.withLock(\.silence) }

  /// Starts the service in a task with the current task-local values.
  func start(in registry: InitializerRegistry) {
    let attempt = StepAttempt(
      step.id, LaunchStateMachine.Attempt(step: step.index, number: 0), of: ObjectIdentifier(sequence), in: nil)
    let task = StepAttempt.$current.withValue(attempt) {
      registry.run {
        Task {
          await supervise()
          _ = attempt.end()
          attempt.withdrawServices()
        }
      }
    }
    let isStopped = state.withLock { state in
      state.task = task
      return state.isStopped
    }
    if isStopped { task.cancel() }
  }

  /// Cancels the service, and returns when it has ended.
  func stop() async {
    let task = state.withLock { state in
      state.isStopped = true
      return state.task
    }
    task?.cancel()
    await task?.value
  }

  private func supervise() async {
    var budget = RestartBudget(step.listed.declared.exitPolicy)
    var run = 1
    while !Task.isCancelled {
      send(.serviceBegan(run: run))
      let error = await runOnce()
      if state.withLock(\.isStopped) { return send(.serviceEnded, nil) }
      let reason = error.map { "failed: \($0)" } ?? "returned"
      state.withLock { $0.silence = reason }
      switch budget.exited(at: clock.now, random: { .random(in: 0...1) }) {
      case .goOn: return send(.serviceEnded, reason)
      case .shutDown:
        send(.serviceEnded, reason)
        return sequence.serviceEnded(step, error)
      case .restart(let pause):
        send(.serviceRestarting(after: pause), reason)
        do { try await sequence.clock.sleep(for: pause) } catch { return }
      }
      state.withLock { $0.silence = nil }
      run += 1
    }
  }

  private func runOnce() async -> (any Error)? {
    do { try await service.run(sequence.configuration) } catch { return error }
    return nil
  }

  private func send(_ kind: LaunchEvent.Kind, _ message: String? = nil) {
    guard sequence.hub.hasStreams else { return }
    sequence.hub.send(LaunchEvent(kind: kind, phase: .running, id: step.id, time: clock.now, message: message))
  }
}

// MARK: Services

extension LaunchSequence {
  /// Starts the service of a step that has completed.
  func startService(of step: LaunchPlan.Step, in registry: InitializerRegistry, _ clock: LaunchClock) {
    guard let service = step.initializer as? any RunningInitializer else { return }
    let supervisor = ServiceSupervisor(service, of: step, in: self, clock)
    state.withLock { $0.supervisors[step.index] = supervisor }
    supervisor.start(in: registry)
  }

  /// Stops the service of a step that is shut down.
  func stopService(of step: LaunchPlan.Step) async {
    await state.withLock { $0.supervisors.removeValue(forKey: step.index) }?.stop()
  }

  /// Shuts down because a service ended by itself.
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
