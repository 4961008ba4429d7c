internal import SpellRegistry
internal import Support

/// Runs a program's setup steps in order, concurrently if possible, supervises its services, and shuts it down.
///
/// ```swift
/// let launch = try LaunchSequence(configuration: AppConfiguration()) {
///   LoggingInitializer()
///   CrashInitializer().onFailure(.skip)
///   DatabaseInitializer().id("db").timeout(.seconds(5))
///   if isDemo { DemoInitializer().requires("db") }
/// }
/// exit(await launch.run(on: [.terminate, .interrupt]))
/// ```
///
/// A step that declares no order waits for the previous step that declares none, so a plain list runs line by line. A step
/// with `.after`, `.requires` or `.before` waits only for what it declares, and runs concurrently with the others. Safe to
/// use from any thread.
public final class LaunchSequence: Sendable {
  let configuration: any Configurable
  let plan: LaunchPlan
  let clock: LaunchClock
  let log: @Sendable (String) -> Void
  let state: Lock<SequenceState>
  /// The jobs for the task that starts them with the priority and the task-local values of the first caller.
  let (starts, startSource) = AsyncStream.makeStream(of: LaunchMachine.Job.self)

  /// Plans a sequence of steps without running any of them.
  ///
  /// - Parameters:
  ///   - configuration: The configuration that all steps get.
  ///   - maxConcurrentSteps: How many steps run concurrently at most.
  ///   - cancellationGracePeriod: How long a cancelled step may go on before it is abandoned.
  ///   - clock: The clock for times, timeouts and pauses.
  ///   - log: Takes a line about each failed step, each service that ended or is restarted, each shut-down that begins and
  ///     each long wait, in order, on one thread at a time; by default, writes it to the standard error.
  ///   - steps: The steps.
  /// - Throws: ``LaunchPlanError`` for the first error in the plan: a cycle, an unknown or ambiguous id, no steps.
  /// - Precondition: `maxConcurrentSteps` is at least 1, and the grace period isn't negative.
  public init(
    configuration: any Configurable, maxConcurrentSteps: Int = 8, cancellationGracePeriod: Duration = .seconds(1),
    clock: any Clock<Duration> = ContinuousClock(), log: (@Sendable (String) -> Void)? = nil,
    @LaunchBuilder _ steps: () -> [LaunchStep]
  ) throws(LaunchPlanError) {
    let grace = cancellationGracePeriod
    if maxConcurrentSteps < 1 {
      fatalError("A launch can't run \(maxConcurrentSteps) steps at once. Set maxConcurrentSteps to at least 1.")
    }
    if grace < .zero { fatalError("A cancelled step can't have \(grace) to end. Use a grace period of zero or more.") }
    self.configuration = configuration
    self.clock = LaunchClock(clock)
    self.log = log ?? { writeToStandardError("\($0)\n") }
    plan = try LaunchPlan(steps(), stage: configuration.currentStage())
    state = Lock(
      SequenceState(machine: LaunchMachine(plan, maxConcurrentSteps: maxConcurrentSteps, grace: grace)))
  }

  deinit { startSource.finish() }

  /// Runs the steps, and returns when all of them have ended.
  ///
  /// The steps run once however many calls there are, and all callers get the same report or error. Services are
  /// registered in the registry that is current for the first caller. The launch is cancelled with its last caller.
  ///
  /// - Throws: ``LaunchError`` if a step or a service failed and its policy is to abort; the completed steps have then been
  ///   shut down in reverse order. At once if a step calls the launch it is part of.
  @discardableResult
  public func launch() async throws -> LaunchReport {
    if let id = callingStep, isIn(.launching, .closing) { throw LaunchError(reenteredBy: id) }
    if Task.isCancelled, isIn(.new) { throw LaunchError(.cancelled, LaunchError.unbegunMessage) }
    return try await report(for: enroll(.launch))
  }

  /// Begins to run the steps on the main actor, and returns when the remaining steps have to wait.
  ///
  /// For an app delegate, which can't wait. Steps whose ``Initializable/perform(with:)`` isn't `async`, and main-actor
  /// steps that don't suspend, have ended when this returns, if all steps that they wait for have and fewer than
  /// `maxConcurrentSteps` others wait. A ``ServiceInitializer``, and a step of a closure that isn't `@MainActor`, leave the
  /// main actor and may end later. On Apple systems before version 26, all steps begin a moment later.
  ///
  /// - Returns: The launch, to wait for. It throws what ``launch()`` throws.
  @MainActor @discardableResult
  public func launchImmediately() -> Task<LaunchReport, any Error> {
    if let id = callingStep, isIn(.launching, .closing) { return Task { throw LaunchError(reenteredBy: id) } }
    let call = beginImmediately()
    return Task { try await report(for: call) }
  }

  private func report(for call: Int) async throws -> LaunchReport {
    let answer = await answer(to: call)
    if case .error(let error) = answer { throw error }
    return answer.report
  }

  private func isIn(_ phases: LaunchMachine.Phase...) -> Bool { state.withLock { phases.contains($0.machine.phase) } }

  /// Whether the launch has completed and the program serves, for a readiness probe.
  ///
  /// False while a service is restarted, and from the signal on that begins the shut-down.
  public var isReady: Bool { state.withLock(\.machine.isReady) }

  /// The report of the launch, with the deferred steps so far and what services have thrown since; nil before the launch
  /// has completed, and if it failed, as its ``LaunchError`` has it.
  public var report: LaunchReport? { state.withLock(\.machine.launchReport) }

  /// The error that ended the sequence; nil before its end, and if it was shut down after its launch.
  public var failure: LaunchError? { state.withLock(\.machine.failure) }

  /// A stream of the events from now on, as they happen.
  ///
  /// Each access returns a new stream, so get one before the launch to receive all events. It buffers events until they
  /// are read, and ends when the sequence has been shut down or its launch has failed.
  public var events: AsyncStream<LaunchEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: LaunchEvent.self)
    let isOver = state.withLock { state in
      state.machine.isObserved = true
      if state.machine.phase != .over { state.streams.append(continuation) }
      return state.machine.phase == .over
    }
    if isOver { continuation.finish() }
    return stream
  }

  /// Notes that the app went to the background, so the next ``enterForeground()`` is a return.
  public func enterBackground() async { handle(.background) }

  /// Notes that the app came to the foreground, and performs the steps again that ask for it.
  ///
  /// Does nothing without a previous ``enterBackground()``, because an app that starts comes to the foreground too. A step
  /// that fails is retried if its policy says so; nothing is aborted. During the launch, waits for its end. Calls at the
  /// same time share one pass through the steps. A call from one of the sequence's own steps doesn't wait.
  ///
  /// - Returns: The steps that ran; none if there was nothing to do.
  @discardableResult
  public func enterForeground() async -> LaunchReport {
    let isOwn = callingStep != nil
    let call = enroll(.foreground)
    return isOwn ? .empty : await answer(to: call).report
  }

  /// Shuts down the completed steps in reverse order, and prevents further steps from beginning.
  ///
  /// Independent steps are shut down concurrently. A launch under way is ended: its steps are cancelled, and ``launch()``
  /// throws an error of code `.shutDown`. When this returns, no service runs, but one that was left behind. Runs once
  /// however many calls there are: all get the same report, and the shortest limit counts. A call from one of the
  /// sequence's own steps doesn't wait, and returns an empty report.
  ///
  /// - Parameter limit: How long the shut-down may take. Then everything under way is cancelled, and nothing further
  ///   begins.
  /// - Returns: The steps in reverse order. A step that threw an error or was left behind is reported as failed, and a step
  ///   that was not reached in time as not run.
  /// - Precondition: The limit isn't negative.
  @discardableResult
  public func shutDown(within limit: Duration = .seconds(30)) async -> LaunchReport {
    if limit < .zero { fatalError("A sequence can't shut down in \(limit). Use a limit of zero or more.") }
    let isOwn = callingStep != nil
    let call = enroll(.shutDown(within: limit))
    return isOwn ? .empty : await answer(to: call).report
  }

  /// Launches, waits for a signal, shuts down, and returns the exit code: the whole life of a server or command-line tool.
  ///
  /// The first signal begins the shut-down, and ends a launch that is under way. It changes nothing if a failure, a call of
  /// ``shutDown(within:)`` or the task's cancellation has begun the shut-down. The second signal ends the process at once,
  /// also while steps block every thread, and also as process 1 of a container; a handler that was set before the call is
  /// called instead. If several sequences run, each one receives every signal.
  ///
  /// - Parameters:
  ///   - signals: The signals to wait for; none if something else in the program handles them.
  ///   - drain: How long the program goes on after the signal, while ``isReady`` is false, so that load balancers stop
  ///     sending requests.
  ///   - limit: How long the shut-down may take; see ``shutDown(within:)``.
  /// - Returns: The exit code: 0 if all went well, and 1 if the launch, a service or a shut-down failed; ``failure`` and the
  ///   log say why. If the signal came during the launch, 128 plus the signal's number, as in shells.
  /// - Precondition: A program can handle each of the signals.
  @discardableResult
  public func run(
    on signals: [LaunchSignal] = [.terminate, .interrupt], drain: Duration = .zero,
    shutDownWithin limit: Duration = .seconds(30)
  ) async -> Int32 {
    if let id = callingStep {
      log("\(LaunchError(reenteredBy: id))")
      return 1
    }
    let listener = SignalListener(signals) { [self] number, arrival in signalArrived(number, arrival) }
    defer { listener.finish() }
    guard case .exitCode(let code) = await answer(to: enroll(.run(drain: drain, limit: limit))) else { return 1 }
    return code
  }
}

extension LaunchSequence: CustomStringConvertible, CustomReflectable {
  /// The ids of the steps, in the order of the plan; nothing of the configuration.
  public var description: String { "LaunchSequence(\(plan.ids.joined(separator: ", ")))" }

  /// The ids of the steps: the configuration may hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["steps": plan.ids]) }
}
