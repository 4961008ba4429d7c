/// The state of a step in a run.
struct StepState: Sendable {
  enum Phase: Sendable {
    /// The step waits for other steps, or for its turn.
    case waiting
    /// An attempt is under way.
    case running
    /// An attempt failed, and the next one begins after a pause.
    case pausing
    /// The step has ended.
    case done
  }

  var phase = Phase.waiting
  /// The number of the latest attempt; 0 before the first.
  private(set) var attempt = 0
  /// When the attempt's turn came, even if no thread was free for it.
  private(set) var attemptStart = Duration.zero
  /// Whether the attempt has had a thread.
  var hasBegun = false
  var hasTimedOut = false
  var wasAbandoned = false
  /// Whether the step had nothing to do, and isn't reported.
  var isUnmentioned = false
  /// Whether the step ended before this run, and takes no part in it.
  var isSettledBefore = false
  /// Whether the step's service can be resolved, which performs the step.
  var isOffered = false

  var queued = Duration.zero
  /// The step whose end freed the slot for this one.
  private(set) var tookSlotOf: Int?
  var start = Duration.zero
  private(set) var end = Duration.zero
  var outcome = LaunchReport.Outcome.notRun
  private(set) var message: String?

  /// Whether an attempt failed, and the next one waits for its turn.
  ///
  /// The pause between them is over.
  var isBetweenAttempts: Bool { phase == .waiting && attempt > 0 }

  mutating func begin(at time: Duration, tookSlotOf former: Int?) {
    phase = .running
    attempt += 1
    attemptStart = time
    (hasBegun, hasTimedOut) = (false, false)
    if attempt == 1 { (start, tookSlotOf) = (time, former) }
  }

  mutating func pause(since time: Duration, _ message: String) {
    phase = .pausing
    self.message = message
    end = time
  }

  mutating func note(_ message: String) { self.message = message }

  /// Takes over what a run of its own did to the step.
  mutating func adopt(_ other: StepState, at offset: Duration) {
    (attempt, outcome, message, wasAbandoned) = (other.attempt, other.outcome, other.message, other.wasAbandoned)
    (start, end) = (other.start + offset, other.end + offset)
  }

  mutating func finish(_ outcome: LaunchReport.Outcome, at time: Duration, _ message: String? = nil) {
    phase = .done
    self.outcome = outcome
    self.message = message
    end = time
  }
}

/// The slots for steps that run at once, and the steps whose ends freed them.
struct ConcurrencyLimit: Sendable {
  private let limit: Int
  private var unused: Int
  /// The steps whose ends freed slots that no step has taken yet, from `first` on, and when.
  private var freed: [(step: Int, time: Duration)] = []
  private var first = 0
  /// The number of running steps, which may exceed the limit.
  private(set) var taken = 0

  init(_ limit: Int) {
    self.limit = limit
    unused = limit
  }

  var isReached: Bool { taken >= limit }

  /// Takes a slot for a step.
  ///
  /// - Parameter time: The time since which the step could have run.
  /// - Returns: The step whose end it had to wait for; nil if a slot was free at that time, or none was needed.
  mutating func take(since time: Duration) -> Int? {
    taken += 1
    if unused > 0 {
      unused -= 1
      return nil
    }
    guard first < freed.count else { return nil }
    let slot = freed[first]
    first += 1
    if first == freed.count {
      freed.removeAll(keepingCapacity: true)
      first = 0
    }
    return slot.time > time ? slot.step : nil
  }

  mutating func leave(_ step: Int, at time: Duration) {
    taken -= 1
    if !isReached { freed.append((step, time)) }
  }
}
