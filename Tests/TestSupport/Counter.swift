internal import Support
internal import Synchronization

/// A count that any thread can increase.
package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  package var value: Int { count.load(ordering: .sequentiallyConsistent) }

  /// Adds one, and returns the new count.
  @discardableResult package func increment() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// A value that several threads change.
package final class Shared<Value: Sendable>: Sendable {
  private let lock: Lock<Value>

  package init(_ value: Value) { lock = Lock(value) }

  package var value: Value { lock.withLock { $0 } }

  package func update(_ change: (inout Value) -> Void) { lock.withLock { change(&$0) } }
}

/// The events in order, recorded by any thread.
package final class Journal: Sendable {
  private let lines = Lock<[String]>([])

  package init() {}

  package var entries: [String] { lines.withLock { $0 } }

  package func note(_ line: String) { lines.withLock { $0.append(line) } }
}
