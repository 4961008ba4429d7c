internal import Locking

// Who sleeps on the clock, and who waits for them to.

extension TestClock {
  /// Until when those sleep who sleep now, the earliest first.
  public var deadlines: [Instant] { sleep.withLock(\.deadlines) }

  /// Returns when exactly so many sleep on the clock; none, where all have been woken or cancelled.
  ///
  /// Returns early where the waiting task is cancelled, as by a time limit.
  public func waitForSleepers(_ count: Int) async { await wait { $0.count == count } }

  /// Returns when somebody sleeps until that time since the clock was made.
  ///
  /// Returns early where the waiting task is cancelled, as by a time limit.
  public func waitForSleeper(until deadline: Duration) async {
    await wait { $0.contains(Instant(offset: deadline)) }
  }

  private func wait(until condition: @escaping @Sendable ([Instant]) -> Bool) async {
    let id = sleep.withLock { $0.makeID() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        sleep.withLock { $0.addWatcher(continuation, id, for: condition) }
        if Task.isCancelled { stopWaiting(id) }
        tellWatchers()
      }
    } onCancel: {
      stopWaiting(id)
    }
  }

  private func stopWaiting(_ id: Int) { sleep.withLock { $0.removeWatcher(id) }?.resume() }

  /// Lets those go on who waited for what is the case now.
  func tellWatchers() {
    for watcher in sleep.withLock({ $0.takeSatisfiedWatchers() }) { watcher.resume() }
  }
}

/// The time of a clock and everybody who waits for it.
struct SleepState: Sendable {
  private struct Sleeper: Sendable {
    let deadline: TestClock.Instant
    let continuation: CheckedContinuation<Void, any Error>
  }
  private struct Watcher: Sendable {
    let condition: @Sendable ([TestClock.Instant]) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private(set) var now = TestClock.Instant()
  private var sleepers: [Int: Sleeper] = [:]
  private var watchers: [Int: Watcher] = [:]
  private var lastID = 0

  var deadlines: [TestClock.Instant] { sleepers.values.map(\.deadline).sorted() }

  mutating func makeID() -> Int {
    lastID += 1
    return lastID
  }

  /// False where that time has come.
  mutating func add(
    _ continuation: CheckedContinuation<Void, any Error>, _ id: Int, until deadline: TestClock.Instant
  ) -> Bool {
    guard deadline > now else { return false }
    sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
    return true
  }

  mutating func removeSleeper(_ id: Int) -> CheckedContinuation<Void, any Error>? {
    sleepers.removeValue(forKey: id)?.continuation
  }

  /// Moves the time and returns those whose time has come: by deadline, of one deadline the first to fall asleep.
  mutating func advance(to instant: TestClock.Instant) -> [CheckedContinuation<Void, any Error>] {
    now = instant
    let due = sleepers.filter { $0.value.deadline <= instant }
      .sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
    for sleeper in due { sleepers[sleeper.key] = nil }
    return due.map(\.value.continuation)
  }

  mutating func addWatcher(
    _ continuation: CheckedContinuation<Void, Never>, _ id: Int,
    for condition: @escaping @Sendable ([TestClock.Instant]) -> Bool
  ) {
    watchers[id] = Watcher(condition: condition, continuation: continuation)
  }

  mutating func removeWatcher(_ id: Int) -> CheckedContinuation<Void, Never>? {
    watchers.removeValue(forKey: id)?.continuation
  }

  mutating func takeSatisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
    if watchers.isEmpty { return [] }
    let deadlines = deadlines
    let satisfied = watchers.filter { $0.value.condition(deadlines) }
    for id in satisfied.keys { watchers[id] = nil }
    return satisfied.values.map(\.continuation)
  }
}
