import Foundation
import Synchronization

/// Counts from any thread.
final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  @discardableResult func increment() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
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

/// Something to be assigned; equal to itself only.
final class Service: @unchecked Sendable {
  let label: String
  init(_ label: String = "") { self.label = label }
}

/// The text that a process wrote to its standard error.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
