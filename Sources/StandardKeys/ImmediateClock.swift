internal import Support

/// A clock on which a sleep takes no time, since the sleep sets the clock forward and returns at once.
///
/// ```swift
/// let clock = ImmediateClock()
/// try await clock.sleep(for: .seconds(60))    // returns at once
/// clock.now.offset                            // 60 seconds
/// ```
///
/// Use it in tests in which delays don't matter. To decide when a sleep ends, use a `TestClock`. Safe to use from any
/// thread.
public final class ImmediateClock: Clock, Sendable {
  /// A time on the clock.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The time since the clock was created.
    public var offset: Duration

    /// Creates the time that is `offset` after the clock's creation.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// Returns the time that is `duration` after this one.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// Returns the duration from this time to another one.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Returns whether a time is earlier than another one.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    /// The time since the clock was created, such as `60.0 seconds`.
    public var description: String { offset.description }
  }

  private let time = Lock(Instant())

  /// Creates a clock at zero.
  public init() {}

  /// The latest deadline that any task has slept until.
  public var now: Instant { time.withLock { $0 } }

  /// One nanosecond, although the clock doesn't round times.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Sets the clock to a deadline, unless the deadline is past, and lets other tasks run.
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
