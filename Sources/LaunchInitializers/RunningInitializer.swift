/// An initializer of a service that runs as long as the program: a server, a queue consumer, a scheduler.
///
/// ```swift
/// struct HTTPServer: RunningInitializer {
///   func run(_ configuration: any Configurable) async throws {
///     try await server.serve()      // returns or throws when its task is cancelled
///   }
/// }
///
/// HTTPServer().id("http").requires("database").onExit(.restart(max: 3, within: .seconds(60)))
/// ```
///
/// When ``Initializable/perform(with:)`` has completed, ``run(_:)`` begins in a task of its own, before the steps that wait
/// for this one. When the step is shut down, the task is cancelled, and ``Initializable/shutDown()`` is called after
/// ``run(_:)`` has returned.
public protocol RunningInitializer: Initializable {
  /// Runs the service until its task is cancelled.
  ///
  /// - Parameter configuration: The configuration that the sequence was created with.
  /// - Throws: Any error. It ends the run like a return, and the step's ``ExitPolicy`` decides what follows.
  func run(_ configuration: any Configurable) async throws
}

extension RunningInitializer {
  /// Sets nothing up.
  public func perform(with configuration: any Configurable) async throws {}
}

/// A policy for what a sequence does when a service ends by itself.
public struct ExitPolicy: Sendable, Hashable {
  /// The limit on restarts, and the pauses before them.
  struct Restart: Sendable, Hashable {
    let max: Int
    let window: Duration
    let backoff: Backoff
  }

  let restart: Restart?
  let shutsDown: Bool

  /// Shuts the sequence down.
  ///
  /// If the service threw an error, ``LaunchSequence/run(on:secondSignal:shutDownWithin:)`` throws it in a
  /// ``LaunchError``; during the launch, the launch fails with it.
  ///
  /// A step that declares no policy has this one.
  public static let shutDown = ExitPolicy(restart: nil, shutsDown: true)

  /// Goes on without the service, whose health is then ``StepHealth/unhealthy(_:)``.
  public static let ignore = ExitPolicy(restart: nil, shutsDown: false)

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
    ExitPolicy(restart: Restart(max: max, window: window, backoff: backoff), shutsDown: true)
  }

  /// The message about an impossible restart; nil if the policy is valid.
  var mistake: String? {
    guard let restart else { return nil }
    if restart.max < 1 { return "A service can't be restarted \(restart.max) times. Use at least 1, or .shutDown." }
    if restart.window <= .zero { return "Restarts can't be counted within \(restart.window). Use more than zero." }
    return restart.backoff.mistake
  }
}

/// The restarts of a service that are left: it decides what follows an exit, and does nothing itself.
struct RestartBudget {
  enum Decision: Equatable {
    case restart(after: Duration)
    case shutDown
    case goOn
  }

  private let policy: ExitPolicy
  private var restarts: [Duration] = []

  init(_ policy: ExitPolicy) { self.policy = policy }

  /// Returns what follows the exit of the service, and counts a restart.
  mutating func exited(at time: Duration, random: () -> Double) -> Decision {
    guard let restart = policy.restart else { return policy.shutsDown ? .shutDown : .goOn }
    restarts.removeAll { time - $0 > restart.window }
    if restarts.count == restart.max { return .shutDown }
    restarts.append(time)
    return .restart(after: restart.backoff.pause(after: restarts.count, random: random))
  }
}
