internal import Support

/// A queue whose thread writes log lines and delivers answers to callers, in order.
///
/// An answer is the result of a call of a sequence's method, such as `launch()`.
///
/// The function that writes the lines may block, for example because a pipe is full. Because the function runs on the
/// queue's thread, it delays no step and no signal. The number of waiting lines is limited. The time that an answer
/// waits for earlier lines is limited as well.
final class LaunchLog: Sendable {
  /// The maximum number of lines that wait to be written.
  ///
  /// Further lines are dropped, and a line with their number is written instead.
  static let capacity = 1_000
  /// The maximum real time that the answer to a caller waits for earlier lines to be written.
  static let patience = Duration.seconds(2)

  private enum Item {
    case line(any CustomStringConvertible & Sendable)
    /// The number of lines that were dropped at this position in the queue.
    case omission(Int)
    case answer(Int)
  }

  private struct State {
    var items: [Item] = []
    var lineCount = 0
    var isThreadRunning = false
    /// The answers that wait until earlier lines are written: for each answer's number, the function that delivers the
    /// answer, and the function that cancels the timer.
    ///
    /// The timer delivers the answer when ``patience`` has passed.
    var answers: [Int: (give: @Sendable () -> Void, cancelTimer: LaunchClock.Cancel?)] = [:]
    var lastAnswer = 0

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

  /// Starts the thread that writes the lines and delivers the answers, if it isn't running and the queue isn't empty.
  func start() {
    let isNeeded = state.withLock { state in
      defer { state.isThreadRunning = state.isThreadRunning || !state.items.isEmpty }
      return !state.isThreadRunning && !state.items.isEmpty
    }
    if isNeeded { callOnThread { [self] in giveOut() } }
  }

  /// Calls `give`, which answers callers, as soon as all earlier lines have been written or ``patience`` has passed.
  func answer(_ give: @escaping @Sendable () -> Void) {
    let number = state.withLock { state -> Int? in
      if !state.isThreadRunning, state.items.isEmpty { return nil }
      state.lastAnswer += 1
      state.answers[state.lastAnswer] = (give, nil)
      state.items.append(.answer(state.lastAnswer))
      return state.lastAnswer
    }
    guard let number else { return give() }
    start()
    let cancelTimer = LaunchClock.timer(after: Self.patience) { [self] in giveAnswer(number) }
    let isWaiting = state.withLock { state in
      state.answers[number]?.cancelTimer = cancelTimer
      return state.answers[number] != nil
    }
    if !isWaiting { cancelTimer() }
  }

  private func giveAnswer(_ number: Int) {
    guard let answer = state.withLock({ $0.answers.removeValue(forKey: number) }) else { return }
    answer.cancelTimer?()
    answer.give()
  }

  private func giveOut() {
    while let item = state.withLock({ $0.popItem() }) {
      switch item {
      case .line(let line): write("\(line)")
      case .omission(let count):
        write("log: \(count) lines were left out, because the log took too long to write others")
      case .answer(let number): giveAnswer(number)
      }
    }
  }
}
