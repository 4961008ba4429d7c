import Foundation
import Synchronization
import Testing

/// Reads of one value by many threads, beside what may change the value.
///
/// In a release build, the optimizer may move the retain of a value that a thread copies, and another thread then
/// releases the value too early. The closures of the races read properties of concrete types, so that the optimizer
/// inlines the reads into this module, as it does in a program.
struct Race: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Reads once, and returns whether the value is one that was written.
  let read: @Sendable () -> Bool
  /// Changes the value; the argument counts the changes.
  let change: @Sendable (Int) -> Void

  init(_ name: String, read: @escaping @Sendable () -> Bool, change: @escaping @Sendable (Int) -> Void) {
    (testDescription, self.read, self.change) = (name, read, change)
  }

  /// Reads on four times as many threads as there are processors while another thread makes the changes.
  ///
  /// The environment variable `RACE_LENGTH` multiplies the number of changes. A debug build makes only a tenth of them.
  func run(changes: Int = 1_000) async {
    #if DEBUG
      let changes = changes / 10
    #endif
    let count = changes * (ProcessInfo.processInfo.environment["RACE_LENGTH"].flatMap { Int($0) } ?? 1)
    let (isOver, faults) = (Flag(), Flag())
    await withTaskGroup { group in
      for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount {
        group.addTask {
          await onNewThread {
            while !isOver.isSet { for _ in 0..<100 where !read() { faults.set() } }
          }
        }
      }
      await onNewThread {
        for number in 1...count {
          change(number)
          // A short pause lets readers run, and the end of it interrupts them anywhere.
          usleep(UInt32(number % 4) * 100)
        }
        isOver.set()
      }
    }
    #expect(!faults.isSet, "A value was read that nothing has written.")
  }
}

private final class Flag: Sendable {
  private let state = Atomic(false)
  var isSet: Bool { state.load(ordering: .relaxed) }
  func set() { state.store(true, ordering: .relaxed) }
}

/// Runs `body` on a thread of its own, because it may block.
private func onNewThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      body()
      continuation.resume()
    }
  }
}

// MARK: The values

/// A value that knows whether it is whole.
protocol Sample {
  init(number: Int)
  var isSound: Bool { get }
}

extension String: Sample {
  init(number: Int) { self = "a line that is on the heap, number \(number)" }
  var isSound: Bool { hasPrefix("a line that is on the heap, number ") }
}

extension [String]: Sample {
  init(number: Int) { self = [String(number: number), String(number: number)] }
  var isSound: Bool { count == 2 && self[0].isSound && self[0] == self[1] }
}

/// An object with an array.
final class Box: Sample, Codable, Sendable {
  let lines: [String]
  private let mark = Atomic(Box.isAlive)
  private static let isAlive: UInt64 = 0x7365_6C6C_736F_756E

  init(number: Int) { lines = [String](number: number) }
  init(from decoder: any Decoder) throws { lines = try [String](from: decoder) }
  deinit { mark.store(0, ordering: .relaxed) }

  func encode(to encoder: any Encoder) throws { try lines.encode(to: encoder) }
  var isSound: Bool { mark.load(ordering: .relaxed) == Box.isAlive && lines.isSound }
}

/// An object that threads share, and replace.
final class Current<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value { state.withLock { $0 } }

  /// Replaces the value; the former one is released after the unlock.
  func replace(with value: Value) {
    var value = value
    state.withLock { swap(&$0, &value) }
  }
}
