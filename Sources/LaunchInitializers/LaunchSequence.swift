internal import Support
internal import SpellRegistry

/// Runs a program's setup steps in order, side by side where possible, and reports what happened.
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
/// **Order.** A step that declares no order waits for the one of that kind that is listed before it, so a plain list
/// runs line by line. A step with `.after`, `.requires` or `.before` waits for what it declares and for nothing else,
/// beside all others. `.after()` without an id lets a step begin at once.
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

  /// Plans a sequence of steps, and runs none of them.
  ///
  /// Takes a few milliseconds for ten thousand steps.
  ///
  /// - Parameters:
  ///   - configuration: The configuration that every step gets.
  ///   - maxConcurrentSteps: The maximum number of steps that run concurrently. See ``launchImmediately()`` for an
  ///     exception.
  ///   - cancellationGracePeriod: How long a cancelled step may go on before it is abandoned.
  ///   - clock: The clock of all times, timeouts and pauses; a test has its own.
  ///   - fileID: The source file, for messages.
  ///   - line: The source line, for messages.
  ///   - steps: The steps.
  /// - Throws: ``LaunchPlanError`` for the first mistake in the plan: a cycle, an id that no step or more than one has, no
  ///   steps.
  /// - Precondition: `maxConcurrentSteps` is at least 1, and the grace period isn't negative.
  public init(
    configuration: any Configurable, maxConcurrentSteps: Int = 8, cancellationGracePeriod: Duration = .seconds(1),
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line,
    @LaunchBuilder _ steps: () -> [LaunchStep]
  ) throws(LaunchPlanError) {
    let place = SourcePlace(fileID: fileID, line: line)
    if maxConcurrentSteps < 1 {
      trap("A launch can't run \(maxConcurrentSteps) steps at once. Set maxConcurrentSteps to at least 1.", at: place)
    }
    if cancellationGracePeriod < .zero {
      trap(
        "A step can't be given \(cancellationGracePeriod) to end. Set cancellationGracePeriod to zero or more.",
        at: place)
    }
    self.configuration = configuration
    self.maxConcurrentSteps = maxConcurrentSteps
    self.cancellationGracePeriod = cancellationGracePeriod
    self.clock = clock
    plan = try LaunchPlan(steps(), stage: configuration.currentStage(), place: place)
  }

  /// Runs the steps, and returns when all of them are done.
  ///
  /// Runs once, however many calls there are: all get the same report or error. Services are registered in the registry
  /// that is current for the first caller. A caller that is cancelled gets an error of code `.cancelled`; the launch is
  /// cancelled when its last caller is cancelled.
  ///
  /// A step that calls for its own launch gets an error, and so does what it awaits or starts with `Task`. A
  /// `Task.detached` and a callback on another library's thread don't know their step: a step that waits there for its
  /// own launch waits forever. Give it a `.timeout`, which ends that.
  ///
  /// - Returns: The report.
  /// - Throws: ``LaunchError`` if a step failed and its policy is to abort; everything that had completed has been shut
  ///   down, in reverse. At once, with code `.reentered`, if a step calls for its own launch.
  @discardableResult
  public func launch() async throws -> LaunchReport {
    let (runner, caller) = try begin()
    runner?.start()
    return try await result(for: caller)
  }

  /// Begins to run the steps on the main actor, and returns when one has to be waited for.
  ///
  /// For an app delegate, which can't wait. Steps whose ``Initializable/perform(with:)`` isn't `async`, and those of
  /// the main actor that don't wait, run right here and are done when this returns, as long as everything that they
  /// come after is. The others go on as with ``launch()``. All ready steps begin here regardless of
  /// `maxConcurrentSteps`, because whether a step suspends is known only once it runs. A timeout of a step that blocks
  /// the main actor is noted in time, and reaches the step when it waits or returns.
  ///
  /// ```swift
  /// func application(_: UIApplication, didFinishLaunchingWithOptions _: [UIApplication.LaunchOptionsKey: Any]?) ->
  /// Bool {
  ///   launch.launchImmediately()
  ///   return true
  /// }
  /// ```
  ///
  /// On Apple systems before version 26, a call from within a task begins the steps a moment later; await ``launch()``
  /// there.
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
