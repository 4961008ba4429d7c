internal import Dispatch
internal import Foundation
internal import Support
package import Testing

extension TimeLimitTrait.Duration {
  /// A limit that only a test that hangs exceeds, however busy the machine is.
  package static var hang: Self { .minutes(20) }
}

/// The maximum time to wait for another thread or task, in seconds; less than the time limit of a test.
private let waitLimit: TimeInterval = 900

/// Fails the test that has waited for the maximum time.
private func reportHang(waitingFor what: String, _ location: SourceLocation) {
  Issue.record("The test waited \(Int(waitLimit)) seconds for \(what).", sourceLocation: location)
}

/// A latch for threads: closed until it is opened, and open from then on.
///
/// `@unchecked Sendable`: the lock of `condition` guards the flag.
package final class Latch: @unchecked Sendable {
  private let condition = NSCondition()
  private var hasOpened = false

  package init() {}

  /// Whether the latch is open now.
  package var isOpen: Bool { condition.withLock { hasOpened } }

  package func open() {
    condition.withLock {
      hasOpened = true
      condition.broadcast()
    }
  }

  /// Waits until the latch is open.
  ///
  /// If no thread opens the latch, the test fails instead of hanging.
  ///
  /// - Returns: Whether the latch is open.
  @discardableResult package func wait(sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
    let end = Date(timeIntervalSinceNow: waitLimit)
    let isInTime = condition.withLock {
      while !hasOpened { if !condition.wait(until: end) { break } }
      return hasOpened
    }
    if !isInTime { reportHang(waitingFor: "a thread to open a latch", sourceLocation) }
    return isInTime
  }
}

/// A point that threads pass only after a number of threads have reached it.
///
/// `@unchecked Sendable`: the lock of `condition` guards the count.
package final class Barrier: @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: Int

  package init(of count: Int) { missing = count }

  /// Waits for the other threads.
  ///
  /// If one never arrives, the test fails instead of hanging.
  package func wait(sourceLocation: SourceLocation = #_sourceLocation) {
    let end = Date(timeIntervalSinceNow: waitLimit)
    let missing = condition.withLock {
      self.missing -= 1
      if self.missing == 0 { condition.broadcast() }
      while self.missing > 0 { if !condition.wait(until: end) { break } }
      return self.missing
    }
    if missing > 0 { reportHang(waitingFor: "\(missing) threads to reach a barrier", sourceLocation) }
  }
}

/// A latch for tasks: closed until it has been opened a number of times.
package final class AsyncLatch: Sendable {
  private struct State {
    var missing: Int
    var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    var lastID = 0
  }
  private let state: Lock<State>

  package init(opensAfter count: Int = 1) { state = Lock(State(missing: count)) }

  package var isOpen: Bool { state.withLock { $0.missing <= 0 } }

  package func open() {
    let ready = state.withLock { state in
      state.missing -= 1
      if state.missing > 0 { return [CheckedContinuation<Bool, Never>]() }
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in ready { continuation.resume(returning: true) }
  }

  /// Waits until the latch is open, even if the task is canceled.
  ///
  /// If no task opens the latch, the test fails instead of hanging.
  ///
  /// - Returns: Whether the latch is open.
  @discardableResult package func wait(sourceLocation: SourceLocation = #_sourceLocation) async -> Bool {
    if isOpen { return true }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    // The timer needs no thread of the concurrency pool, because the test may hang for lack of one.
    let limit = DispatchSource.makeTimerSource(queue: .global())
    limit.setEventHandler { [self] in
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: false)
    }
    limit.schedule(deadline: .now() + waitLimit)
    limit.activate()
    defer { limit.cancel() }
    let isInTime = await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.missing > 0 { state.waiting[id] = continuation }
        return state.missing <= 0
      }
      if isOpen { continuation.resume(returning: true) }
    }
    if !isInTime { reportHang(waitingFor: "a task to open a latch", sourceLocation) }
    return isInTime
  }

  /// Opens the latch once, and waits until enough other tasks have opened it.
  package func meet(sourceLocation: SourceLocation = #_sourceLocation) async {
    open()
    await wait(sourceLocation: sourceLocation)
  }
}

/// A place at which a task stops until the gate is opened, even if the task is canceled.
package final class Gate: Sendable {
  private let isReached = AsyncLatch()
  private let isOpened = AsyncLatch()

  package init() {}

  package func open() { isOpened.open() }

  /// Ends a wait for this arrival, and waits until the gate is open.
  package func pass(sourceLocation: SourceLocation = #_sourceLocation) async {
    isReached.open()
    await isOpened.wait(sourceLocation: sourceLocation)
  }

  /// Waits until a task has reached the gate.
  ///
  /// Wait for the arrival before you let a step's limit pass: a step that has no thread yet misses its limit in another
  /// way.
  package func waitForArrival(sourceLocation: SourceLocation = #_sourceLocation) async {
    await isReached.wait(sourceLocation: sourceLocation)
  }
}
