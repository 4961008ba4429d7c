internal import Support
internal import SpellRegistry

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = TestClock()
/// let reminder = Task {
///   try await clock.sleep(for: .seconds(60))
///   return "tea"
/// }
/// await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(60))
/// #expect(try await reminder.value == "tea")
/// ```
///
/// Wait for sleepers before each advance: a task that was started, or woken, has yet to reach its next sleep. Real time
/// passes only in a wait that fails. Safe to use from any thread.
public final class TestClock: Clock, Sendable {
  /// A time on the clock.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The time since the clock was created.
    public var offset: Duration

    /// Creates the time that is `offset` after the clock's creation.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// Returns the time that is later by a duration.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// Returns the duration from this time to another one.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Returns whether a time is earlier than another one.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    /// The time since the clock was created, such as `60.0 seconds`.
    public var description: String { offset.description }
  }

  let sleep = Lock(SleepState())

  /// Creates a clock at zero.
  public init() {}

  /// The time, which only `advance` changes.
  public var now: Instant { sleep.withLock(\.now) }

  /// One nanosecond, though nothing is rounded to it.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Moves the time on, and wakes the tasks whose time has come, in the order of their deadlines.
  ///
  /// Which of several tasks that are woken at once runs first, the runtime decides: if that counts, move the time on step by
  /// step. A task that falls asleep again does so at the new time.
  ///
  /// - Precondition: The duration isn't negative.
  public func advance(by duration: Duration) { advance { $0.advanced(by: duration) } }

  /// Moves the time on to `instant`, and wakes the tasks whose time has come, in the order of their deadlines.
  ///
  /// - Precondition: The instant isn't past.
  public func advance(to instant: Instant) { advance { _ in instant } }

  private func advance(_ target: (Instant) -> Instant) {
    let woken = sleep.withLock { sleep in
      let instant = target(sleep.now)
      if instant < sleep.now { trap("A TestClock at \(sleep.now) can't go back to \(instant).") }
      return sleep.advance(to: instant)
    }
    for continuation in woken { continuation.resume() }
    notifyWatchers()
  }

  /// Sleeps until the clock is moved to a time, or past it.
  ///
  /// - Throws: `CancellationError`, at once, if the task is cancelled before.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let id = sleep.withLock { $0.makeID() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard sleep.withLock({ $0.add(continuation, id, until: deadline) }) else { return continuation.resume() }
        // The handler may have come before there was anything to cancel.
        if Task.isCancelled { cancel(id) }
        notifyWatchers()
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Sleeps until the clock has been moved on by a duration.
  ///
  /// - Throws: `CancellationError`, at once, if the task is cancelled before.
  public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
    // The standard library's own implementation leaves the caller's actor, and with it the order of waking.
    try await sleep(until: now.advanced(by: duration), tolerance: tolerance)
  }

  private func cancel(_ id: Int) {
    sleep.withLock { $0.removeSleeper(id) }?.resume(throwing: CancellationError())
    notifyWatchers()
  }
}
