/// The async runs that make values of one registration, and the requests that await them.
///
/// This is a state machine without a lock: ``KeptValue`` guards it with its lock, so that a request finds a value or
/// joins a run in one step. Its functions return what the caller has to do after it has released the lock. A run whose
/// cell was dropped goes on for the requests that have joined it, and no others join it.
struct SharedRuns: Sendable {
  typealias Outcome = Result<ValueCell, any Error>
  typealias Waiter = CheckedContinuation<Void, Never>

  /// A request's place among those that await a run.
  struct Ticket: Sendable {
    let run: AsyncRun
    fileprivate let number: Int
    /// Whether the request created the run, and so has to begin it.
    let isFirst: Bool
  }

  private struct Run: Sendable {
    let run: AsyncRun
    let cell: ValueCell
    /// The task in which the initializer runs, once it has begun.
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

  /// The cell of a run; nil if no request awaits the run any longer.
  func cell(of run: AsyncRun) -> ValueCell? { runs.first { $0.run === run }?.cell }

  /// Joins the run that makes the cell's value, or a new one.
  mutating func join(_ cell: ValueCell, orCreate create: () -> AsyncRun) -> Ticket {
    let known = runs.first { $0.cell === cell }?.run
    let run = known ?? create()
    if known == nil { runs.append(Run(run: run, cell: cell)) }
    lastNumber += 1
    requests[lastNumber] = AwaitingRequest(run: run)
    return Ticket(run: run, number: lastNumber, isFirst: known == nil)
  }

  /// Notes the task of a run that has begun; returns false if no request awaits the run any longer.
  mutating func begin(_ run: AsyncRun, in task: Task<Void, Never>) -> Bool {
    guard let index = runs.firstIndex(where: { $0.run === run }) else { return false }
    runs[index].task = task
    return true
  }

  /// Notes the waiter to resume when the run has ended; returns false if there is nothing to wait for.
  mutating func wait(_ ticket: Ticket, _ waiter: Waiter) -> Bool {
    guard case .joined = requests[ticket.number]?.stage else { return false }
    requests[ticket.number]?.stage = .waiting(waiter)
    return true
  }

  /// Takes the outcome of a run that has ended; returns nil if the request has left the run.
  mutating func take(_ ticket: Ticket) -> Outcome? {
    guard case .ended(let outcome) = requests.removeValue(forKey: ticket.number)?.stage else { return nil }
    return outcome
  }

  /// The consequences of a request that leaves a run.
  struct Leaving: Sendable {
    var waiter: Waiter?
    /// The task to cancel, and the cell that won't get a value, if no other request awaits the run.
    var task: Task<Void, Never>?
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

  /// Ends a run, and returns the waiters to resume.
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
