import Synchronization

/// A clock that stands still until a test moves it.
final class TestClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var nextID = 0
    var watchers: [(condition: @Sendable ([Duration]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

    mutating func takeSatisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
      let deadlines = sleepers.values.map(\.deadline.offset)
      let satisfied = watchers.filter { $0.condition(deadlines) }.map(\.continuation)
      watchers.removeAll { $0.condition(deadlines) }
      return satisfied
    }
  }

  private let state = Mutex(State())

  var now: Instant { state.withLock(\.now) }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isDue = state.withLock { state in
          guard deadline > state.now else { return true }
          state.sleepers[id] = (deadline, continuation)
          return false
        }
        if isDue { return continuation.resume() }
        if Task.isCancelled { wake(id) }
        notifyWatchers()
      }
    } onCancel: {
      wake(id)
    }
  }

  /// Moves the time on and wakes those whose time has come, the earliest first.
  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }.sorted {
        ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key)
      }
      for sleeper in due { state.sleepers[sleeper.key] = nil }
      return due.map(\.value.continuation)
    }
    for continuation in due { continuation.resume() }
    notifyWatchers()
  }

  /// Returns when so many sleep, which means that everybody else has done what there is to do.
  func waitForSleepers(_ count: Int) async { await wait { $0.count == count } }

  /// Returns when somebody sleeps until that time since the clock was made.
  func waitForSleeper(until deadline: Duration) async { await wait { $0.contains(deadline) } }

  private func wait(until condition: @escaping @Sendable ([Duration]) -> Bool) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.watchers.append((condition, continuation)) }
      notifyWatchers()
    }
  }

  private func wake(_ id: Int) {
    let continuation = state.withLock { $0.sleepers.removeValue(forKey: id)?.continuation }
    continuation?.resume(throwing: CancellationError())
    notifyWatchers()
  }

  private func notifyWatchers() {
    for watcher in state.withLock({ $0.takeSatisfiedWatchers() }) { watcher.resume() }
  }
}
