/// The closing of a sequence: its cause, the time that it may take, and the problems that occurred.
struct Closing: Sendable {
  /// The reason for a shutdown.
  enum Cause: Sendable {
    /// A step or its service failed.
    case failed(Int, LaunchError.Code)
    case cancelled, asked, signal(Int32)
  }

  private enum State {
    case notBegun
    /// A signal arrived, and the shutdown begins after the drain.
    case draining(Cause)
    case underWay(Cause, wasLaunched: Bool, end: Duration)
    /// The time limit was reached, so no further step is shut down.
    case cutShort(Cause, wasLaunched: Bool, limit: Duration)
  }

  private var state = State.notBegun
  /// The pause between a signal and the shutdown, from the latest `run` call.
  private(set) var drain = Duration.zero
  /// The shortest time limit of all `run` and `shutDown` calls so far; nil without any such call.
  private var limit: Duration?
  /// The problems of the steps' shutdowns, of their services and of what their attempts left, by step.
  private(set) var problems: [Int: Problems] = [:]

  struct Problems: Sendable {
    var facts: [StepFact] = []
    var errors = ErrorList()
  }

  var cause: Cause? {
    switch state {
    case .notBegun: nil
    case .draining(let cause), .underWay(let cause, _, _), .cutShort(let cause, _, _): cause
    }
  }

  /// Whether the launch had succeeded before the shutdown began.
  var wasLaunched: Bool {
    switch state {
    case .notBegun, .draining: false
    case .underWay(_, let wasLaunched, _), .cutShort(_, let wasLaunched, _): wasLaunched
    }
  }

  /// The time limit that the shutdown has reached; nil if it hasn't reached any.
  var reachedLimit: Duration? { if case .cutShort(_, _, let limit) = state { limit } else { nil } }

  /// Returns the time that one step may take, at most `wanted`.
  ///
  /// If other steps wait for the step, the step leaves them a quarter of the time that is left, also if it ignores its
  /// cancellation for the grace period. Only if less than twice the grace period is left, it gets a quarter itself.
  func time(_ wanted: Duration, othersWait: Bool, grace: Duration, at now: Duration) -> Duration {
    guard othersWait, case .underWay(_, _, let end) = state else { return wanted }
    let left = max(.zero, end - now)
    let quarter = left / 4
    return min(wanted, max(left - quarter - grace, quarter))
  }

  mutating func setDrain(_ drain: Duration) { self.drain = drain }

  /// Shortens the time limit, or does nothing if the new limit isn't shorter.
  ///
  /// - Returns: Whether the new limit counts from now, because the shutdown has already begun.
  mutating func shortenLimit(to new: Duration, at now: Duration) -> Bool {
    if let limit, limit <= new { return false }
    limit = new
    guard case .underWay(let cause, let wasLaunched, _) = state else { return false }
    state = .underWay(cause, wasLaunched: wasLaunched, end: now + new)
    return true
  }

  mutating func beginDrain(_ cause: Cause) { state = .draining(cause) }

  /// Begins the shutdown, and returns its time limit.
  mutating func begin(_ cause: Cause, wasLaunched: Bool, at now: Duration) -> Duration {
    let limit = limit ?? .shutDownLimit
    self.limit = limit
    state = .underWay(cause, wasLaunched: wasLaunched, end: now + limit)
    return limit
  }

  /// Records that a time limit is reached, and returns false if the shutdown isn't under way or was already cut short.
  mutating func cutShort(after limit: Duration) -> Bool {
    guard case .underWay(let cause, let wasLaunched, _) = state else { return false }
    state = .cutShort(cause, wasLaunched: wasLaunched, limit: limit)
    return true
  }

  mutating func addProblem(_ fact: StepFact, of step: Int) { problems[step, default: Problems()].facts.append(fact) }
  mutating func note(_ error: any Error, of step: Int) { problems[step, default: Problems()].errors.append(error) }
}

extension Duration {
  /// The time limit of a shutdown for which the program sets none.
  ///
  /// With a drain of some seconds and the grace period, it is less than the 30 seconds after which Kubernetes kills a
  /// process by default.
  static let shutDownLimit = Duration.seconds(20)
}
