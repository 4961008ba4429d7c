/// The supervisor of a step's service, after the step's own code has completed and until the service runs no more.
struct ServiceSupervisor: Sendable {
  private enum State {
    case running(isReady: Bool)
    /// The service has ended, and runs again after a pause.
    case pausing
    /// The service has been asked to end within a time.
    case stopping(Duration)
  }

  private var state = State.pausing
  /// The number of the latest run.
  private(set) var run = 0
  private var restarts: [Duration] = []
  /// Whether the latest run is another attempt of the step, and hasn't begun.
  private var isNewAttempt = false

  var isReady: Bool { if case .running(isReady: true) = state { true } else { false } }
  var isPausing: Bool { if case .pausing = state { true } else { false } }
  var isStopping: Bool { if case .stopping = state { true } else { false } }
  /// The time that the service had to end after it was asked to.
  var stopTime: Duration { if case .stopping(let time) = state { time } else { .zero } }

  /// Begins another run, and returns its number.
  mutating func begin(asAttempt: Bool) -> Int {
    run += 1
    (state, isNewAttempt) = (.running(isReady: false), asAttempt)
    return run
  }

  /// Records that the code of the run begins, and returns whether the run is another attempt of the step.
  mutating func codeBegan() -> Bool {
    defer { isNewAttempt = false }
    return isNewAttempt
  }

  /// Records that the service is ready, and returns false if it already was, or if it has been asked to end.
  mutating func becomeReady() -> Bool {
    guard case .running(isReady: false) = state else { return false }
    state = .running(isReady: true)
    return true
  }

  mutating func pause() { state = .pausing }
  mutating func stop(within time: Duration) { state = .stopping(time) }

  /// Returns the reaction to the end of a run that the sequence didn't ask for.
  mutating func decide(_ policy: ExitPolicy, threw: Bool, at time: Duration) -> ExitPolicy.Decision {
    policy.decide(threw: threw, at: time, &restarts)
  }
}
