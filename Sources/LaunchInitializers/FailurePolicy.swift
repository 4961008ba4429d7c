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
