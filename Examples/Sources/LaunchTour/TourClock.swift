import Synchronization

/// A clock that shows planned instead of measured times, so that every tour prints the same output.
///
/// A sleep takes real time. The clock's time changes only when a sleep ends, to the planned end of this sleep.
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
    /// The pause until the earliest planned end, which a new sleep with an earlier end cancels.
    var pause: (end: Instant, task: Task<Void, any Error>)?

    /// The earliest planned end of a sleep, or nil if no task sleeps.
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
        let (isFirst, later) = state.withLock { state in
          state.sleepers[number] = (end, continuation)
          defer { state.isRunning = true }
          return (!state.isRunning, state.pause.flatMap { end < $0.end ? $0.task : nil })
        }
        if isFirst { Task { await run() } }
        later?.cancel()
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

  /// Ends the sleeps in the order of their planned ends, until none is left.
  private func run() async {
    while true {
      let pause = state.withLock { state -> Task<Void, any Error>? in
        guard let next = state.next else {
          state.isRunning = false
          return nil
        }
        let duration = state.now.duration(to: next)
        let task = Task { try await Task.sleep(for: duration) }
        state.pause = (next, task)
        return task
      }
      guard let pause else { return }
      // A new sleep with an earlier end canceled the pause, so the next pause is shorter.
      if case .failure = await pause.result { continue }
      let due = state.withLock { state in state.next.map { state.takeSleepers(until: $0) } ?? [] }
      for continuation in due { continuation.resume() }
    }
  }
}
