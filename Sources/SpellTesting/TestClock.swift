internal import SpellRegistry
internal import Support
public import Testing

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
/// Before each advance, wait for the tasks that should be asleep, because a task that was just started or woken may not
/// have reached its next sleep. A wait ends as soon as the tasks are asleep, so only a wait that fails takes long. The
/// clock is safe to use from any thread.
public final class TestClock: Clock, Sendable {
  /// A time on a test clock, measured from the creation of the clock.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The time since the clock was created.
    public var offset: Duration

    /// Creates the time that is `offset` after the clock's creation.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// Returns the time that is `duration` after this time.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// Returns the duration from this time to another time.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Returns whether the left time is earlier than the right time.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    /// The time since the clock was created, such as `60.0 seconds`.
    public var description: String { offset.description }
  }

  private let sleep = Lock(SleepState())

  /// Creates a clock whose time is zero.
  public init() {}

  /// The current time, which only `advance` changes.
  public var now: Instant { sleep.withLock(\.now) }

  /// The nominal resolution, which is one nanosecond; the clock doesn't round times.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Advances the clock by a duration, and wakes the tasks whose deadlines have come.
  ///
  /// The clock wakes the tasks in the order of their deadlines, but the runtime decides which of the woken tasks runs
  /// first. If the order matters, advance the clock step by step. If a woken task sleeps again, its new sleep starts at
  /// the new time.
  ///
  /// - Precondition: The duration isn't negative.
  public func advance(by duration: Duration) { advance { $0.advanced(by: duration) } }

  /// Advances the clock to a time, and wakes the tasks whose deadlines have come, in the order of the deadlines.
  ///
  /// - Precondition: The time isn't earlier than the clock's current time.
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

  /// Sleeps until the clock reaches a time.
  ///
  /// - Throws: `CancellationError` if the task is canceled before the sleep is over. The sleep then ends immediately.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let id = sleep.withLock { $0.makeID() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isAsleep = sleep.withLock { sleep in
          if deadline > sleep.now { sleep.sleepers[id] = .init(deadline: deadline, continuation: continuation) }
          return deadline > sleep.now
        }
        guard isAsleep else { return continuation.resume() }
        // The cancellation handler may have run before the sleeper was added.
        if Task.isCancelled { cancel(id) }
        notifyWatchers()
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Sleeps until the clock has advanced by a duration.
  ///
  /// - Throws: `CancellationError` if the task is canceled before the sleep is over. The sleep then ends immediately.
  public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
    // The standard library's `sleep(for:)` would leave the caller's actor, and so change the order in which tasks wake.
    try await sleep(until: now.advanced(by: duration), tolerance: tolerance)
  }

  private func cancel(_ id: Int) {
    sleep.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
    notifyWatchers()
  }
}

// MARK: Sleepers

extension TestClock {
  /// The deadlines of the tasks that sleep on the clock, in ascending order.
  public var deadlines: [Instant] { sleep.withLock(\.deadlines) }

  /// Waits until an exact number of tasks sleep on the clock.
  ///
  /// If the number isn't reached within `limit` of real time, the wait ends, and the test fails with an issue that
  /// lists the deadlines of the sleeping tasks. The wait ends early, without an issue, if the waiting task is canceled,
  /// for example by a time limit.
  ///
  /// - Parameters:
  ///   - count: The exact number of tasks. If it is 0, the wait lasts until all tasks have been woken or canceled.
  ///   - limit: The maximum real time to wait, apart from time in which other tests occupy all threads.
  ///   - sourceLocation: The source location of the issue.
  public func waitForSleepers(
    _ count: Int, within limit: Duration = .seconds(20), sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await wait(for: "exactly \(count) to sleep", within: limit, sourceLocation) { $0.count == count }
  }

  /// Waits until a task sleeps on the clock with the given deadline.
  ///
  /// If no task does so within `limit` of real time, the wait ends, and the test fails with an issue that lists the
  /// deadlines of the sleeping tasks.
  ///
  /// - Parameters:
  ///   - deadline: The deadline, as the time since the clock was created.
  ///   - limit: The maximum real time to wait, apart from time in which other tests occupy all threads.
  ///   - sourceLocation: The source location of the issue.
  public func waitForSleeper(
    until deadline: Duration, within limit: Duration = .seconds(20),
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await wait(for: "one to sleep until \(deadline)", within: limit, sourceLocation) {
      $0.contains(Instant(offset: deadline))
    }
  }

  private func wait(
    for what: String, within limit: Duration, _ sourceLocation: SourceLocation,
    until condition: @escaping @Sendable ([Instant]) -> Bool
  ) async {
    let id = sleep.withLock { $0.makeID() }
    let expiry = Task {
      // The limit is divided into 20 sleeps. While other tests occupy all threads of the pool, at most one sleep ends.
      // Such a period therefore uses up at most a twentieth of the limit.
      for _ in 0..<20 {
        do { try await Task.sleep(for: limit / 20) } catch { return }
      }
      stopWaiting(id)
    }
    let isSatisfied = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        sleep.withLock { $0.watchers[id] = .init(condition: condition, continuation: continuation) }
        if Task.isCancelled { stopWaiting(id) }
        notifyWatchers()
      }
    } onCancel: {
      stopWaiting(id)
    }
    expiry.cancel()
    if isSatisfied || Task.isCancelled { return }
    let now = sleep.withLock { (now: $0.now, deadlines: $0.deadlines) }
    let sleepers = now.deadlines.map(\.description).joined(separator: ", ")
    Issue.report(
      """
      The test waited \(limit) for \(what) on the clock, and \(now.deadlines.count) sleep\
      \(sleepers.isEmpty ? "" : ", until \(sleepers)"). It is \(now.now) on the clock. Correct the count or the time, or \
      look at what keeps the task from its sleep.
      """, at: sourceLocation)
  }

  private func stopWaiting(_ id: Int) {
    sleep.withLock { $0.watchers.removeValue(forKey: id) }?.continuation.resume(returning: false)
  }

  /// Resumes each waiting test whose condition is satisfied by the deadlines of the sleeping tasks.
  private func notifyWatchers() {
    for watcher in sleep.withLock({ $0.takeSatisfiedWatchers() }) { watcher.resume(returning: true) }
  }
}

/// The state of a test clock: its time, the tasks that sleep on it, and the tests that wait for sleeping tasks.
private struct SleepState: Sendable {
  struct Sleeper: Sendable {
    let deadline: TestClock.Instant
    let continuation: CheckedContinuation<Void, any Error>
  }
  struct Watcher: Sendable {
    let condition: @Sendable ([TestClock.Instant]) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private(set) var now = TestClock.Instant()
  var sleepers: [Int: Sleeper] = [:]
  var watchers: [Int: Watcher] = [:]
  private var lastID = 0

  var deadlines: [TestClock.Instant] { sleepers.values.map(\.deadline).sorted() }

  mutating func makeID() -> Int {
    lastID += 1
    return lastID
  }

  /// Sets the time, removes the sleepers whose deadlines have come, and returns their continuations.
  ///
  /// The continuations are sorted by deadline, and for equal deadlines by the order in which the sleeps began.
  mutating func advance(to instant: TestClock.Instant) -> [CheckedContinuation<Void, any Error>] {
    now = instant
    let due = sleepers.filter { $0.value.deadline <= instant }
      .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
    for sleeper in due { sleepers[sleeper.key] = nil }
    return due.map(\.value.continuation)
  }

  mutating func takeSatisfiedWatchers() -> [CheckedContinuation<Bool, Never>] {
    if watchers.isEmpty { return [] }
    let deadlines = deadlines
    let satisfied = watchers.filter { $0.value.condition(deadlines) }
    for id in satisfied.keys { watchers[id] = nil }
    return satisfied.values.map(\.continuation)
  }
}
