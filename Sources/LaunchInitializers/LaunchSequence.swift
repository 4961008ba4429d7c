internal import SpellRegistry
internal import Support

/// Runs a program's setup steps in order, concurrently if possible, supervises its services, and shuts it down.
///
/// ```swift
/// let launch = try LaunchSequence(configuration: AppConfiguration.defaultConfiguration()) {
///   LoggingInitializer()
///   CrashInitializer().onFailure(.skip)
///   DatabaseInitializer().id("db").after("LoggingInitializer").timeout(.seconds(5))
///   FlagsInitializer().after("LoggingInitializer").onFailure(.retry(2, after: .seconds(1)))
///   if isDemo { DemoInitializer().requires("db") }
/// }
/// exit(await launch.run(on: [.terminate, .interrupt]))
/// ```
///
/// A server or a command-line tool calls ``run(on:drain:shutDownWithin:)``, an app ``launch()`` or
/// ``launchImmediately()``.
///
/// **Order.** A step that declares no order waits for the previous step that declares none, so a plain list runs line by
/// line. A step with `.after`, `.requires` or `.before` waits only for what it declares, and runs concurrently with the
/// others. `.after()` without an id lets a step begin at once. A ``LaunchGroup`` gives several steps one name.
///
/// The plan is checked when the sequence is created, before anything runs. Safe to use from any thread.
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
  /// Takes a few milliseconds for ten thousand steps.
  ///
  /// - Parameters:
  ///   - configuration: The configuration for all steps.
  ///   - maxConcurrentSteps: The maximum number of steps that run concurrently.
  ///   - cancellationGracePeriod: How long a cancelled step may go on before it is abandoned.
  ///   - clock: The clock for times, timeouts and pauses. A test passes its own.
  ///   - log: Takes a line about each step that failed, each service that ended or is restarted, each shut-down that
  ///     begins, and each wait that takes long. Writes the lines to the standard error by default. Called from any thread.
  ///   - steps: The steps.
  /// - Throws: ``LaunchPlanError`` for the first error in the plan: a cycle, an unknown or ambiguous id, no steps.
  /// - Precondition: `maxConcurrentSteps` is at least 1, and the grace period isn't negative.
  public init(
    configuration: any Configurable, maxConcurrentSteps: Int = 8, cancellationGracePeriod: Duration = .seconds(1),
    clock: any Clock<Duration> = ContinuousClock(), log: (@Sendable (String) -> Void)? = nil,
    @LaunchBuilder _ steps: () -> [LaunchStep]
  ) throws(LaunchPlanError) {
    if maxConcurrentSteps < 1 {
      fatalError("A launch can't run \(maxConcurrentSteps) steps at once. Set maxConcurrentSteps to at least 1.")
    }
    if cancellationGracePeriod < .zero {
      fatalError(
        "A cancelled step can't have \(cancellationGracePeriod) to end. Set cancellationGracePeriod to zero or more.")
    }
    self.configuration = configuration
    self.clock = LaunchClock(clock)
    self.log = log ?? { writeToStandardError("\($0)\n") }
    plan = try LaunchPlan(steps(), stage: configuration.currentStage())
    let machine = LaunchMachine(plan, maxConcurrentSteps: maxConcurrentSteps, grace: cancellationGracePeriod)
    state = Lock(SequenceState(machine: machine))
  }

  deinit { startSource.finish() }

  // MARK: Launching

  /// Runs the steps, and returns when all of them have ended.
  ///
  /// The steps run once however many calls there are, and all callers get the same report or error. Services are
  /// registered in the registry that is current for the first caller. A caller that is cancelled gets an error of code
  /// `.cancelled`; the launch is cancelled when its last caller is cancelled.
  ///
  /// A step that calls the launch it is part of gets an error, also from tasks that it starts with `Task`. In a
  /// `Task.detached` or on a thread of another library, the call isn't recognized, and the step waits for itself until its
  /// `.timeout`.
  ///
  /// - Returns: The report.
  /// - Throws: ``LaunchError`` if a step or a service failed and its policy is to abort; the completed steps have then been
  ///   shut down in reverse order. At once, with code `.reentered`, if a step calls the launch it is part of.
  @discardableResult
  public func launch() async throws -> LaunchReport {
    if let id = callingStep, isLaunching { throw LaunchError(reenteredBy: id) }
    if Task.isCancelled, isNew { throw LaunchError(.cancelled, LaunchError.unbegunMessage) }
    return try await report(for: enroll(.launch))
  }

  /// Begins to run the steps on the main actor, and returns when the remaining steps have to wait.
  ///
  /// For an app delegate, which can't wait. Steps whose ``Initializable/perform(with:)`` isn't `async`, and main-actor
  /// steps that don't suspend, have ended when this returns, if all steps that they wait for have and fewer than
  /// `maxConcurrentSteps` others wait. The others go on as with ``launch()``.
  ///
  /// ```swift
  /// func application(_: UIApplication, didFinishLaunchingWithOptions _: [UIApplication.LaunchOptionsKey: Any]?) ->
  /// Bool {
  ///   launch.launchImmediately()
  ///   return true
  /// }
  /// ```
  ///
  /// On Apple systems before version 26, the steps begin a moment later.
  ///
  /// - Returns: The launch, to wait for. It throws what ``launch()`` throws.
  @MainActor @discardableResult
  public func launchImmediately() -> Task<LaunchReport, any Error> {
    if let id = callingStep, isLaunching { return Task { throw LaunchError(reenteredBy: id) } }
    let call = beginImmediately()
    return Task { try await report(for: call) }
  }

  private func report(for call: Int) async throws -> LaunchReport {
    switch await answer(to: call) {
    case .report(let report): return report
    case .error(let error): throw error
    case .exitCode: return .empty
    }
  }

  private var isNew: Bool { state.withLock { if case .new = $0.machine.phase { true } else { false } } }
  private var isLaunching: Bool { state.withLock { if case .launching = $0.machine.phase { true } else { false } } }

  // MARK: What there is to see

  /// Whether the launch has completed and the program serves, for a readiness probe.
  ///
  /// False during the launch, while a service has ended and is restarted, from the signal on that begins the shut-down,
  /// and after it. Takes a lock for a moment.
  public var isReady: Bool { state.withLock(\.machine.isReady) }

  /// The report of the launch, with the deferred steps so far and what services have thrown since; nil before the launch
  /// has completed, and if it failed, as its ``LaunchError`` has it.
  public var report: LaunchReport? { state.withLock(\.machine.launchReport) }

  /// The error that ended the sequence; nil before its end, and if it was shut down after its launch.
  public var failure: LaunchError? { state.withLock(\.machine.failure) }

  /// A stream of the events from now on, as they happen.
  ///
  /// Each access returns a new stream, so get one before the launch to receive all events. An event comes after the events
  /// that caused it. The stream buffers events until they are read, and ends when the sequence has been shut down or its
  /// launch has failed. A launch or a shut-down that hangs reports every ten seconds which steps it waits for.
  public var events: AsyncStream<LaunchEvent> { makeStream() }

  // MARK: Shutting down

  /// Shuts down the completed steps in reverse order, and prevents further steps from beginning.
  ///
  /// A step is shut down after the steps that waited for it; independent steps are shut down concurrently. A launch under
  /// way is ended: its steps are cancelled, and ``launch()`` throws an error of code `.shutDown`. A service is withdrawn
  /// from the registry after its step was shut down. When this returns, no service runs, but one that was left behind.
  ///
  /// A step that exceeds its `.stopTimeout` is cancelled and, after the cancellation grace period, left behind, so a step
  /// that hangs doesn't hold up the others. When the whole shut-down exceeds `limit`, everything under way is cancelled
  /// and nothing further begins.
  ///
  /// Runs once however many calls there are: all get the same report, and the shortest limit counts. A call from one of
  /// the sequence's own steps doesn't wait, and returns an empty report.
  ///
  /// - Parameter limit: How long the shut-down may take, apart from the cancellation grace period.
  /// - Returns: The steps in reverse order. A step that threw an error or was left behind is reported as failed, and a step
  ///   that was not reached in time as not run.
  /// - Precondition: The limit isn't negative.
  @discardableResult
  public func shutDown(within limit: Duration = .seconds(30)) async -> LaunchReport {
    if limit < .zero { fatalError("A sequence can't shut down in \(limit). Use a limit of zero or more.") }
    let isOwn = callingStep != nil
    let call = enroll(.shutDown(within: limit))
    if isOwn { return .empty }
    guard case .report(let report) = await answer(to: call) else { return .empty }
    return report
  }

  /// Launches, waits for a signal, shuts down, and returns the exit code: the whole life of a server or command-line tool.
  ///
  /// ```swift
  /// exit(await launch.run(on: [.terminate, .interrupt]))
  /// ```
  ///
  /// The first signal begins the shut-down. During the launch, it ends the launch: running steps are cancelled, and
  /// completed steps are shut down. The second signal ends the process at once, also while steps block every thread, and
  /// also as process 1 of a container; a handler that was set before the call is called instead. Also returns when a step
  /// or a service fails, when ``shutDown(within:)`` is called elsewhere, or when the task is cancelled; then, too, the
  /// first signal lets the shut-down go on. If the sequence has been launched already, only waits and shuts down.
  ///
  /// The exit code is 0 if all went well. It is 1 if the launch or a service failed or a shut-down threw an error, was left
  /// behind or not reached in time; ``failure`` and the log say what happened. If the signal came during the launch, it is
  /// 128 plus the signal's number, as in shells.
  ///
  /// Signals belong to the process: if several sequences run, each one receives every signal.
  ///
  /// - Parameters:
  ///   - signals: The signals to wait for. None if something else in the program handles them, and calls
  ///     ``shutDown(within:)``.
  ///   - drain: How long the program goes on after the signal, while ``isReady`` is false, so that load balancers stop
  ///     sending requests.
  ///   - limit: How long the shut-down may take; see ``shutDown(within:)``.
  /// - Returns: The exit code.
  /// - Precondition: A program can handle each of the signals; SIGKILL and SIGSTOP it can't.
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
