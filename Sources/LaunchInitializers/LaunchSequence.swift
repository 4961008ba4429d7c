internal import SpellRegistry
internal import Support

/// A sequence of steps that sets up a program, supervises its services, and shuts it down.
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
/// A step that declares no order waits for the previous step that declares no order, so a plain list runs line by line.
/// A step with `.after`, `.requires` or `.before` waits only as these modifiers say, and otherwise runs concurrently
/// with other steps. A sequence is safe to use from any thread.
public final class LaunchSequence: Sendable {
  let configuration: any Configurable
  let plan: LaunchPlan
  let clock: LaunchClock
  let log: LaunchLog
  let state: Lock<SequenceState>
  /// The stream of jobs to start, and the continuation that adds jobs to the stream.
  ///
  /// The task that reads the stream has the priority and the task-local values of the first caller that launches the
  /// sequence.
  let (starts, startSource) = AsyncStream.makeStream(of: LaunchMachine.Job.self)

  /// Plans a sequence of steps without running any of them.
  ///
  /// - Parameters:
  ///   - configuration: The configuration that all steps get.
  ///   - maxConcurrentSteps: The maximum number of steps that run concurrently.
  ///   - cancellationGracePeriod: The time that a canceled step may take to end before it is abandoned.
  ///   - clock: The clock that measures the times in reports and events, the timeouts and the pauses.
  ///   - log: A function that gets a line about each failed step or service, each restart, each drain (the pause
  ///     between a signal and the shutdown), each shutdown that has steps to shut down, each step that a shutdown
  ///     doesn't reach in time, and each long wait. The function gets the lines in order, on the log's own thread. By
  ///     default, the lines go to the standard error. A call such as ``launch()`` returns when all earlier lines are
  ///     written, or when it has waited two seconds for them. If the function blocks, up to 1,000 lines wait. Further
  ///     lines are dropped, and the function later gets a line that says how many lines were dropped.
  ///   - steps: The initializers, steps and groups of the sequence.
  /// - Throws: ``LaunchPlanError`` for the first error in the plan, such as a cycle, an unknown ID, or an empty list.
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
    (self.configuration, self.clock) = (configuration, LaunchClock(clock))
    self.log = LaunchLog(log ?? { writeToStandardError("\($0)\n") })
    plan = try LaunchPlan(steps(), stage: configuration.currentStage())
    let machine = LaunchMachine(plan, maxConcurrentSteps: maxConcurrentSteps, grace: grace)
    state = Lock(SequenceState(machine, log: self.log))
  }

  /// Plans a sequence whose steps read no configuration.
  ///
  /// The steps get a configuration without values, of the stage `production`. The parameters are those of
  /// ``init(configuration:maxConcurrentSteps:cancellationGracePeriod:clock:log:_:)``.
  ///
  /// - Throws: ``LaunchPlanError`` for the first error in the plan.
  public convenience init(
    maxConcurrentSteps: Int = 8, cancellationGracePeriod: Duration = .seconds(1),
    clock: any Clock<Duration> = ContinuousClock(), log: (@Sendable (String) -> Void)? = nil,
    @LaunchBuilder _ steps: () -> [LaunchStep]
  ) throws(LaunchPlanError) {
    try self.init(
      configuration: EmptyConfiguration(), maxConcurrentSteps: maxConcurrentSteps,
      cancellationGracePeriod: cancellationGracePeriod, clock: clock, log: log, steps)
  }

  /// The configuration of a sequence that was created without one.
  private struct EmptyConfiguration: Configurable {
    var serviceStorage: ServiceStorage { [:] }
    func currentStage() -> ReleaseStage { .production }
    static func defaultConfiguration() -> EmptyConfiguration { EmptyConfiguration() }
  }

  deinit {
    startSource.finish()
    for stream in state.withLock(\.streams).values { stream.finish() }
  }

  /// Runs the steps, and returns when all steps except the deferred steps have ended.
  ///
  /// The steps run once, even if there are several calls, and all callers get the same report or error. Services are
  /// registered in the registry that is current for the first caller. Canceling all callers, or one caller of
  /// ``run(on:repeatingOn:drain:shutDownWithin:)``, cancels the launch.
  ///
  /// Unlike ``run(on:repeatingOn:drain:shutDownWithin:)``, this method returns before services end, handles no
  /// signals, and never ends the process. By default, a service that ends by itself after the launch shuts the sequence
  /// down. Such a shutdown ends ``events`` and sets ``failure``. The program has to call ``shutDown(within:)`` before it
  /// exits.
  ///
  /// - Throws: ``LaunchError`` if the launch is canceled, is shut down, or is aborted by a failed step or service.
  ///   Before the error is thrown, the completed steps are shut down in reverse order. If the task of a caller is
  ///   canceled during the launch while other callers wait, that caller gets an error at once, and the launch goes on.
  ///   During the launch and the shutdown, a call from one of the sequence's own steps throws at once.
  @discardableResult
  public func launch() async throws -> LaunchReport {
    if let id = callingStep, isIn(.launching, .closing) { throw LaunchError(reenteredBy: id) }
    if Task.isCancelled, isIn(.new) { throw LaunchError(.cancelled, LaunchError.unbegunMessage) }
    return try await report(for: enroll(.launch))
  }

  /// Begins the launch, and returns after running the steps that can run on the main actor without waiting.
  ///
  /// Use this method in an app delegate, which can't wait. A step ends before the method returns if its
  /// ``Initializable/perform(with:)`` isn't `async`, or if the step runs on the main actor and doesn't suspend. In both
  /// cases, all steps that the step waits for must have ended, and fewer than `maxConcurrentSteps` other steps may be
  /// suspended. Three kinds of steps leave the main actor and may end later: a step that belongs to another actor, a
  /// ``ServiceInitializer``, and a step whose closure isn't `@MainActor`. On Apple systems before version 26, all steps
  /// begin a moment after the method returns. If the launch has already begun, the method returns immediately.
  ///
  /// - Returns: A task that waits for the launch, and returns the same report or throws the same error as ``launch()``.
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

  /// Whether the launch has completed and all services are ready, for a readiness probe.
  ///
  /// The value is false while a service restarts, and after the drain or the shutdown has begun. It stays true while
  /// the service of a deferred step begins.
  public var isReady: Bool { state.withLock(\.machine.isReady) }

  /// The report of the launch, including deferred steps and errors of services so far; nil before the launch completes.
  ///
  /// If the launch failed, this property stays nil, and the ``LaunchError`` of the launch has the report.
  public var report: LaunchReport? { state.withLock(\.machine.launchReport) }

  /// The error that ended the sequence; nil before the sequence has ended.
  ///
  /// The error is also nil if ``shutDown(within:)`` or a signal shut the sequence down after its launch.
  public var failure: LaunchError? { state.withLock(\.machine.failure) }

  /// A new stream of the events that happen after this access.
  ///
  /// To receive all events, get the stream before the launch. The stream buffers events until they are read. It ends
  /// when the sequence has been shut down or its launch has failed.
  public var events: AsyncStream<LaunchEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: LaunchEvent.self)
    let number = state.withLock { state -> Int? in
      state.machine.isObserved = true
      if state.machine.phase == .over { return nil }
      state.lastStream += 1
      state.streams[state.lastStream] = continuation
      return state.lastStream
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    // Forgets a stream that isn't read anymore.
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.streams.removeValue(forKey: number) }
    }
    return stream
  }

  /// Records that the app went to the background, so that the next ``enterForeground()`` counts as a return.
  public func enterBackground() async { handle(.background) }

  /// Repeats the steps that ask to be repeated, after the app has come back to the foreground.
  ///
  /// Does nothing without a previous ``enterBackground()``, because an app also comes to the foreground when it starts.
  /// A failed step is retried if its policy says so, but doesn't abort the other steps. A call during the launch waits
  /// for the launch first. Simultaneous calls share one repetition. A call from one of the sequence's own steps doesn't
  /// wait, and returns an empty report.
  ///
  /// - Returns: A report of the steps that ran, which is empty if there was nothing to do.
  @discardableResult
  public func enterForeground() async -> LaunchReport {
    if callingStep == nil { return await answer(to: enroll(.foreground)).report }
    handle(.call(nil, .foreground))
    return .empty
  }

  /// Shuts down the completed steps in reverse order, and prevents further steps from beginning.
  ///
  /// Independent steps are shut down concurrently. If a launch is under way, its steps are canceled, and ``launch()``
  /// throws an error of code `.shutDown`. When this method returns, no service runs, except services that ignored their
  /// cancellation. Several calls share one shutdown with the shortest of their limits, and get the same report. A
  /// shutdown that began for another reason has a limit of 20 seconds, or the limit of
  /// ``run(on:repeatingOn:drain:shutDownWithin:)``, and a call may only shorten that limit. A call from one of the
  /// sequence's own steps doesn't wait, and returns an empty report.
  ///
  /// - Parameter limit: The time limit of the shutdown. When the limit is reached, all steps and services under way are
  ///   canceled, and no further step begins to shut down. A step that isn't the last takes at most three quarters of
  ///   the time that is left, so a step that hangs leaves time for the steps after it.
  /// - Returns: A report of the steps in reverse order. A step that threw an error or was abandoned is reported as
  ///   failed. A step that the shutdown didn't reach in time is reported as not run.
  /// - Precondition: The limit isn't negative.
  @discardableResult
  public func shutDown(within limit: Duration = .seconds(20)) async -> LaunchReport {
    Self.check(limit)
    if callingStep == nil { return await answer(to: enroll(.shutDown(within: limit))).report }
    handle(.call(nil, .shutDown(within: limit)))
    return .empty
  }

  /// Stops the program if the time limit of a shutdown is negative.
  private static func check(_ limit: Duration) {
    if limit < .zero { fatalError("A sequence can't shut down in \(limit). Use a limit of zero or more.") }
  }

  /// Runs a server or tool from start to end: launches, waits for a signal, shuts down, and returns the exit code.
  ///
  /// The first signal begins the shutdown, even during the launch, unless a failure, ``shutDown(within:)`` or the
  /// task's cancellation has already begun the shutdown. The second signal ends the process at once, even if steps
  /// block every thread or the process is number 1 in a container. If the second signal had a handler before the call,
  /// that handler is called instead. If several sequences run, each receives every signal that it waits for. A signal
  /// that the process already ignores stays ignored, such as SIGINT in a shell's background job, or SIGHUP under nohup.
  /// A signal to a forked child process has its default action there. On Windows, and on platforms without Dispatch, no
  /// signal is handled.
  ///
  /// - Parameters:
  ///   - signals: The signals to wait for; an empty array if other code in the program handles signals.
  ///   - repeating: The signals that perform again the steps that ask for it, as at a return to the foreground; see
  ///     ``enterForeground()``. If the pass before hasn't ended, another one follows. A signal that is also in `signals`
  ///     begins the shutdown.
  ///   - drain: The pause between a signal and the shutdown, if the signal arrives after the launch. During the pause,
  ///     the steps and services go on, but ``isReady`` is false, so that load balancers stop sending requests.
  ///   - limit: The time limit of the shutdown; see ``shutDown(within:)``. The drain and the limit together should be
  ///     less than the time after which the process is killed, which is 30 seconds by default in Kubernetes.
  /// - Returns: The exit code. It is 0 if all went well. If the signal came during the launch, it is 128 plus the
  ///   signal's number, as in shells. It is 1 if the launch or the shutdown failed, or if the end of a service shut the
  ///   sequence down. The reason for the code 1 is in ``failure`` or in the log.
  /// - Precondition: A program can handle each of the signals. For example, no program can handle SIGKILL. The limit
  ///   isn't negative.
  @discardableResult
  public func run(
    on signals: [LaunchSignal] = [.terminate, .interrupt], repeatingOn repeating: [LaunchSignal] = [],
    drain: Duration = .zero, shutDownWithin limit: Duration = .seconds(20)
  ) async -> Int32 {
    Self.check(limit)
    if let id = callingStep {
      log.add(LaunchError(reenteredBy: id))
      log.start()
      return 1
    }
    let listener = SignalListener(signals + repeating) { [self] number, arrival in
      if signals.contains(LaunchSignal(rawValue: number)) { signalArrived(number, arrival) } else { repeatSteps() }
    }
    defer { listener.finish() }
    guard case .exitCode(let code) = await answer(to: enroll(.run(drain: drain, limit: limit))) else { return 1 }
    return code
  }
}

extension LaunchSequence: CustomStringConvertible, CustomReflectable {
  /// The IDs of the steps, in the order of the plan, without the configuration, which may hold secrets.
  public var description: String { "LaunchSequence(\(plan.ids.joined(separator: ", ")))" }

  /// A mirror with only the IDs of the steps, because the configuration may hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["steps": plan.ids]) }
}
