/// One thing that has to be set up at launch: a library, a setting of the whole app.
///
/// ```swift
/// struct CrashInitializer: Initializable {
///   func perform(with configuration: any Configurable) throws {
///     guard let key = configuration.value(for: "Crash", key: "ApiKey") else {
///       throw SkipInitializer("no ApiKey")
///     }
///     CrashReporter.start(key: key)
///   }
/// }
/// ```
///
/// A struct, a class, an actor or a main-actor class can be one. Its methods run where the type says: a main-actor
/// class's on the main actor, an actor's on it, all others on the concurrent executor. A method may be written without
/// `async`, which lets it be done before ``LaunchSequence/launchImmediately()`` returns.
public protocol Initializable: LaunchStepConvertible {
  /// Sets the thing up.
  ///
  /// Called once at launch and once more for each retry; at the foreground too where
  /// ``shouldPerformWhenApplicationEntersForeground()`` says so. When the launch is aborted or the step takes longer
  /// than its timeout, its task is cancelled: throw soon, or be abandoned.
  ///
  /// - Parameter configuration: The configuration that the sequence was made with.
  /// - Throws: ``SkipInitializer`` where there is nothing to set up. Any other error is a failure, and the step's
  ///   ``FailurePolicy`` says what becomes of it.
  func perform(with configuration: any Configurable) async throws

  /// Whether to set the thing up again when the app comes back from the background.
  ///
  /// Asked at each return. No, by default.
  func shouldPerformWhenApplicationEntersForeground() async -> Bool

  /// Returns how the thing is doing: what a health check asks.
  ///
  /// Called by ``LaunchSequence/health(within:)`` after the step completed, from any thread, several times at once.
  /// Healthy by default.
  func health() async -> StepHealth

  /// Gives up what ``perform(with:)`` set up.
  ///
  /// Called after it completed: at `LaunchSequence.shutDown(within:)`, or when a later step aborts the launch. Does nothing
  /// by default.
  func shutDown() async
}

extension Initializable {
  /// The initializer as a step that declares nothing.
  public var launchStep: LaunchStep { LaunchStep(self) }

  /// False: once is enough.
  public func shouldPerformWhenApplicationEntersForeground() async -> Bool { false }

  /// Healthy.
  public func health() async -> StepHealth { .healthy }

  /// Does nothing.
  public func shutDown() async {}
}
