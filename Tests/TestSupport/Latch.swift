internal import Foundation
internal import Support

/// A latch for threads: closed until it is opened, and open from then on.
///
/// `@unchecked Sendable`: the condition's lock guards the flag.
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

  /// Waits until the latch is open, and for five minutes at most: a latch that no thread opens fails the test, and doesn't
  /// hang it.
  ///
  /// - Returns: Whether the latch is open.
  @discardableResult package func wait() -> Bool {
    let end = Date(timeIntervalSinceNow: 300)
    return condition.withLock {
      while !hasOpened { if !condition.wait(until: end) { return hasOpened } }
      return true
    }
  }
}

/// A point that no thread passes before a number of threads have reached it.
///
/// `@unchecked Sendable`: the condition's lock guards the count.
package final class Barrier: @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: Int

  package init(of count: Int) { missing = count }

  /// Waits for the other threads, and for five minutes at most.
  package func wait() {
    let end = Date(timeIntervalSinceNow: 300)
    condition.withLock {
      missing -= 1
      if missing == 0 { condition.broadcast() }
      while missing > 0 { if !condition.wait(until: end) { return } }
    }
  }
}

/// A latch for tasks: closed until it has been opened a number of times.
package final class AsyncLatch: Sendable {
  private struct State {
    var missing: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state: Lock<State>

  package init(opensAfter count: Int = 1) { state = Lock(State(missing: count)) }

  package var isOpen: Bool { state.withLock { $0.missing <= 0 } }

  package func open() {
    let ready = state.withLock { state in
      state.missing -= 1
      if state.missing > 0 { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in ready { continuation.resume() }
  }

  package func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.missing <= 0 { return true }
        state.waiting.append(continuation)
        return false
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Opens the latch once, and waits for the other tasks that do.
  package func meet() async {
    open()
    await wait()
  }
}
