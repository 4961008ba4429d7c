/// A policy for what a launch does when a step fails.
public struct FailurePolicy: Sendable {
  struct Retry: Sendable {
    let count: Int
    let backoff: Backoff
    /// A closure that returns whether to retry after an error; nil to retry after every error.
    let condition: (@Sendable (any Error) -> Bool)?
  }

  var retry: Retry?
  /// Whether the launch goes on after the last attempt has failed; nil if this policy leaves it undecided.
  var skips: Bool?

  /// The policy of a step that declares no policy.
  ///
  /// The policy of a group around the step applies. If no such group has a policy, a failed step aborts the launch.
  static let undeclared = FailurePolicy()

  /// Aborts the launch: cancels running steps, shuts down completed steps, and makes ``LaunchSequence/launch()`` throw.
  public static let abort = FailurePolicy(skips: false)

  /// Reports the step as failed, skips the steps that require this step, and continues the launch.
  public static let skip = FailurePolicy(skips: true)

  /// Retries the step up to `count` times, with the same pause before each retry.
  ///
  /// If the last retry fails, the launch aborts, unless another `.onFailure` of the step or its group says `.skip`.
  public static func retry(_ count: Int, after pause: Duration) -> FailurePolicy {
    .retry(.constant(pause), times: count)
  }

  /// Retries the step after pauses that may grow.
  ///
  /// Other steps may run during the pauses.
  ///
  /// - Parameters:
  ///   - backoff: The pauses between the attempts.
  ///   - times: The number of retries, at least 1.
  ///   - condition: A closure that returns whether to retry after an error, such as a `CancellationError` at a timeout;
  ///     nil to retry after every error.
  ///   - last: The policy after the last retry: `.abort` or `.skip`. If the argument is nil, another policy of the step
  ///     or its group decides. Without another policy, the launch aborts.
  public static func retry(
    _ backoff: Backoff, times: Int, if condition: (@Sendable (any Error) -> Bool)? = nil,
    then last: FailurePolicy? = nil
  ) -> FailurePolicy {
    FailurePolicy(retry: Retry(count: times, backoff: backoff, condition: condition), skips: last?.skips)
  }

  /// Returns a combination of both policies, in which a setting that `other` declares takes precedence.
  func adding(_ other: FailurePolicy) -> FailurePolicy {
    FailurePolicy(retry: other.retry ?? retry, skips: other.skips ?? skips)
  }

  /// The message about an invalid number of retries or an invalid pause; nil if the policy is valid.
  var mistake: String? {
    guard let retry else { return nil }
    if retry.count < 1 { return "A step can't be retried \(retry.count) times. Retry it at least once, or use .abort." }
    return retry.backoff.mistake
  }
}
