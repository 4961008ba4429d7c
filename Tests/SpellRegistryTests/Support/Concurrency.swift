import Foundation
import Synchronization

/// Counts from any thread.
final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  @discardableResult func increment() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// Keeps a value that several threads write.
final class Shared<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>
  init(_ value: Value) { mutex = Mutex(value) }
  var value: Value { mutex.withLock { $0 } }
  func update(_ change: (inout Value) -> Void) { mutex.withLock { change(&$0) } }
}

/// Something to wait for: closed until it is opened, then open for good.
///
/// `@unchecked Sendable`: the flag is guarded by the condition.
final class Latch: @unchecked Sendable {
  private let condition = NSCondition()
  private var isOpen = false

  func open() {
    condition.withLock {
      isOpen = true
      condition.broadcast()
    }
  }

  /// Waits; false where it stayed closed for so long that nobody can be about to open it.
  @discardableResult func wait(limit: TimeInterval = 30) -> Bool {
    let end = Date(timeIntervalSinceNow: limit)
    return condition.withLock {
      while !isOpen { if !condition.wait(until: end) { return isOpen } }
      return true
    }
  }
}

/// A meeting of several threads: nobody goes on before all have come.
///
/// `@unchecked Sendable`: the count is guarded by the condition.
final class Meeting: @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: Int
  init(of count: Int) { missing = count }

  func attend() {
    let end = Date(timeIntervalSinceNow: 30)
    condition.withLock {
      missing -= 1
      if missing == 0 { condition.broadcast() }
      while missing > 0 { if !condition.wait(until: end) { return } }
    }
  }
}

/// Runs `body` on a thread of its own, so that it may block without holding up a task.
func onThread<Result: Sendable>(
  stackSize: Int = 1 << 20, _ body: @escaping @Sendable () -> Result
) async -> Result {
  await withCheckedContinuation { continuation in
    let thread = Thread { continuation.resume(returning: body()) }
    thread.stackSize = stackSize
    thread.start()
  }
}

/// Runs `body` on `count` threads that all begin at once.
func onThreads<Result: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) -> Result
) async -> [Result] {
  let meeting = Meeting(of: count)
  return await withTaskGroup(of: Result.self) { group in
    for index in 0..<count {
      group.addTask {
        await onThread {
          meeting.attend()
          return body(index)
        }
      }
    }
    return await group.reduce(into: []) { $0.append($1) }
  }
}

/// Runs `body` in `count` tasks.
func inTasks<Result: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) async -> Result
) async -> [Result] {
  await withTaskGroup(of: Result.self) { group in
    for index in 0..<count { group.addTask { await body(index) } }
    return await group.reduce(into: []) { $0.append($1) }
  }
}

/// Something that tasks wait for: closed until it has been opened so many times.
final class AsyncLatch: Sendable {
  private struct State {
    var missing: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state: Mutex<State>

  init(opensAfter count: Int = 1) { state = Mutex(State(missing: count)) }

  func open() {
    let ready = state.withLock { state in
      state.missing -= 1
      if state.missing > 0 { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in ready { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.missing <= 0 { return true }
        state.waiting.append(continuation)
        return false
      }
      if isOpen { continuation.resume() }
    }
  }

  /// One of those who open it, and waits for the others.
  func meet() async {
    open()
    await wait()
  }
}
