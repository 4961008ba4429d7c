internal import SpellRegistry
internal import Support

/// Runs a program's setup steps in order, concurrently if possible, and reports what happened.
///
/// ```swift
/// let launch = try LaunchSequence(configuration: AppConfiguration.defaultConfiguration()) {
///   LoggingInitializer()
///   CrashInitializer().onFailure(.skip)
///   DatabaseInitializer().id("db").after("LoggingInitializer").timeout(.seconds(5))
///   FlagsInitializer().after("LoggingInitializer").onFailure(.retry(2, after: .seconds(1)))
///   if isDemo { DemoInitializer().requires("db") }
/// }
/// exit(try await launch.run(on: [.terminate, .interrupt]))
/// ```
///
/// A server or a command-line tool calls ``run(on:secondSignal:shutDownWithin:)``, an app ``launch()`` or
/// ``launchImmediately()``.
///
/// **Order.** A step that declares no order waits for the previous step that declares none, so a plain list runs line by
/// line. A step with `.after`, `.requires` or `.before` waits only for what it declares, and runs concurrently with the
/// others. `.after()` without an id lets a step begin at once. A ``LaunchGroup`` gives several steps one name.
///
/// The plan is checked when the sequence is created, before anything runs. Safe to use from any thread.
public final class LaunchSequence: Sendable {
  let plan: LaunchPlan
  let configuration: any Configurable
  let maxConcurrentSteps: Int
  let cancellationGracePeriod: Duration
  let clock: any Clock<Duration>
  let state = Lock(SequenceState())
  let hub = EventHub()

  /// Plans a sequence of steps without running any of them.
  ///
  /// Takes a few milliseconds for ten thousand steps.
  ///
  /// - Parameters:
  ///   - configuration: The configuration for all steps.
  ///   - maxConcurrentSteps: The maximum number of steps that run concurrently. See ``launchImmediately()`` for an
  ///     exception.
  ///   - cancellationGracePeriod: How long a cancelled step may go on before it is abandoned.
  ///   - clock: The clock for times, timeouts and pauses. A test passes its own.
  ///   - fileID: The source file, for messages.
  ///   - line: The source line, for messages.
  ///   - steps: The steps.
  /// - Throws: ``LaunchPlanError`` for the first error in the plan: a cycle, an unknown or ambiguous id, no steps.
  /// - Precondition: `maxConcurrentSteps` is at least 1, and the grace period isn't negative.
  public init(
    configuration: any Configurable, maxConcurrentSteps: Int = 8, cancellationGracePeriod: Duration = .seconds(1),
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line,
    @LaunchBuilder _ steps: () -> [LaunchStep]
  ) throws(LaunchPlanError) {
    let location = SourcePlace(fileID: fileID, line: line)
    if maxConcurrentSteps < 1 {
      trap(
        "A launch can't run \(maxConcurrentSteps) steps at once. Set maxConcurrentSteps to at least 1.", at: location)
    }
    if cancellationGracePeriod < .zero {
      trap(
        "A cancelled step can't have \(cancellationGracePeriod) to end. Set cancellationGracePeriod to zero or more.",
        at: location)
    }
    self.configuration = configuration
    self.maxConcurrentSteps = maxConcurrentSteps
    self.cancellationGracePeriod = cancellationGracePeriod
    self.clock = clock
    plan = try LaunchPlan(steps(), stage: configuration.currentStage(), location: location)
  }

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
  /// - Throws: ``LaunchError`` if a step failed and its policy is to abort; the completed steps have then been shut down in
  ///   reverse order. At once, with code `.reentered`, if a step calls the launch it is part of.
  @discardableResult
  public func launch() async throws -> LaunchReport {
    let (runner, caller) = try begin()
    runner?.start()
    return try await result(for: caller)
  }

  /// Begins to run the steps on the main actor, and returns when the remaining steps have to wait.
  ///
  /// For an app delegate, which can't wait. Steps whose ``Initializable/perform(with:)`` isn't `async`, and main-actor
  /// steps that don't suspend, have ended when this returns, if all steps that they wait for have. The others go on as
  /// with ``launch()``. All ready steps begin here regardless of `maxConcurrentSteps`, because whether a step suspends is
  /// known only once it runs. A step that blocks the main actor beyond its timeout is cancelled in time, and notices when
  /// it suspends or returns.
  ///
  /// ```swift
  /// func application(_: UIApplication, didFinishLaunchingWithOptions _: [UIApplication.LaunchOptionsKey: Any]?) ->
  /// Bool {
  ///   launch.launchImmediately()
  ///   return true
  /// }
  /// ```
  ///
  /// On Apple systems before version 26, a call from a task begins the steps a moment later; await ``launch()`` there.
  ///
  /// - Returns: The launch, to wait for. It throws what ``launch()`` throws.
  @MainActor @discardableResult
  public func launchImmediately() -> Task<LaunchReport, any Error> {
    do {
      let (runner, caller) = try begin()
      runner?.start(isOnMainActor: true)
      return Task { try await self.result(for: caller) }
    } catch {
      return Task { throw error }
    }
  }
}

extension LaunchSequence: CustomStringConvertible, CustomReflectable {
  /// The ids of the steps, in the order of the plan; nothing of the configuration.
  public var description: String { "LaunchSequence(\(plan.steps.map(\.id).joined(separator: ", ")))" }

  /// The ids of the steps: the configuration may hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["steps": plan.steps.map(\.id)]) }
}

// MARK: One launch for all calls, and the roll-back if it fails

extension LaunchSequence {
  /// Begins the launch, unless it has begun.
  ///
  /// - Returns: The runner if the caller has to start it, and the caller's number.
  private func begin() throws -> (runner: LaunchRunner?, caller: Int) {
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
  private func result(for caller: Int) async throws -> LaunchReport {
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

// MARK: State

/// The state of a sequence, and what waits for it.
struct SequenceState {
  enum Phase {
    case new
    case launching(LaunchRunner)
    case launched(LaunchReport)
    case failed(LaunchError)
  }

  var phase = Phase.new
  /// Whether the launch had succeeded before the sequence was shut down.
  var wasLaunched = false
  var registry = InitializerRegistry.shared
  /// How each step ended, from the launch on.
  var outcomes: [LaunchReport.Outcome] = []
  /// The attempts that registered services, by the indices of their steps, until the services are withdrawn.
  var services: [Int: StepAttempt] = [:]
  /// What an aborted launch shut down.
  var rollback = LaunchReport.empty

  /// The calls for the launch that were not cancelled; when none is left, the launch is cancelled.
  var callers: Set<Int> = []
  /// The calls that already wait.
  var waiters: [Int: CheckedContinuation<LaunchReport, any Error>] = [:]
  private var callerCount = 0
  /// The calls that only wait until the launch is over.
  var observers: [CheckedContinuation<Void, Never>] = []

  /// The services of completed steps, by the indices of the steps.
  var supervisors: [Int: ServiceSupervisor] = [:]
  /// Why the sequence is shut down, if a service failed.
  var failure: LaunchError?
  /// The run of the deferred steps.
  var deferred: (runner: LaunchRunner, report: Task<LaunchReport, Never>)?
  var lazy = LazySteps()

  var foreground = Foreground()
  var shutDown: Task<LaunchReport, Never>?
  var shutDownLimit: Duration?
  var shutDownRunner: LaunchRunner?
  /// The listeners of calls of ``LaunchSequence/run(on:)``, which a shut-down without a signal wakes.
  var listeners: [SignalListener] = []

  /// The passes through the steps at returns to the foreground.
  struct Foreground {
    /// Whether the app is in the background.
    var isInBackground = false
    /// The pass under way.
    var pass: Task<LaunchReport, Never>?
    /// The run of the pass under way.
    var runner: LaunchRunner?
    /// The pass after it, or after the launch.
    var next: Task<LaunchReport, Never>?
  }

  mutating func addCaller() -> Int {
    callerCount += 1
    if case .launching = phase { callers.insert(callerCount) }
    return callerCount
  }
}
