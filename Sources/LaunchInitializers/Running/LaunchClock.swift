/// The time since a run began, on the clock that the sequence was given.
struct LaunchClock: Sendable {
  private let elapsed: @Sendable () -> Duration
  private let startTimer: @Sendable (Duration, @escaping @Sendable () -> Void) -> LaunchTimer

  init(_ clock: any Clock<Duration>) { self.init(started: clock) }

  private init<Base: Clock>(started clock: Base) where Base.Duration == Duration {
    let start = clock.now
    let elapsed = { @Sendable in start.duration(to: clock.now) }
    self.elapsed = elapsed
    #if canImport(Dispatch)
      if clock is ContinuousClock || clock is SuspendingClock {
        startTimer = { LaunchTimer.start(after: max(.zero, $0 - elapsed()), $1) }
        return
      }
    #endif
    startTimer = { LaunchTimer.start(at: start.advanced(by: $0), on: clock, $1) }
  }

  var now: Duration { elapsed() }

  /// Calls `body` at that time, unless the timer is cancelled before: on a thread of its own if the clock is one of the
  /// system's, and else in a task.
  func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> LaunchTimer { startTimer(time, body) }
}
