internal import SpellRegistry
internal import Support

/// An initializer of a service that runs as long as the program: a server, a queue consumer, a scheduler.
///
/// ```swift
/// struct HTTPServer: RunningInitializer {
///   func run(_ configuration: any Configurable) async throws {
///     try await server.serve()      // returns or throws when its task is cancelled
///   }
/// }
///
/// HTTPServer().id("http").requires("database").onExit(.restart(max: 3, within: .seconds(60)))
/// ```
///
/// When ``Initializable/perform(with:)`` has completed, ``run(_:)`` begins in a task of its own, before the steps that wait
/// for this one. When the step is shut down, the task is cancelled, and ``Initializable/shutDown()`` is called after
/// ``run(_:)`` has returned.
public protocol RunningInitializer: Initializable {
  /// Runs the service until its task is cancelled.
  ///
  /// - Parameter configuration: The configuration that the sequence was created with.
  /// - Throws: Any error. It ends the run like a return, and the step's ``ExitPolicy`` decides what follows.
  func run(_ configuration: any Configurable) async throws
}

extension RunningInitializer {
  /// Sets nothing up.
  public func perform(with configuration: any Configurable) async throws {}
}

extension RunningInitializer where Self: ServiceInitializer {
  /// Creates the service and registers it in the current registry, for a type that is both.
  public func perform(with configuration: any Configurable) async throws {
    try await registerService(with: configuration)
  }
}

/// A policy for what a sequence does when a service ends by itself.
public struct ExitPolicy: Sendable, Hashable {
  /// The limit on restarts, and the pauses before them.
  struct Restart: Sendable, Hashable {
    let max: Int
    let window: Duration
    let backoff: Backoff
  }

  let restart: Restart?
  let shutsDown: Bool

  /// Shuts the sequence down.
  ///
  /// If the service threw an error, ``LaunchSequence/run(on:secondSignal:shutDownWithin:)`` throws it in a
  /// ``LaunchError``; during the launch, the launch fails with it.
  ///
  /// A step that declares no policy has this one.
  public static let shutDown = ExitPolicy(restart: nil, shutsDown: true)

  /// Goes on without the service, whose health is then ``StepHealth/unhealthy(_:)``.
  public static let ignore = ExitPolicy(restart: nil, shutsDown: false)

  /// Restarts the service after a pause; if it ends too often, the sequence is shut down.
  ///
  /// - Parameters:
  ///   - max: The number of restarts within `window`.
  ///   - window: The time in which restarts are counted. A service that runs for longer may be restarted `max` times again.
  ///   - backoff: The pauses before the restarts in one window.
  public static func restart(
    max: Int, within window: Duration,
    backoff: Backoff = .exponential(from: .milliseconds(100), to: .seconds(10), jitter: 0.2)
  ) -> ExitPolicy {
    ExitPolicy(restart: Restart(max: max, window: window, backoff: backoff), shutsDown: true)
  }

  /// The message about an impossible restart; nil if the policy is valid.
  var mistake: String? {
    guard let restart else { return nil }
    if restart.max < 1 { return "A service can't be restarted \(restart.max) times. Use at least 1, or .shutDown." }
    if restart.window <= .zero { return "Restarts can't be counted within \(restart.window). Use more than zero." }
    return restart.backoff.mistake
  }
}

/// The restarts of a service that are left: it decides what follows an exit, and does nothing itself.
private struct RestartBudget {
  enum Decision: Equatable {
    case restart(after: Duration)
    case shutDown
    case goOn
  }

  private let policy: ExitPolicy
  private var restarts: [Duration] = []

  init(_ policy: ExitPolicy) { self.policy = policy }

  /// Returns what follows the exit of the service, and counts a restart.
  mutating func exited(at time: Duration, random: () -> Double) -> Decision {
    guard let restart = policy.restart else { return policy.shutsDown ? .shutDown : .goOn }
    restarts.removeAll { time - $0 > restart.window }
    if restarts.count == restart.max { return .shutDown }
    restarts.append(time)
    return .restart(after: restart.backoff.pause(after: restarts.count, random: random))
  }
}

// MARK: Supervision

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
