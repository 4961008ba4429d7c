/// The time since a run began, on the clock that the sequence was given.
struct LaunchClock: Sendable {
  typealias Body = @Sendable () -> Void

  private let elapsed: @Sendable () -> Duration
  private let startTimer: @Sendable (Duration, @escaping Body) -> any Cancellable

  init(_ clock: any Clock<Duration>) { self.init(started: clock) }

  private init<Base: Clock>(started clock: Base) where Base.Duration == Duration {
    let start = clock.now
    let elapsed = { @Sendable in start.duration(to: clock.now) }
    self.elapsed = elapsed
    #if canImport(Dispatch)
      if clock is ContinuousClock || clock is SuspendingClock {
        startTimer = { LaunchTimer(after: max(.zero, $0 - elapsed()), $1) }
        return
      }
    #endif
    startTimer = { time, body in
      Task {
        do {
          try await clock.sleep(until: start.advanced(by: time), tolerance: nil)
        } catch {
          // A clock that won't wait is better taken as one whose time has come than as one that never comes.
          if Task.isCancelled { return }
        }
        body()
      }
    }
  }

  var now: Duration { elapsed() }

  /// Calls `body` at that time, unless it is cancelled before.
  ///
  /// On the system's clocks a thread of the timer's own does. A clock of someone else's can only be waited for in a
  /// task, which needs a thread of the pool.
  func timer(at time: Duration, _ body: @escaping Body) -> any Cancellable { startTimer(time, body) }
}
