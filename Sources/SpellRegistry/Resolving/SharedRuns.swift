/// The runs of a registration's async initializer, and the requests that await these runs.
///
/// This is a state machine without a lock. The lock of a ``KeptValue`` guards it, so that a request finds a value or
/// joins a run in one step. The functions resume no waiters and cancel no tasks. Instead, they return this work for the
/// caller to do after it has released the lock. If the `KeptValue` drops the cell for a run's value, the run
/// continues for the requests that have joined it, and later requests join another run.
struct SharedRuns: Sendable {
  typealias Outcome = Result<ValueCell, any Error>
  typealias Waiter = CheckedContinuation<Void, Never>

  /// A token for one of the requests that await a run.
  struct Ticket: Sendable {
    let run: AsyncRun
    fileprivate let number: Int
    /// Whether the request created the run and therefore has to start the run.
    let isFirst: Bool
  }

  private struct Run: Sendable {
    let run: AsyncRun
    let cell: ValueCell
    /// The task in which the initializer runs; nil until ``begin(_:in:)`` records the task.
    var task: Task<Void, Never>?
  }

  private struct AwaitingRequest: Sendable {
    let run: AsyncRun
    var stage = Stage.joined
  }

  private enum Stage: Sendable {
    case joined
    case waiting(Waiter)
    case ended(Outcome)
  }

  private var runs: [Run] = []
  private var requests: [Int: AwaitingRequest] = [:]
  private var lastNumber = 0

  func areMaking(_ cell: ValueCell) -> Bool { runs.contains { $0.cell === cell } }

  /// Returns the cell for a run's value.
  ///
  /// Returns nil if the run has ended, or if no request awaits the run any longer.
  func cell(of run: AsyncRun) -> ValueCell? { runs.first { $0.run === run }?.cell }

  /// Adds a request to the run that makes the value of `cell`.
  ///
  /// If no run makes that value, the request is added to a new run, which `create` returns.
  mutating func join(_ cell: ValueCell, orCreate create: () -> AsyncRun) -> Ticket {
    let known = runs.first { $0.cell === cell }?.run
    let run = known ?? create()
    if known == nil { runs.append(Run(run: run, cell: cell)) }
    lastNumber += 1
    requests[lastNumber] = AwaitingRequest(run: run)
    return Ticket(run: run, number: lastNumber, isFirst: known == nil)
  }

  /// Records the task of a run.
  ///
  /// Returns false, and records nothing, if the run has ended, or if no request awaits the run any longer.
  mutating func begin(_ run: AsyncRun, in task: Task<Void, Never>) -> Bool {
    guard let index = runs.firstIndex(where: { $0.run === run }) else { return false }
    runs[index].task = task
    return true
  }

  /// Records the waiter to resume when the run of a request ends.
  ///
  /// Returns false, and records nothing, if the run has ended, or if the request has left the run.
  mutating func wait(_ ticket: Ticket, _ waiter: Waiter) -> Bool {
    guard case .joined = requests[ticket.number]?.stage else { return false }
    requests[ticket.number]?.stage = .waiting(waiter)
    return true
  }

  /// Removes a request and returns the outcome of its run.
  ///
  /// Returns nil if the request has already left the run, or if the run hasn't ended.
  mutating func take(_ ticket: Ticket) -> Outcome? {
    guard case .ended(let outcome) = requests.removeValue(forKey: ticket.number)?.stage else { return nil }
    return outcome
  }

  /// The work that remains for the caller after a request has left a run.
  ///
  /// If the run has ended, or if another request still awaits the run, `task` and `abandoned` are nil.
  struct Leaving: Sendable {
    var waiter: Waiter?
    /// The task of a run that no request awaits any longer, which the caller has to cancel.
    ///
    /// This is nil if there is no such run, or if ``begin(_:in:)`` hasn't recorded the run's task yet.
    var task: Task<Void, Never>?
    /// The cell of the run, if the request was the last that awaited the unfinished run; otherwise nil.
    var abandoned: ValueCell?
  }

  mutating func leave(_ ticket: Ticket) -> Leaving {
    var leaving = Leaving()
    guard let request = requests.removeValue(forKey: ticket.number) else { return leaving }
    if case .waiting(let waiter) = request.stage { leaving.waiter = waiter }
    let isAwaited = requests.values.contains { $0.run === ticket.run }
    if !isAwaited, let index = runs.firstIndex(where: { $0.run === ticket.run }) {
      let run = runs.remove(at: index)
      (leaving.task, leaving.abandoned) = (run.task, run.cell)
    }
    return leaving
  }

  /// Ends a run, gives the outcome to the requests that await it, and returns the waiters for the caller to resume.
  mutating func end(_ run: AsyncRun, with outcome: Outcome) -> [Waiter] {
    runs.removeAll { $0.run === run }
    var waiters: [Waiter] = []
    for (number, request) in requests where request.run === run {
      if case .waiting(let waiter) = request.stage { waiters.append(waiter) }
      requests[number]?.stage = .ended(outcome)
    }
    return waiters
  }
}
