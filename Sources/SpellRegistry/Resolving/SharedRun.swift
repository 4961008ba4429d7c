internal import Support

/// The run of an async initializer that makes the value of a ``ValueCell``, for all requests that await the value.
///
/// The cell has the run until it has the value. A run that fails, or that no request awaits any longer, is over: it stays
/// in its cell, which is dropped, so that the next request makes another cell and begins another run.
final class SharedRun: Sendable {
  let run: AsyncRun

  private struct State: Sendable {
    /// The task in which the initializer runs; nil until the first request joins.
    var task: Task<ValueCell, any Error>?
    /// The number of requests that have joined, without those that have left.
    var requestCount = 0
    var isOver = false
  }
  private let state = Lock(State())

  init(_ run: AsyncRun) { self.run = run }

  /// Adds a request, and returns the task to await, which `begin` starts for the first request.
  ///
  /// Returns nil if the run is over.
  func join(_ begin: () -> Task<ValueCell, any Error>) -> Task<ValueCell, any Error>? {
    state.withLock { state in
      if state.isOver { return nil }
      state.requestCount += 1
      let task = state.task ?? begin()
      state.task = task
      return task
    }
  }

  /// Removes a request.
  ///
  /// - Returns: Whether it was the last one, in which case the run was canceled and is over.
  func leave() -> Bool {
    let abandoned = state.withLock { state -> Task<ValueCell, any Error>? in
      state.requestCount -= 1
      if state.isOver || state.requestCount > 0 { return nil }
      state.isOver = true
      return state.task
    }
    abandoned?.cancel()
    return abandoned != nil
  }

  /// Lets no further request join.
  func end() { state.withLock { $0.isOver = true } }
}

extension Task<ValueCell, any Error> {
  /// Returns the task's value, or throws a `CancellationError` as soon as the calling task is canceled.
  ///
  /// The wait raises the priority of the task to that of the calling task.
  func valueUnlessCancelled() async throws -> ValueCell {
    let waiter = Waiter()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiter.wait(continuation)
        Task<Void, Never> { waiter.resume(with: await result) }
      }
    } onCancel: {
      waiter.resume(with: .failure(_Concurrency.CancellationError()))
    }
  }
}

/// A continuation that is resumed once, with the first of several results.
private final class Waiter: Sendable {
  private enum State: Sendable {
    case new
    case waiting(CheckedContinuation<ValueCell, any Error>)
    case ended(Result<ValueCell, any Error>)
  }
  private let state = Lock(State.new)

  func wait(_ continuation: CheckedContinuation<ValueCell, any Error>) {
    let early = state.withLock { state -> Result<ValueCell, any Error>? in
      if case .ended(let result) = state { return result }
      state = .waiting(continuation)
      return nil
    }
    if let early { continuation.resume(with: early) }
  }

  func resume(with result: Result<ValueCell, any Error>) {
    let former = state.withLock { state in
      let former = state
      if case .ended = former { return former }
      state = .ended(result)
      return former
    }
    if case .waiting(let continuation) = former { continuation.resume(with: result) }
  }
}
