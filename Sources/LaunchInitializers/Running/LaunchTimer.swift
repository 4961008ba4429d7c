internal import Support

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// A call to come: once, at some time, unless it is cancelled before.
///
/// It keeps itself until then, on every clock: nothing has to hold it, and nothing loses it by letting it go.
final class LaunchTimer: Sendable {
  private struct State {
    var body: (@Sendable () -> Void)?
    /// Ends the waiting.
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
  /// Starts a timer on a clock.
  ///
  /// A task waits, which needs a thread of the pool.
  static func start<Base: Clock>(
    at deadline: Base.Instant, on clock: Base, _ body: @escaping @Sendable () -> Void
  ) -> LaunchTimer {
    let timer = LaunchTimer(body)
    let task = Task {
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch {
        // A clock that doesn't wait is better taken for one whose time has come than for one whose time never comes.
      }
      timer.fire()
    }
    timer.wait { task.cancel() }
    return timer
  }

  #if canImport(Dispatch)
    /// Starts a timer on a thread that steps can't block.
    ///
    /// The time stands still while the machine sleeps.
    ///
    /// All timers wait on one queue. Each call has another one of its own, and so a thread: one that cancels a step
    /// runs the step's cancellation handlers, which may take long.
    static func start(after pause: Duration, _ body: @escaping @Sendable () -> Void) -> LaunchTimer {
      let timer = LaunchTimer(body)
      let source = DispatchSource.makeTimerSource(queue: queue)
      source.setEventHandler { DispatchQueue(label: "LaunchInitializers.timer").async { timer.fire() } }
      // Dispatch takes what is beyond its range for never.
      source.schedule(deadline: .now() + .nanoseconds(pause.nanoseconds), leeway: .milliseconds(1))
      let kept = Lock(source)
      timer.wait { kept.withLock { $0.cancel() } }
      kept.withLock { $0.resume() }
      return timer
    }

    private static let queue = DispatchQueue(label: "LaunchInitializers.timers")
  #endif
}
