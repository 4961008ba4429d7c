internal import Support

/// A clock on which a sleep takes no time, because each sleep sets the clock forward and returns immediately.
///
/// ```swift
/// let clock = ImmediateClock()
/// try await clock.sleep(for: .seconds(60))    // returns at once
/// clock.now.offset                            // 60 seconds
/// ```
///
/// Use this clock in tests in which delays don't matter. To decide when a sleep ends, use a `TestClock`. The clock is
/// safe to use from any thread.
public final class ImmediateClock: Clock, Sendable {
  /// A time on an immediate clock, measured from the creation of the clock.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The time since the clock was created.
    public var offset: Duration

    /// Creates the time that is `offset` after the clock's creation.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// Returns the time that is `duration` after this time.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// Returns the duration from this time to `other`; the duration is negative if `other` is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Returns whether the left time is earlier than the right time.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    /// The time since the clock was created, such as `60.0 seconds`.
    public var description: String { offset.description }
  }

  private let time = Lock(Instant())

  /// Creates a clock whose time is zero.
  public init() {}

  /// The latest deadline that any task has slept until, or zero if no deadline was later than zero.
  public var now: Instant { time.withLock { $0 } }

  /// The nominal resolution, which is one nanosecond, although the clock doesn't round times at all.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Sets the clock forward to `deadline`, unless the deadline has passed, and lets other tasks run.
  ///
  /// - Throws: `CancellationError` if the task is canceled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    time.withLock { $0 = max($0, deadline) }
    // Without the yield, a task that sleeps in a loop could keep other tasks from running.
    await Task.yield()
    try Task.checkCancellation()
  }
}
