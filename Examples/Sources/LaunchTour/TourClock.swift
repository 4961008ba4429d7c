import Synchronization

/// A clock that tells the times as they are planned and leaves out what the machine adds, so that each tour prints the
/// same.
///
/// It really waits. Its time stands still until the next wait is over, and is then the time of that wait's end.
final class TourClock: Clock {
  struct Instant: InstantProtocol {
    var offset = Duration.zero
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Instant()
    var sleepers: [Int: (end: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var count = 0
    var isRunning = false

    /// The end of the wait that is over first.
    var next: Instant? { sleepers.values.map(\.end).min() }

    mutating func takeSleepers(until end: Instant) -> [CheckedContinuation<Void, any Error>] {
      now = max(now, end)
      let due = sleepers.filter { $0.value.end <= end }.sorted { $0.key < $1.key }
      for sleeper in due { sleepers[sleeper.key] = nil }
      return due.map(\.value.continuation)
    }
  }

  static let shared = TourClock()
  private let state = Mutex(State())

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until end: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isFirst = state.withLock { state in
          state.sleepers[number] = (end, continuation)
          defer { state.isRunning = true }
          return !state.isRunning
        }
        if isFirst { Task { await run() } }
        if Task.isCancelled { wake(number) }
      }
    } onCancel: {
      wake(number)
    }
  }

  private func wake(_ number: Int) {
    let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
    sleeper?.continuation.resume(throwing: CancellationError())
  }

  /// Ends one wait after the other until there is none.
  private func run() async {
    while true {
      let pause: Duration? = state.withLock { state in
        guard let next = state.next else {
          state.isRunning = false
          return nil
        }
        return state.now.duration(to: next)
      }
      guard let pause else { return }
      // Only ever as long as it takes, so a cancellation would be the end of the tour.
      do { try await Task.sleep(for: pause) } catch { return }
      let due = state.withLock { state in state.next.map { state.takeSleepers(until: $0) } ?? [] }
      for continuation in due { continuation.resume() }
    }
  }
}
