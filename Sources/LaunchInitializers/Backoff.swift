/// The pauses between the attempts of a launch step, or between the runs of a service.
public struct Backoff: Sendable, Hashable {
  private let first: Duration
  private let cap: Duration
  private var jitter = 0.0

  /// Returns pauses that all have the same length.
  public static func constant(_ pause: Duration) -> Backoff { Backoff(first: pause, cap: pause) }

  /// Returns pauses that double each time, up to a limit.
  ///
  /// Each pause is shortened by a random fraction, at most `jitter` (0 to 1), so that many clients don't retry at the
  /// same moment.
  public static func exponential(from first: Duration, to cap: Duration, jitter: Double = 0) -> Backoff {
    Backoff(first: first, cap: cap, jitter: jitter)
  }

  /// Returns the pause after a step's attempt with the given number, counted from 1.
  ///
  /// For a service, `attempt` is the number of the restart that follows the pause. The pause is shortened by the
  /// fraction `jitter * random`, where `random` is from 0 to 1.
  func pause(after attempt: Int, random: Double = .random(in: 0...1)) -> Duration {
    var (pause, doublings) = (first, attempt - 1)
    while doublings > 0, pause > .zero, pause < cap {
      pause = pause > cap / 2 ? cap : pause * 2
      doublings -= 1
    }
    return jitter > 0 ? pause * (1 - jitter * random) : pause
  }

  /// The message about an invalid pause, limit or jitter; nil if all of them are valid.
  var mistake: String? {
    if first < .zero { return "A step can't be retried after \(first). Use a pause of zero or more." }
    if cap < first { return "Pauses can't grow from \(first) to \(cap). Use a limit that is at least the first pause." }
    if !(0...1).contains(jitter) { return "A pause can't be shortened by \(jitter) of it. Use a jitter from 0 to 1." }
    return nil
  }
}
