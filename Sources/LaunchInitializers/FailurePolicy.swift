/// A policy for what a launch does when a step fails.
public struct FailurePolicy: Sendable {
  struct Retry: Sendable {
    let count: Int
    let backoff: Backoff
    /// Whether to retry after an error; nil for every error.
    let condition: (@Sendable (any Error) -> Bool)?
  }

  let retry: Retry?
  /// Whether the launch goes on after the last attempt; nil if the policy leaves that to another one.
  let skips: Bool?

  private init(retry: Retry? = nil, skips: Bool? = nil) {
    self.retry = retry
    self.skips = skips
  }

  /// The policy of a step that declares none: it aborts, unless the group around the step declares another policy.
  static let undeclared = FailurePolicy()

  /// Ends the launch: running steps are cancelled, completed steps are shut down, and ``LaunchSequence/launch()``
  /// throws.
  ///
  /// A step that declares no policy aborts too.
  public static let abort = FailurePolicy(skips: false)

  /// Reports the step as failed, and goes on with the steps that wait for it.
  ///
  /// Steps that require it are skipped.
  public static let skip = FailurePolicy(skips: true)

  /// Retries the step, up to `count` times, with the same pause before each retry; then the launch aborts.
  public static func retry(_ count: Int, after pause: Duration) -> FailurePolicy {
    .retry(.constant(pause), times: count)
  }

  /// Retries the step, with pauses that may grow.
  ///
  /// ```swift
  /// .onFailure(.retry(
  ///   .exponential(from: .milliseconds(100), to: .seconds(10), jitter: 0.2), times: 5,
  ///   if: { $0 is NetworkError }, then: .skip))
  /// ```
  ///
  /// Other steps may run during a pause. An attempt that ignores its cancellation and is abandoned isn't retried, because
  /// it may still be at work.
  ///
  /// - Parameters:
  ///   - backoff: The pauses.
  ///   - times: The number of retries, at least 1.
  ///   - condition: Returns whether to retry after an error; without it, the step is retried after every error. If the
  ///     step exceeded its timeout, the error is the one that it throws when it is cancelled.
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
  private let factor: Double
  private let jitter: Double

  /// Returns pauses that are all the same.
  public static func constant(_ pause: Duration) -> Backoff {
    Backoff(first: pause, cap: pause, factor: 1, jitter: 0)
  }

  /// Returns pauses that double each time, up to a limit.
  ///
  /// - Parameters:
  ///   - first: The first pause.
  ///   - cap: The longest pause.
  ///   - jitter: The largest part of a pause, from 0 to 1, by which the pause is shortened at random, so that many clients
  ///     don't retry at the same time.
  public static func exponential(from first: Duration, to cap: Duration, jitter: Double = 0) -> Backoff {
    Backoff(first: first, cap: cap, factor: 2, jitter: jitter)
  }

  /// Returns the pause after a failed attempt, the first of which is 1.
  ///
  /// `random` returns a number from 0 to 1; it is called only if there is jitter.
  func pause(after attempt: Int, random: () -> Double) -> Duration {
    var pause = first
    var doublings = attempt - 1
    while factor > 1, doublings > 0, pause > .zero, pause < cap {
      pause = pause > cap / 2 ? cap : pause * 2
      doublings -= 1
    }
    pause = min(pause, cap)
    return jitter > 0 ? pause * (1 - jitter * random()) : pause
  }

  /// The message about an impossible pause; nil if the pauses are valid.
  var mistake: String? {
    if first < .zero { return "A step can't be retried after \(first). Use a pause of zero or more." }
    if cap < first { return "Pauses can't grow from \(first) to \(cap). Use a limit that is at least the first pause." }
    if !(0...1).contains(jitter) { return "A pause can't be shortened by \(jitter) of it. Use a jitter from 0 to 1." }
    return nil
  }
}
