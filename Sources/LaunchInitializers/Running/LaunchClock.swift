internal import Support

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// The time since a run began, on the sequence's clock.
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

  /// Calls `body` at a time, unless the timer is cancelled before: on a thread of its own if the clock is one of the
  /// system's, in a task if not.
  func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> LaunchTimer { startTimer(time, body) }
}

/// A call at a later time, unless it is cancelled before.
///
/// On every clock, the timer retains itself until then.
final class LaunchTimer: Sendable {
  private struct State {
    var body: (@Sendable () -> Void)?
    /// Ends the wait.
    var stopWaiting: (@Sendable () -> Void)?
  }

  private let state: Lock<State>

  private init(_ body: @escaping @Sendable () -> Void) { state = Lock(State(body: body)) }

  /// Cancels the call; does nothing if it has begun.
  func cancel() { take().stopWaiting?() }

  private func fire() {
    let former = take()
    former.stopWaiting?()
    former.body?()
  }

  private func take() -> State {
    state.withLock { state in
      let former = state
      state = State()
      return former
    }
  }

  private func wait(endingWith stopWaiting: @escaping @Sendable () -> Void) {
    let isWaiting = state.withLock { state in
      if state.body != nil { state.stopWaiting = stopWaiting }
      return state.body != nil
    }
    if !isWaiting { stopWaiting() }
  }
}

// MARK: Clocks

extension LaunchTimer {
  /// Starts a timer on a clock; a task waits, which needs a thread of the pool.
  static func start<Base: Clock>(
    at deadline: Base.Instant, on clock: Base, _ body: @escaping @Sendable () -> Void
  ) -> LaunchTimer {
    let timer = LaunchTimer(body)
    let task = Task {
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch {
        // If a clock can't wait, a timer that fires at once does less harm than one that never fires.
      }
      timer.fire()
    }
    timer.wait { task.cancel() }
    return timer
  }

  #if canImport(Dispatch)
    /// Starts a timer on a thread that steps can't block; its time stands still while the machine sleeps.
    ///
    /// All timers wait on one queue. Each call has a queue of its own, and so a thread: a call that cancels a step runs
    /// the step's cancellation handlers, which may take long.
    static func start(after pause: Duration, _ body: @escaping @Sendable () -> Void) -> LaunchTimer {
      let timer = LaunchTimer(body)
      let source = DispatchSource.makeTimerSource(queue: queue)
      source.setEventHandler { DispatchQueue(label: "LaunchInitializers.timer").async { timer.fire() } }
      source.schedule(deadline: deadline(after: pause), leeway: .milliseconds(1))
      let kept = Lock(source)
      timer.wait { kept.withLock { $0.cancel() } }
      kept.withLock { $0.resume() }
      return timer
    }

    /// The time on Dispatch's clock; one beyond its range never comes.
    ///
    /// Not by a `DispatchTimeInterval`, whose `Int` ends at 2.1 seconds if it has 32 bits.
    static func deadline(after pause: Duration) -> DispatchTime {
      let now = Int64(clamping: DispatchTime.now().uptimeNanoseconds)
      let (deadline, isTooMuch) = now.addingReportingOverflow(max(0, pause.nanoseconds))
      return isTooMuch ? .distantFuture : DispatchTime(uptimeNanoseconds: UInt64(deadline))
    }

    private static let queue = DispatchQueue(label: "LaunchInitializers.timers")
  #endif
}
