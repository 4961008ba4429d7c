import Foundation
import Synchronization

/// Counts from any thread.
final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  @discardableResult func increment() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// A door that is shut until it is opened, once.
final class Latch: @unchecked Sendable {
  // The condition's lock guards `isOpen`.
  private let condition = NSCondition()
  private var isOpen = false

  func open() {
    condition.withLock {
      isOpen = true
      condition.broadcast()
    }
  }

  func wait() { condition.withLock { while !isOpen { condition.wait() } } }
}

/// Runs each body on a thread of its own, and waits for all.
func onThreads(_ bodies: (@Sendable () -> Void)...) async {
  await withTaskGroup(of: Void.self) { group in
    for body in bodies {
      group.addTask {
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            body()
            continuation.resume()
          }
        }
      }
    }
  }
}

/// Runs `body` on a thread of its own, with a stack of so many bytes.
func onThread<Result: Sendable>(stackSize: Int, _ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    let thread = Thread { continuation.resume(returning: body()) }
    thread.stackSize = stackSize
    thread.start()
  }
}

/// What `count` tasks, all at once, get from `body`.
func race<Result: Sendable>(
  _ count: Int, _ body: @Sendable @escaping (Int) -> Result
) async -> [Result] {
  await withTaskGroup(of: Result.self) { group in
    for index in 0..<count { group.addTask { body(index) } }
    return await group.reduce(into: []) { $0.append($1) }
  }
}

/// Something to be made; equal to itself only.
class Service: @unchecked Sendable {
  let label: String
  init(_ label: String = "") { self.label = label }
}

/// The text that a process wrote to its standard error.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
