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
  var context: StepContext?
  /// Ends the attempt at its timeout, or begins the next one.
  var timer: (any Cancellable)?
  /// When the attempt's turn came, whether or not there was a thread for it.
  var attemptStart = Duration.zero
  /// Whether the attempt has had a thread.
  var hasBegun = false
  var hasTimedOut = false
  var wasAbandoned = false
  /// Whether it had nothing to do, and needs no mention.
  var isUnmentioned = false

  var queued = Duration.zero
  /// The step whose end made room for this one.
  var tookPlaceOf: Int?
  var start = Duration.zero
  var end = Duration.zero
  var outcome = LaunchReport.Outcome.notRun
  var message: String?

  mutating func finish(_ outcome: LaunchReport.Outcome, at time: Duration, _ message: String? = nil) {
    phase = .done
    self.outcome = outcome
    self.message = message
    end = time
    (task, context, timer) = (nil, nil, nil)
  }

  /// What has to be cancelled when the step is not wanted any more.
  var tasks: [any Cancellable] { [task as (any Cancellable)?, timer].compactMap(\.self) }
}
