/// A policy for what a sequence does when a service ends by itself.
public struct ExitPolicy: Sendable, Hashable {
  /// The reaction of a sequence to a service that ended by itself.
  enum Decision: Equatable {
    case shutDown, goOn
    case restart(after: Duration)
  }

  private var survivesReturn = false
  /// Whether the sequence goes on after the service threw an error.
  private(set) var survivesError = false
  /// The maximum number of restarts within `window`; nil if the service isn't restarted.
  private var max: Int?
  private var window = Duration.zero
  /// The pauses before the restarts.
  private var backoff = Backoff.constant(.zero)

  /// Shuts the sequence down with an error of code `.serviceFailed`; the default policy.
  public static let shutDown = ExitPolicy()

  /// Goes on without the service if the service returns, but shuts the sequence down if the service throws an error.
  public static let finish = ExitPolicy(survivesReturn: true)

  /// Goes on without the service, even if the service throws an error; the log and the events show the error.
  public static let ignore = ExitPolicy(survivesReturn: true, survivesError: true)

  /// Restarts the service after a pause, at most `max` times within `window`.
  ///
  /// If the service ends by itself after `max` restarts within `window`, the policy shuts the sequence down.
  public static func restart(
    max: Int, within window: Duration,
    backoff: Backoff = .exponential(from: .milliseconds(100), to: .seconds(10), jitter: 0.2)
  ) -> ExitPolicy {
    ExitPolicy(max: max, window: window, backoff: backoff)
  }

  /// The message about an invalid maximum, window or pause of the restarts; nil if the policy is valid.
  var mistake: String? {
    guard let max else { return nil }
    if max < 1 { return "A service can't be restarted \(max) times. Use at least 1, or .shutDown." }
    if window <= .zero { return "Restarts can't be counted within \(window). Use more than zero." }
    return backoff.mistake
  }

  /// Returns the reaction to a service that ended by itself, and records the time of a restart in `restarts`.
  func decide(threw: Bool, at time: Duration, _ restarts: inout [Duration]) -> Decision {
    guard let max else { return (threw ? survivesError : survivesReturn) ? .goOn : .shutDown }
    restarts.removeAll { time - $0 > window }
    if restarts.count == max { return .shutDown }
    restarts.append(time)
    return .restart(after: backoff.pause(after: restarts.count))
  }
}
