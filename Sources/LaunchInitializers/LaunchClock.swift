internal import Support

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// A sequence's clock, which counts from the creation of the sequence, and sets timers.
struct LaunchClock: Sendable {
  /// A function that cancels a timer, unless the timer has fired.
  typealias Cancel = @Sendable () -> Void

  let now: @Sendable () -> Duration
  /// Sets a timer that calls `body` at the given time, and returns a function that cancels the timer.
  ///
  /// For a system clock on a platform with Dispatch, `body` runs on a thread that steps can't block. Otherwise, it runs
  /// in a task.
  let timer: @Sendable (_ time: Duration, _ body: @escaping @Sendable () -> Void) -> Cancel

  init<Base: Clock>(_ clock: Base) where Base.Duration == Duration {
    let start = clock.now
    let elapsed = { @Sendable in start.duration(to: clock.now) }
    now = elapsed
    if clock is ContinuousClock || clock is SuspendingClock {
      timer = { Self.timer(after: $0 - elapsed(), $1) }
    } else {
      timer = { Self.timer(at: start.advanced(by: $0), on: clock, $1) }
    }
  }

  private static func timer<Base: Clock>(
    at deadline: Base.Instant, on clock: Base, _ body: @escaping @Sendable () -> Void
  ) -> Cancel where Base.Duration == Duration {
    let task = Task {
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch {
        // If the clock's `sleep` throws an error, the system's clock measures the rest of the time.
        try? await Task.sleep(for: min(max(.zero, clock.now.duration(to: deadline)), .seconds(1 << 32)))
      }
      if !Task.isCancelled { body() }
    }
    return { task.cancel() }
  }

  /// Sets a timer that calls `body` after a pause on the system's clock, and returns a function that cancels the timer.
  ///
  /// On a platform with Dispatch, the time during which the machine sleeps doesn't count toward the pause.
  static func timer(after pause: Duration, _ body: @escaping @Sendable () -> Void) -> Cancel {
    #if canImport(Dispatch)
      let source = DispatchSource.makeTimerSource(queue: queue)
      source.setEventHandler { callOnSharedThread(body) }
      source.schedule(deadline: deadline(after: pause), leeway: .milliseconds(1))
      source.resume()
      let kept = Lock(source)
      return { kept.withLock { $0.cancel() } }
    #else
      return timer(at: ContinuousClock.now.advanced(by: pause), on: ContinuousClock(), body)
    #endif
  }

  /// Calls a function that doesn't block after a pause on the system's clock, on a thread that nothing else blocks.
  static func callOnTimerThread(after pause: Duration, _ body: @escaping @Sendable () -> Void) {
    #if canImport(Dispatch)
      queue.asyncAfter(deadline: deadline(after: pause), execute: body)
    #else
      Task {
        try? await Task.sleep(for: pause)
        body()
      }
    #endif
  }

  #if canImport(Dispatch)
    /// The queue on which all timers wait.
    ///
    /// Dispatch has separate threads for this queue's priority, so blocked queues of lower priority can't block the
    /// timers.
    private static let queue = DispatchQueue(label: "LaunchInitializers.timers", target: .global(qos: .userInteractive))

    /// Returns the end of a pause on Dispatch's clock, or `.distantFuture` if the end is beyond the clock's range.
    static func deadline(after pause: Duration) -> DispatchTime {
      let end = Double(DispatchTime.now().uptimeNanoseconds) + max(0, pause / .nanoseconds(1))
      return end < 0x1p63 ? DispatchTime(uptimeNanoseconds: UInt64(end)) : .distantFuture
    }
  #endif
}
