/// A policy for what a launch does when a step fails.
public struct FailurePolicy: Sendable {
  struct Retry: Sendable {
    let count: Int
    let backoff: Backoff
    /// Whether to retry after an error; nil for every error.
    let condition: (@Sendable (any Error) -> Bool)?
  }

  var retry: Retry?
  /// Whether the launch goes on after the last attempt; nil if the policy leaves that to another one.
  var skips: Bool?

  /// The policy of a step that declares none: it aborts, unless the group around the step declares another policy.
  static let undeclared = FailurePolicy()

  /// Ends the launch: running steps are cancelled, completed steps are shut down, and ``LaunchSequence/launch()`` throws.
  public static let abort = FailurePolicy(skips: false)

  /// Reports the step as failed, and goes on with the steps that wait for it; those that require it are skipped.
  public static let skip = FailurePolicy(skips: true)

  /// Retries the step, up to `count` times, with the same pause before each retry; then the launch aborts.
  public static func retry(_ count: Int, after pause: Duration) -> FailurePolicy {
    .retry(.constant(pause), times: count)
  }

  /// Retries the step, with pauses that may grow, during which other steps may run.
  ///
  /// - Parameters:
  ///   - backoff: The pauses.
  ///   - times: The number of retries, at least 1.
  ///   - condition: Returns whether to retry after an error, such as the one of a step that is cancelled at its timeout.
  ///   - last: What the launch does when no retry is left: `.abort`, which is the default, or `.skip`.
  public static func retry(
    _ backoff: Backoff, times: Int, if condition: (@Sendable (any Error) -> Bool)? = nil,
    then last: FailurePolicy? = nil
  ) -> FailurePolicy {
    FailurePolicy(retry: Retry(count: times, backoff: backoff, condition: condition), skips: last?.skips)
  }

  /// The policy with what another one declares instead.
  func adding(_ other: FailurePolicy) -> FailurePolicy {
    FailurePolicy(retry: other.retry ?? retry, skips: other.skips ?? skips)
  }

  /// The message about an impossible retry; nil if the policy is valid.
  var mistake: String? {
    guard let retry else { return nil }
    if retry.count < 1 { return "A step can't be retried \(retry.count) times. Retry it at least once, or use .abort." }
    return retry.backoff.mistake
  }
}

/// The pauses between the attempts of a step, or the runs of a service.
public struct Backoff: Sendable, Hashable {
  private let first: Duration
  private let cap: Duration
  private var jitter = 0.0

  /// Returns pauses that are all the same.
  public static func constant(_ pause: Duration) -> Backoff { Backoff(first: pause, cap: pause) }

  /// Returns pauses that double each time, up to a limit.
  ///
  /// Each is shortened by a random part of it, at most `jitter` (from 0 to 1), so that many clients don't retry at once.
  public static func exponential(from first: Duration, to cap: Duration, jitter: Double = 0) -> Backoff {
    Backoff(first: first, cap: cap, jitter: jitter)
  }

  /// Returns the pause after a failed attempt, the first of which is 1; `random` is from 0 to 1.
  func pause(after attempt: Int, random: Double = .random(in: 0...1)) -> Duration {
    var (pause, doublings) = (first, attempt - 1)
    while doublings > 0, pause > .zero, pause < cap {
      pause = pause > cap / 2 ? cap : pause * 2
      doublings -= 1
    }
    return jitter > 0 ? pause * (1 - jitter * random) : pause
  }

  /// The message about an impossible pause; nil if the pauses are valid.
  var mistake: String? {
    if first < .zero { return "A step can't be retried after \(first). Use a pause of zero or more." }
    if cap < first { return "Pauses can't grow from \(first) to \(cap). Use a limit that is at least the first pause." }
    if !(0...1).contains(jitter) { return "A pause can't be shortened by \(jitter) of it. Use a jitter from 0 to 1." }
    return nil
  }
}
