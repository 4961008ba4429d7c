/// An initializer of a service that runs as long as the program: a server, a queue consumer, a scheduler.
///
/// ```swift
/// struct Consumer: RunningInitializer {
///   func run(_ configuration: any Configurable) async throws {
///     for await message in queue.messages { handle(message) }
///   }
/// }
///
/// Consumer().id("consumer").requires("database").onExit(.restart(max: 3, within: .seconds(60)))
/// ```
///
/// When ``Initializable/perform(with:)`` has completed, ``run(_:)`` begins in a task of its own. The step has completed
/// when ``run(_:)`` has begun; that of a ``ReadyInitializer``, when the service says that it is ready.
///
/// When the step is shut down, ``stop()`` is called. The service has the step's `.stopTimeout` to end; then its task is
/// cancelled. After ``run(_:)`` has returned, ``Initializable/shutDown()`` is called.
public protocol RunningInitializer: Initializable {
  /// Runs the service until ``stop()`` is called or its task is cancelled.
  ///
  /// - Parameter configuration: The configuration that the sequence was created with.
  /// - Throws: Any error. A service that throws, or that returns unasked, has failed: the step's ``ExitPolicy`` decides
  ///   what follows. An error of a service that is being stopped is in the report of the shut-down.
  func run(_ configuration: any Configurable) async throws

  /// Asks the service to end, and may return before it has: a server accepts no further requests and answers those under
  /// way.
  ///
  /// By default, does nothing but cancel the service's task at once.
  func stop() async
}

extension RunningInitializer {
  /// Sets nothing up.
  public func perform(with configuration: any Configurable) async throws {}

  /// Cancels the service's task.
  public func stop() async { StepContext.cancelService() }
}

/// An initializer of a service that says when it is ready.
///
/// ```swift
/// struct HTTPServer: ReadyInitializer {
///   func run(_ service: RunningService) async throws {
///     let server = try await Server.bind(port: 8080)
///     service.ready()
///     try await server.serve()
///   }
/// }
/// ```
///
/// Steps that wait for this one wait until the service is ready, and so does ``LaunchSequence/launch()``. The step's
/// `.timeout` limits that wait, too.
public protocol ReadyInitializer: RunningInitializer {
  /// Runs the service, and calls ``RunningService/ready()`` when it serves.
  ///
  /// - Parameter service: The configuration, and whom to tell.
  /// - Throws: What ``RunningInitializer/run(_:)`` throws.
  func run(_ service: RunningService) async throws
}

extension ReadyInitializer {
  /// Runs the service for a caller that doesn't wait until it is ready.
  public func run(_ configuration: any Configurable) async throws {
    try await run(RunningService(configuration: configuration) {})
  }
}

/// A running service, as a ``ReadyInitializer`` gets it.
public struct RunningService: Sendable {
  /// The configuration that the sequence was created with.
  public let configuration: any Configurable
  private let whenReady: @Sendable () -> Void

  /// Creates the service for a test, which learns when it is ready.
  public init(configuration: any Configurable, whenReady: @escaping @Sendable () -> Void) {
    self.configuration = configuration
    self.whenReady = whenReady
  }

  /// Says that the service serves, so the steps that wait for it begin.
  ///
  /// Does nothing after the first call in a run. Safe to call from any thread.
  public func ready() { whenReady() }
}

// MARK: Exits

/// A policy for what a sequence does when a service ends by itself.
public struct ExitPolicy: Sendable, Hashable {
  /// What follows an exit.
  enum Decision: Equatable {
    case restart(after: Duration)
    case shutDown
    case goOn
  }

  private struct Restart: Sendable, Hashable {
    let max: Int
    let window: Duration
    let backoff: Backoff
  }

  private var restart: Restart?
  private var survivesReturn = false
  private var survivesError = false

  /// Shuts the sequence down, with an error of code `.serviceFailed`, whether the service threw or returned.
  ///
  /// A step that declares no policy has this one.
  public static let shutDown = ExitPolicy()

  /// Goes on if the service returns, as a task does that is to end; an error shuts the sequence down.
  public static let finish = ExitPolicy(survivesReturn: true)

  /// Goes on without the service, also after an error, which is reported.
  public static let ignore = ExitPolicy(survivesReturn: true, survivesError: true)

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
    ExitPolicy(restart: Restart(max: max, window: window, backoff: backoff))
  }

  /// The message about an impossible restart; nil if the policy is valid.
  var mistake: String? {
    guard let restart else { return nil }
    if restart.max < 1 { return "A service can't be restarted \(restart.max) times. Use at least 1, or .shutDown." }
    if restart.window <= .zero { return "Restarts can't be counted within \(restart.window). Use more than zero." }
    return restart.backoff.mistake
  }

  /// Returns what follows an exit, and counts a restart.
  func decide(threw: Bool, at time: Duration, _ restarts: inout [Duration], random: () -> Double) -> Decision {
    guard let restart else { return (threw ? survivesError : survivesReturn) ? .goOn : .shutDown }
    restarts.removeAll { time - $0 > restart.window }
    if restarts.count == restart.max { return .shutDown }
    restarts.append(time)
    return .restart(after: restart.backoff.pause(after: restarts.count, random: random))
  }
}
