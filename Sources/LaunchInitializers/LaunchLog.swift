internal import Support

/// A queue whose thread writes log lines in order.
///
/// The function that writes the lines may block, for example because a pipe is full. Because the function runs on the
/// queue's thread, it delays no step and no signal. The number of waiting lines is limited.
final class LaunchLog: Sendable {
  /// The maximum number of lines that wait to be written.
  ///
  /// Further lines are dropped, and a line with their number is written instead.
  static let capacity = 1_000
  /// The maximum real time that ``whenWritten(_:)`` waits for earlier lines to be written.
  static let patience = Duration.seconds(2)

  private enum Item {
    case line(any CustomStringConvertible & Sendable)
    /// The number of lines that were dropped at this position in the queue.
    case omission(Int)
    /// The position in the queue of a function that waits for the earlier lines.
    case mark(Int)
  }

  private struct State {
    var items: [Item] = []
    var lineCount = 0
    var isThreadRunning = false
    /// The functions that wait until earlier lines are written, by number, and the functions that cancel their timers.
    ///
    /// The timer calls the function when ``patience`` has passed.
    var marks: [Int: (body: @Sendable () -> Void, cancelTimer: LaunchClock.Cancel?)] = [:]
    var lastMark = 0

    mutating func popItem() -> Item? {
      isThreadRunning = !items.isEmpty
      if items.isEmpty { return nil }
      let item = items.removeFirst()
      if case .line = item { lineCount -= 1 }
      return item
    }
  }

  private let write: @Sendable (String) -> Void
  private let state = Lock(State())

  init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

  /// Adds a line to the queue, or only counts the line as dropped if the queue is full.
  ///
  /// If no thread is running, the line is written after the next call of ``start()``.
  func add(_ line: some CustomStringConvertible & Sendable) {
    state.withLock { state in
      if state.lineCount < Self.capacity {
        state.lineCount += 1
        state.items.append(.line(line))
      } else if case .omission(let count)? = state.items.last {
        state.items[state.items.count - 1] = .omission(count + 1)
      } else {
        state.items.append(.omission(1))
      }
    }
  }

  /// Starts the thread that writes the lines, if it isn't running and the queue isn't empty.
  func start() {
    let isNeeded = state.withLock { state in
      defer { state.isThreadRunning = state.isThreadRunning || !state.items.isEmpty }
      return !state.isThreadRunning && !state.items.isEmpty
    }
    if isNeeded { callOnThread { [self] in giveOut() } }
  }

  /// Calls a function as soon as all earlier lines have been written or ``patience`` has passed.
  func whenWritten(_ body: @escaping @Sendable () -> Void) {
    let number = state.withLock { state -> Int? in
      if !state.isThreadRunning, state.items.isEmpty { return nil }
      state.lastMark += 1
      state.marks[state.lastMark] = (body, nil)
      state.items.append(.mark(state.lastMark))
      return state.lastMark
    }
    guard let number else { return body() }
    start()
    let cancelTimer = LaunchClock.timer(after: Self.patience) { [self] in callMarked(number) }
    let isWaiting = state.withLock { state in
      state.marks[number]?.cancelTimer = cancelTimer
      return state.marks[number] != nil
    }
    if !isWaiting { cancelTimer() }
  }

  private func callMarked(_ number: Int) {
    guard let mark = state.withLock({ $0.marks.removeValue(forKey: number) }) else { return }
    mark.cancelTimer?()
    mark.body()
  }

  private func giveOut() {
    while let item = state.withLock({ $0.popItem() }) {
      switch item {
      case .line(let line): write("\(line)")
      case .omission(let count):
        write("log: \(count) lines were left out, because the log took too long to write others")
      case .mark(let number): callMarked(number)
      }
    }
  }
}
