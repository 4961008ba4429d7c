/// How far a step has come in a run.
struct StepRecord {
  enum Phase {
    /// It waits for others, or for its turn.
    case waiting
    /// An attempt is under way.
    case running
    /// An attempt failed, and the next is due later.
    case pausing
    /// It has come to an end, whatever it was.
    case done
  }

  var phase = Phase.waiting
  var attempt = 0
  /// The attempt under way.
  var task: Task<Void, Never>?
  /// Ends the attempt at its timeout, or begins the next one.
  var timer: Task<Void, Never>?
  var hasTimedOut = false
  var wasAbandoned = false
  /// Whether it had nothing to do, and needs no mention.
  var isUnmentioned = false

  var queued = Duration.zero
  var start = Duration.zero
  var end = Duration.zero
  var outcome = LaunchReport.Outcome.notRun
  var message: String?
  var failure: (any Error)?

  mutating func finish(_ outcome: LaunchReport.Outcome, at time: Duration, _ message: String? = nil) {
    phase = .done
    self.outcome = outcome
    self.message = message
    end = time
    task = nil
    timer = nil
  }

  /// What has to be cancelled when nobody waits for the step any more.
  mutating func takeTasks() -> [Task<Void, Never>] {
    defer { (task, timer) = (nil, nil) }
    return [task, timer].compactMap(\.self)
  }
}
