/// An initializer of a service that runs as long as the program, such as a queue consumer.
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
/// When ``Initializable/perform(with:)`` has completed, ``run(_:)`` begins in a task of its own; the step has completed
/// when it has begun. When the step is shut down, ``stop()`` is called. The service has the step's `.stopTimeout` to end;
/// then its task is cancelled. After ``run(_:)`` has returned, ``Initializable/shutDown()`` is called.
public protocol RunningInitializer: Initializable {
  /// Runs the service until ``stop()`` is called or its task is cancelled.
  ///
  /// - Throws: Any error. A service that throws, or that returns unasked, has failed: the step's ``ExitPolicy`` decides
  ///   what follows. An error of a service that is being stopped is in the report of the shut-down.
  func run(_ configuration: any Configurable) async throws

  /// Asks the service to end, for example a server to answer the requests under way and accept no others.
  ///
  /// By default, cancels the service's task.
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
/// Steps that wait for this one, and ``LaunchSequence/launch()``, wait until the service is ready.
public protocol ReadyInitializer: RunningInitializer {
  /// Runs the service as ``RunningInitializer/run(_:)`` does, and calls ``RunningService/ready()`` when it serves.
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

  /// Creates what a test gives its service.
  public init(configuration: any Configurable, whenReady: @escaping @Sendable () -> Void) {
    self.configuration = configuration
    self.whenReady = whenReady
  }

  /// Says that the service serves.
  public func ready() { whenReady() }
}

/// A policy for what a sequence does when a service ends by itself.
public struct ExitPolicy: Sendable, Hashable {
  /// The reaction to an exit.
  enum Decision: Equatable {
    case shutDown, goOn
    case restart(after: Duration)
  }

  private var survivesReturn = false
  private var survivesError = false
  /// How often the service is restarted, in which time, and after which pauses; nil if it isn't.
  private var max: Int?
  private var window = Duration.zero
  private var backoff = Backoff.constant(.zero)

  /// Shuts the sequence down with an error of code `.serviceFailed`: the policy of a step that declares none.
  public static let shutDown = ExitPolicy()

  /// Goes on if the service returns, as a task does that is to end; an error shuts the sequence down.
  public static let finish = ExitPolicy(survivesReturn: true)

  /// Goes on without the service, also after an error, which is reported.
  public static let ignore = ExitPolicy(survivesReturn: true, survivesError: true)

  /// Restarts the service after a pause, at most `max` times within `window`; then the sequence is shut down.
  public static func restart(
    max: Int, within window: Duration,
    backoff: Backoff = .exponential(from: .milliseconds(100), to: .seconds(10), jitter: 0.2)
  ) -> ExitPolicy {
    ExitPolicy(max: max, window: window, backoff: backoff)
  }

  /// The message about an impossible restart; nil if the policy is valid.
  var mistake: String? {
    guard let max else { return nil }
    if max < 1 { return "A service can't be restarted \(max) times. Use at least 1, or .shutDown." }
    if window <= .zero { return "Restarts can't be counted within \(window). Use more than zero." }
    return backoff.mistake
  }

  /// Returns what follows an exit, and counts a restart.
  func decide(threw: Bool, at time: Duration, _ restarts: inout [Duration]) -> Decision {
    guard let max else { return (threw ? survivesError : survivesReturn) ? .goOn : .shutDown }
    restarts.removeAll { time - $0 > window }
    if restarts.count == max { return .shutDown }
    restarts.append(time)
    return .restart(after: backoff.pause(after: restarts.count))
  }
}
