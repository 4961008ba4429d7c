/// How far a step has come in a run.
struct StepState: Sendable {
  enum Phase: Sendable {
    /// It waits for other steps, or for its turn.
    case waiting
    /// An attempt is under way.
    case running
    /// An attempt failed, and the next one begins later.
    case pausing
    /// It has ended, in whatever way.
    case done
  }

  var phase = Phase.waiting
  /// The number of the latest attempt; 0 before the first.
  private(set) var attempt = 0
  /// When the attempt's turn came, whether or not there was a thread for it.
  private(set) var attemptStart = Duration.zero
  /// Whether the attempt has had a thread.
  var hasBegun = false
  var hasTimedOut = false
  var wasAbandoned = false
  /// Whether it had nothing to do, and needs no mention.
  var isUnmentioned = false
  /// Whether it ended before this run, and takes no part in it.
  var isSettledBefore = false

  var queued = Duration.zero
  /// The step whose end made room for this one.
  private(set) var tookPlaceOf: Int?
  var start = Duration.zero
  private(set) var end = Duration.zero
  var outcome = LaunchReport.Outcome.notRun
  private(set) var message: String?

  /// Whether an attempt failed, and the next one waits for its turn.
  var isBetweenAttempts: Bool { phase == .waiting && attempt > 0 }

  mutating func begin(at time: Duration, tookPlaceOf former: Int?) {
    phase = .running
    attempt += 1
    attemptStart = time
    (hasBegun, hasTimedOut) = (false, false)
    if attempt == 1 { (start, tookPlaceOf) = (time, former) }
  }

  mutating func pause(since time: Duration, _ message: String) {
    phase = .pausing
    self.message = message
    end = time
  }

  mutating func note(_ message: String) { self.message = message }

  mutating func finish(_ outcome: LaunchReport.Outcome, at time: Duration, _ message: String? = nil) {
    phase = .done
    self.outcome = outcome
    self.message = message
    end = time
  }
}
