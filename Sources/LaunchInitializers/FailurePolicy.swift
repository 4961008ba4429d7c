/// What a launch does when a step fails.
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

  /// Ends the launch: running steps are cancelled, completed steps are shut down, and ``LaunchSequence/launch()``
  /// throws.
  ///
  /// The policy of a step that doesn't declare one.
  public static let abort = FailurePolicy(skips: false)

  /// Reports the step as failed, and goes on with the steps that wait for it.
  ///
  /// Steps that require it are skipped.
  public static let skip = FailurePolicy(skips: true)

  /// Retries the step, up to `count` times, with the same pause before each; then the launch aborts.
  ///
  /// - Parameters:
  ///   - count: The number of retries, at least 1.
  ///   - pause: The time between a failed attempt and the next one.
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
  /// Other steps may run during a pause. An attempt that ignores its cancellation and is abandoned is the last one,
  /// since it may still be at work.
  ///
  /// - Parameters:
  ///   - backoff: The pauses.
  ///   - times: The number of retries, at least 1.
  ///   - condition: Returns whether to retry after an error. Without it, every error is retried. A step that exceeds its
  ///     timeout gives the error that it throws when it is cancelled.
  ///   - last: What the launch does when no retry is left: `.abort`, which is the default, or `.skip`.
  public static func retry(
    _ backoff: Backoff, times: Int, if condition: (@Sendable (any Error) -> Bool)? = nil,
    then last: FailurePolicy? = nil
  ) -> FailurePolicy {
    FailurePolicy(retry: Retry(count: times, backoff: backoff, condition: condition), skips: last?.skips)
  }

  /// The policy with what another one declares in its place.
  func adding(_ other: FailurePolicy) -> FailurePolicy {
    FailurePolicy(retry: other.retry ?? retry, skips: other.skips ?? skips)
  }

  /// A sentence about a retry that is impossible; nil if there is none.
  var mistake: String? {
    guard let retry else { return nil }
    if retry.count < 1 { return "A step can't be retried \(retry.count) times. Retry it at least once, or use .abort." }
    return retry.backoff.mistake
  }
}

/// The pauses between attempts.
public struct Backoff: Sendable, Hashable {
  private let first: Duration
  private let cap: Duration
  private let factor: Double
  private let jitter: Double

  /// The same pause before each attempt.
  public static func constant(_ pause: Duration) -> Backoff {
    Backoff(first: pause, cap: pause, factor: 1, jitter: 0)
  }

  /// Pauses that double each time, up to a limit.
  ///
  /// - Parameters:
  ///   - first: The first pause.
  ///   - cap: The longest pause.
  ///   - jitter: The part of each pause, from 0 to 1, by which it is shortened at random at most, so that many clients
  ///     don't retry at once.
  public static func exponential(from first: Duration, to cap: Duration, jitter: Double = 0) -> Backoff {
    Backoff(first: first, cap: cap, factor: 2, jitter: jitter)
  }

  /// The pause after a failed attempt.
  ///
  /// - Parameters:
  ///   - attempt: The number of the attempt, from 1.
  ///   - random: A number from 0 to 1, asked only if there is jitter.
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

  /// A sentence about a pause that is impossible; nil if there is none.
  var mistake: String? {
    if first < .zero { return "A step can't be retried after \(first). Use a pause of zero or more." }
    if cap < first { return "Pauses can't grow from \(first) to \(cap). Use a limit that is at least the first pause." }
    if !(0...1).contains(jitter) { return "A pause can't be shortened by \(jitter) of it. Use a jitter from 0 to 1." }
    return nil
  }
}
