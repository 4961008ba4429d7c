internal import SpellRegistry

/// An initializer of something that runs for as long as the program: a server, a consumer of a queue, a scheduler.
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
/// At launch, ``run(_:)`` begins in a task of its own when ``Initializable/perform(with:)`` has completed, before the
/// steps that wait for this one. When the step is shut down, the task is cancelled; when ``run(_:)`` has returned,
/// ``Initializable/shutDown()`` is called.
public protocol RunningInitializer: Initializable {
  /// Runs the service until its task is cancelled.
  ///
  /// - Parameter configuration: The configuration that the sequence was created with.
  /// - Throws: Any error, which ends this run as a return does. The step's ``ExitPolicy`` says what follows.
  func run(_ configuration: any Configurable) async throws
}

extension RunningInitializer {
  /// Sets nothing up.
  public func perform(with configuration: any Configurable) async throws {}
}

/// What a sequence does when a service ends by itself.
public struct ExitPolicy: Sendable, Hashable {
  /// The times at which a service may be restarted.
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
  /// The policy of a step that doesn't declare one.
  public static let shutDown = ExitPolicy(restart: nil, shutsDown: true)

  /// Goes on without the service, whose health is then ``StepHealth/unhealthy(_:)``.
  public static let ignore = ExitPolicy(restart: nil, shutsDown: false)

  /// Restarts the service after a pause; if it ends too often, the sequence is shut down.
  ///
  /// - Parameters:
  ///   - max: The number of restarts within `window`.
  ///   - window: The time in which restarts are counted. A service that runs for longer has all of them again.
  ///   - backoff: The pauses before the restarts of one window.
  public static func restart(
    max: Int, within window: Duration,
    backoff: Backoff = .exponential(from: .milliseconds(100), to: .seconds(10), jitter: 0.2)
  ) -> ExitPolicy {
    ExitPolicy(restart: Restart(max: max, window: window, backoff: backoff), shutsDown: true)
  }

  /// A sentence about a restart that is impossible; nil if there is none.
  var mistake: String? {
    guard let restart else { return nil }
    if restart.max < 1 { return "A service can't be restarted \(restart.max) times. Use at least 1, or .shutDown." }
    if restart.window <= .zero { return "Restarts can't be counted within \(restart.window). Use more than zero." }
    return restart.backoff.mistake
  }
}

extension LaunchStepConvertible {
  /// Sets what the sequence does when the step's service ends by itself.
  ///
  /// Without this modifier, it shuts down.
  ///
  /// - Parameters:
  ///   - policy: The policy.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Precondition: The initializer is a ``RunningInitializer``; a number of restarts is at least 1.
  public func onExit(_ policy: ExitPolicy, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let place = SourcePlace(fileID: fileID, line: line)
    if let mistake = policy.mistake { trap(mistake, at: place) }
    return launchStep.with(place) { step in
      if !step.isService {
        trap(".onExit is for a RunningInitializer, and \(step) isn't one. Remove it, or add run(_:).", at: place)
      }
      step.exitPolicy = policy
    }
  }
}

/// The restarts of a service: it decides, and does nothing itself.
struct RestartBudget {
  enum Decision: Equatable {
    case restart(after: Duration)
    case shutDown
    case goOn
  }

  private let policy: ExitPolicy
  private var restarts: [Duration] = []

  init(_ policy: ExitPolicy) { self.policy = policy }

  /// Decides what follows when the service has ended.
  mutating func exited(at time: Duration, random: () -> Double) -> Decision {
    guard let restart = policy.restart else { return policy.shutsDown ? .shutDown : .goOn }
    restarts.removeAll { time - $0 > restart.window }
    if restarts.count == restart.max { return .shutDown }
    restarts.append(time)
    return .restart(after: restart.backoff.pause(after: restarts.count, random: random))
  }
}
