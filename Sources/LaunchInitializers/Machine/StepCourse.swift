/// The course of one node in one pass: its turn, its attempts, and its end.
struct StepCourse: Sendable {
  enum Stage: Sendable {
    /// The node waits for other nodes, for room, or for its retry's turn.
    case waiting
    /// An attempt is under way, or is being rolled back, or the step is being shut down.
    case atWork
    /// An attempt failed, and the next attempt begins after a pause.
    case pausing
    /// The step's own code has completed, and its service isn't ready yet.
    case starting
    /// The step's shutdown waits until its service has ended and what its attempts left is cleaned up.
    case stopping
    case ended(End)
  }

  enum End: Sendable, Equatable {
    case outcome(LaunchReport.Outcome)
    /// The node took no part in the pass, because it is a point or had nothing to do; reports leave it out.
    case uninvolved
  }

  /// The failure of the latest attempt.
  struct Failure: Sendable {
    let code: LaunchError.Code
    /// Whether the failure policy's condition permits a retry after the failure.
    let isRetryable: Bool
  }

  private(set) var stage = Stage.waiting
  private(set) var failure: Failure?
  /// The number of times that the step's turn for an attempt came, and the number of attempts whose code has begun.
  private(set) var (tries, attempts) = (0, 0)
  private(set) var (queued, start, end) = (Duration.zero, Duration.zero, Duration.zero)
  /// The latest time at which the step made progress, or was named in an event about a long wait.
  private(set) var lastSign = Duration.zero
  /// The step whose failure or skip caused this node to be skipped; nil if no step caused it.
  private(set) var culprit: Int?
  private(set) var wasAbandoned = false
  /// The events of the step, for the messages.
  var facts: [StepFact] = []
  /// The errors of the step, its service and its rollback, in order.
  private(set) var errors = ErrorList()

  // MARK: Its stage

  var isWaiting: Bool { if case .waiting = stage { true } else { false } }
  var isPausing: Bool { if case .pausing = stage { true } else { false } }
  var isAtWork: Bool { if case .atWork = stage { true } else { false } }
  var isStarting: Bool { if case .starting = stage { true } else { false } }
  var isStopping: Bool { if case .stopping = stage { true } else { false } }
  var hasEnded: Bool { if case .ended = stage { true } else { false } }
  var isUninvolved: Bool { if case .ended(.uninvolved) = stage { true } else { false } }
  /// Whether the pass waits for the step, which has had its turn.
  var isUnderWay: Bool {
    switch stage {
    case .atWork, .pausing, .starting, .stopping: true
    case .waiting, .ended: false
    }
  }
  /// Whether the step waits for another turn, after an attempt or after the end of its service.
  var waitsAgain: Bool { isPausing || isWaiting && tries > 0 }
  var outcome: LaunchReport.Outcome { if case .ended(.outcome(let outcome)) = stage { outcome } else { .notRun } }

  // MARK: What happens to it

  /// Records that every node that this node waited for has ended.
  mutating func queue(at time: Duration) { queued = time }

  mutating func blame(_ other: Int) { culprit = other }

  /// Records that the step's turn for an attempt has come; the attempt's code may begin later, or never.
  mutating func takeTurn(at time: Duration) {
    tries += 1
    lastSign = time
    if attempts == 0 { start = time }
    stage = .atWork
  }

  /// Takes the step's turn back, because the attempt was canceled before its code began.
  ///
  /// - Returns: The end of the step.
  mutating func loseTurn() -> LaunchReport.Outcome {
    tries -= 1
    return tries == 0 ? .notRun : .failed
  }

  /// Records that the code of an attempt begins, and returns the number of the attempt.
  mutating func codeBegan(at time: Duration) -> Int {
    attempts += 1
    lastSign = time
    if attempts == 1 { start = time }
    return attempts
  }

  mutating func noteSign(at time: Duration) { lastSign = time }
  mutating func note(_ error: any Error) { errors.append(error) }
  mutating func noteAbandonment() { wasAbandoned = true }

  mutating func fail(_ failure: Failure, _ facts: [StepFact]) { (self.failure, self.facts) = (failure, facts) }

  mutating func pause(at time: Duration) { (stage, lastSign) = (.pausing, time) }
  mutating func waitAgain() { stage = .waiting }
  /// Records that the step's own code has completed, so that its service runs.
  mutating func startService() { stage = .starting }
  /// Records that the step's shutdown waits for its service to end.
  mutating func stopService() { stage = .stopping }
  /// Records that the step is shut down itself, after its service has ended.
  mutating func work() { stage = .atWork }

  mutating func end(_ how: End, _ facts: [StepFact], at time: Duration) {
    (stage, self.facts, end) = (.ended(how), facts, time)
    if attempts == 0 { start = time }
  }
}

/// The things that the attempts of a step have set up, for the whole life of a sequence.
struct StepSetup: Sendable {
  enum State: Sendable {
    /// No attempt of the launch has completed.
    case down
    /// The step's code has completed, so that the step has to be shut down.
    case up
    /// The step's service ignored its cancellation and may still run, so the step isn't shut down.
    case inUse
  }

  private(set) var state = State.down
  /// The products of the attempt that completed.
  private(set) var products: [any StepProduct] = []
  /// The number of jobs that clean up after attempts while the step goes on; nil if there has been none.
  private var asideJobs: Int?

  var isUp: Bool {
    switch state {
    case .down: false
    case .up, .inUse: true
    }
  }
  var isInUse: Bool { if case .inUse = state { true } else { false } }
  /// Whether the report of the shutdown lists the step.
  var isOfShutDown: Bool { isUp || asideJobs != nil }
  var isBeingCleaned: Bool { asideJobs ?? 0 > 0 }

  /// Records that an attempt has completed, and returns the products that the attempt's own replace.
  mutating func complete(with new: [any StepProduct]) -> [any StepProduct] {
    if case .down = state { state = .up }
    return replaceProducts(with: new)
  }

  mutating func replaceProducts(with new: [any StepProduct]) -> [any StepProduct] {
    defer { products = new }
    return products
  }

  mutating func serviceStaysInUse() { state = .inUse }
  mutating func asideJobBegan() { asideJobs = (asideJobs ?? 0) + 1 }
  mutating func asideJobEnded() { asideJobs = (asideJobs ?? 1) - 1 }
}
