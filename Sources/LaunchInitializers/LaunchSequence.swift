internal import Support
internal import SpellRegistry

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
