internal import Locking
internal import SpellRegistry

/// Sets an app up: steps in the order written, side by side where they may be, and a report of what happened.
///
/// ```swift
/// let launch = try LaunchSequence(configuration: AppConfiguration.defaultConfiguration()) {
///   LoggingInitializer()
///   CrashInitializer().onFailure(.skip)
///   DatabaseInitializer().id("db").after("LoggingInitializer").timeout(.seconds(5))
///   FlagsInitializer().after("LoggingInitializer").onFailure(.retry(2, after: .seconds(1)))
///   if isDemo { DemoInitializer().after("db") }
/// }
/// let report = try await launch.launch()
/// print(report.timeline())
/// ```
///
/// **Order.** A step without `.after` and `.before` waits for the one of that kind written before it: so a plain list
/// runs line by line. A step with either waits for what is declared and for nothing else, at the side of all others.
/// `.after()` with no name lets a step begin at once.
///
/// The plan is checked when the sequence is made, before anything runs. Everything may be called from any thread.
public final class LaunchSequence: Sendable {
  let plan: LaunchPlan
  let configuration: any Configurable
  let width: Int
  let grace: Duration
  let clock: any Clock<Duration>
  let state = Lock(LaunchState())

  /// Plans a sequence of steps, and runs none.
  ///
  /// Costs a few milliseconds for ten thousand steps.
  ///
  /// - Parameters:
  ///   - configuration: What every step is given.
  ///   - width: How many steps may run at once; ``launchImmediately()`` tells its exception.
  ///   - grace: How long a step that was cancelled may go on before it is abandoned.
  ///   - clock: What times, timeouts and pauses go by; a test has its own.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - steps: The steps.
  /// - Throws: The first mistake in the plan: a circle, a name that no step or more than one has, no steps at all.
  /// - Precondition: The width is at least 1, and the grace not negative.
  public init(
    configuration: any Configurable, width: Int = 8, grace: Duration = .seconds(1),
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line,
    @LaunchBuilder _ steps: () -> [LaunchStep]
  ) throws(LaunchPlanError) {
    let place = SourcePlace(fileID: fileID, line: line)
    if width < 1 { trap("A launch can't run \(width) steps at once. Use a width of at least 1.", at: place) }
    if grace < .zero { trap("A step can't be given \(grace) to end. Use a grace of zero or more.", at: place) }
    self.configuration = configuration
    self.width = width
    self.grace = grace
    self.clock = clock
    plan = try LaunchPlan(steps(), stage: configuration.currentStage(), place: place)
  }

  /// Runs the steps, and returns when all are done.
  ///
  /// Runs once however often and by whomever it is called: all get the same report or error. Services are registered in
  /// the registry that is current for the first caller. A caller that is cancelled gets an error of code `.cancelled`;
  /// the launch ends when nobody is left to wait for it.
  ///
  /// A step that calls for its own launch gets an error, and so does what it awaits or starts with `Task`. A
  /// `Task.detached` and a callback on a thread of someone else's don't know their step: a step that waits there for its
  /// own launch waits forever. Give it a `.timeout`, which ends that.
  ///
  /// - Returns: What happened.
  /// - Throws: ``LaunchError``: a step failed and its policy was to abort, and everything that had completed has been
  ///   shut down, in reverse. At once, with code `.reentered`, where a step calls for its own launch.
  @discardableResult
  public func launch() async throws -> LaunchReport {
    let (run, caller) = try begin()
    run?.start()
    return try await result(for: caller)
  }

  /// Begins to run the steps on the main actor, and returns when one has to be waited for.
  ///
  /// For an app delegate, which can't wait. Steps whose ``Initializable/perform(with:)`` is not `async`, and those of the
  /// main actor that don't wait, run right here and are done when this returns, as long as all that they come after are.
  /// The others go on as with ``launch()``. Steps that begin here are as many as there are, whatever the width: which of
  /// them wait is known when they do. A timeout of a step that keeps the main actor is noted in time, and heard of by the
  /// step when it waits or returns.
  ///
  /// ```swift
  /// func application(_: UIApplication, didFinishLaunchingWithOptions _: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
  ///   launch.launchImmediately()
  ///   return true
  /// }
  /// ```
  ///
  /// On Apple systems before version 26, a call from within a task starts the steps a moment later; await ``launch()``
  /// there.
  ///
  /// - Returns: The launch, to wait for; it throws what ``launch()`` throws.
  @MainActor @discardableResult
  public func launchImmediately() -> Task<LaunchReport, any Error> {
    do {
      let (run, caller) = try begin()
      run?.start(isOnMainActor: true)
      return Task { try await self.result(for: caller) }
    } catch {
      return Task { throw error }
    }
  }
}

extension LaunchSequence: CustomStringConvertible, CustomReflectable {
  /// The steps, in the order of the plan; nothing of the configuration.
  public var description: String { "LaunchSequence(\(plan.steps.map(\.id).joined(separator: ", ")))" }

  /// The steps' names: the configuration may hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["steps": plan.steps.map(\.id)]) }
}
