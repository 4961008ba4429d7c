internal import Support
internal import Synchronization

/// The one value that a registration keeps for all requests: a singleton, or a weak, cached or expiring value.
///
/// Each value has a cell, which is written once. After a value is dropped, the next request gets a new cell. Callers
/// that asked earlier share the cell that they found, so each cell's value is made once.
final class KeptValue: Sendable {
  private struct State: Sendable {
    /// The cell of the value, or of a value that is being made.
    var cell: ValueCell?
    /// The object of a weak value; not an Optional, because a read would copy the reference to unwrap it.
    var weak = WeakReference(nil)
    var deadline: Duration?
    var isRetired = false
    /// The async runs that make the cell's value, or the value of a cell that was dropped.
    var runs = SharedRuns()

    /// Whether the registration was withdrawn, and no value is being made for the requests that came before.
    var isWithdrawn: Bool {
      guard isRetired, let cell else { return isRetired }
      return cell.gate.current == CreationGate.vacant && !runs.areMaking(cell)
    }
  }

  /// The service of the value's registration, by which the table finds the registration.
  let service: Service
  private let scope: ScopeLifetime
  /// Whether the value is weak and the service is a class, so that the object needs no cast.
  private let isWeakOfClass: Bool
  private let expiry: (age: Duration, clock: ElapsedClock)?
  private let state = Lock(State())

  init(_ service: Service, _ scope: ScopeLifetime, expiry age: Duration?, by clock: ElapsedClock) {
    (self.service, self.scope) = (service, scope)
    isWeakOfClass = scope.isWeak && service.type is any AnyObject.Type
    expiry = age.map { ($0, clock) }
  }

  /// Puts the kept value in memory, or lets `make` put a new one there, once for all callers that find the same cell.
  ///
  /// If `make` throws, each waiting thread tries again.
  ///
  /// - Parameter registry: The registry that has the registration.
  /// - Returns: Whether there is a value; false if the registration was withdrawn after the caller had found it.
  func putValue(
    _ memory: ValueMemory, in registry: InitializerRegistry, for step: () -> FrameSummary, on thread: CurrentThread,
    make: (UInt) throws(InjectionError) -> Void
  ) throws(InjectionError) -> Bool {
    while true {
      let cell: ValueCell
      switch findCell(copyingTo: memory) {
      case .copied: return true
      case .withdrawn: return false
      case .cell(let current): cell = current
      }
      let found = cell.gate.current
      if found == CreationGate.ready {
        cell.copyValue(to: memory)
        return true
      }
      if found == CreationGate.vacant, cell.gate.begin(from: found, on: thread.id) {
        do throws(InjectionError) { try make(cell.gate.id) } catch {
          cell.gate.settle(as: CreationGate.vacant)
          throw error
        }
        cell.memory.copy(cell.type, from: memory)
        keep(cell, in: registry)
        cell.gate.settle(as: CreationGate.ready)
        return true
      }
      if CreationGate.isBusy(found) {
        try Waits.wait(at: cell.gate, for: step(), on: thread)
        // The thread takes the value that it has waited for, even if the scope no longer keeps that value.
        if cell.gate.isReady {
          cell.copyValue(to: memory)
          return true
        }
      }
    }
  }

  /// Copies the value if there is one, for callers that can't make it themselves.
  func copyIfReady(to memory: ValueMemory) -> FoundCell {
    let found = findCell(copyingTo: memory)
    guard case .cell(let cell) = found, cell.gate.isReady else { return found }
    cell.copyValue(to: memory)
    return .copied
  }

  /// Whether there is no value, and no value is being made.
  var isVacant: Bool { current.object == nil && current.gate == CreationGate.vacant }

  /// Whether there is a value; for a weak value, whether its object still exists.
  var isReady: Bool { current.object != nil || current.gate == CreationGate.ready }

  /// The object of a weak value, for the caller to release with no lock held, and the state of the current gate.
  ///
  /// Once the value has expired, there is no object and the gate is vacant.
  private var current: (object: AnyObject?, gate: UInt) {
    let now = expiry?.clock.now
    let (object, gate) = state.withLock { state -> (Unchecked<AnyObject?>, UInt) in
      if let now, let deadline = state.deadline, deadline <= now { return (Unchecked(value: nil), CreationGate.vacant) }
      return (Unchecked(value: state.weak.object), state.cell?.gate.current ?? CreationGate.vacant)
    }
    return (object.value, gate)
  }

  enum FoundCell {
    /// There is a value, and it was copied.
    case copied
    /// The cell to read or to fill.
    case cell(ValueCell)
    /// The registration was withdrawn, so the caller has to find another one.
    case withdrawn
  }

  /// Finds the current cell, or copies a weak value to memory.
  private func findCell(copyingTo memory: ValueMemory) -> FoundCell {
    // The clock may run user code, so it is read with no lock held.
    let now = expiry?.clock.now
    let (cell, object, expired) = state.withLock { state -> (ValueCell?, Unchecked<AnyObject?>, ValueCell?) in
      if state.isWithdrawn { return (nil, Unchecked(value: nil), nil) }
      var expired: ValueCell?
      if let now, let deadline = state.deadline, deadline <= now {
        expired = state.cell
        (state.cell, state.weak, state.deadline) = (nil, WeakReference(nil), nil)
      }
      let cell = state.cell ?? ValueCell(service.type)
      state.cell = cell
      return (cell, Unchecked(value: state.weak.object), expired)
    }
    // The expired value is released with no lock held, because its deinitializer may ask for the new value.
    withExtendedLifetime(expired) {}
    if let object = object.value {
      if isWeakOfClass {
        memory.putObject(object)
        return .copied
      }
      if memory.put(object, as: service.type) { return .copied }
    }
    return cell.map { .cell($0) } ?? .withdrawn
  }

  /// Keeps a cell's value as the scope says, if the cell is still the current one.
  func keep(_ cell: ValueCell, in registry: InitializerRegistry) {
    let value = cell.memory.any(service.type)
    // A scope never keeps nil.
    let isNothing = (value as? any OptionalValue).map { $0.content == nil } ?? false
    let weak =
      scope.isWeak && !isNothing
      ? WeakReference(value, declaredBy: "Scope .weak of \(service.type)") : WeakReference(nil)
    let deadline = expiry.map { $0.clock.now + $0.age }
    change { state in
      guard state.cell === cell else { return nil }
      if state.isRetired {
        // The requests that came before the withdrawal already have the cell.
        forget(&state)
        return nil
      }
      state.deadline = deadline
      if scope.isWeak || isNothing {
        (state.cell, state.weak) = (nil, weak)
        return nil
      }
      return expiry == nil ? publish(cell, in: registry) : nil
    }
  }

  /// Drops the value; if it is being made, only the callers that have already asked get it.
  ///
  /// - Parameter registry: The registry that has the registration; nil if it is gone.
  func reset(in registry: InitializerRegistry?) {
    change { state in
      forget(&state)
      return publish(nil, in: registry)
    }
  }

  /// Drops the value permanently; callers that have already found this registration still get a value being made.
  ///
  /// - Precondition: The registration has been removed from its table; otherwise, a request could still find the value
  ///   there.
  func retire() {
    change { state in
      state.isRetired = true
      let isMaking = state.cell.map { CreationGate.isBusy($0.gate.current) || state.runs.areMaking($0) } ?? false
      if !isMaking { forget(&state) }
      return nil
    }
  }

  private func forget(_ state: inout State) {
    (state.cell, state.weak, state.deadline) = (nil, WeakReference(nil), nil)
  }

  /// Sets the cell in the registration's table entry, or clears it for nil, if the entry is still in the table; returns
  /// the former cell.
  private func publish(_ cell: ValueCell?, in registry: InitializerRegistry?) -> ValueCell? {
    registry?.table.withLock { $0.publish(cell, of: self) }
  }

  // MARK: Async runs

  /// The answer to a request for an async value.
  enum Admission {
    case ready(ValueCell)
    case awaiting(SharedRuns.Ticket)
    /// The registration was withdrawn, so the caller has to find another one.
    case withdrawn
  }

  /// Returns the value if there is one, or else lets the request join the run in progress or a new one.
  func admit(orCreate create: () -> AsyncRun) -> Admission {
    while true {
      let copy = ValueCell(service.type)
      let cell: ValueCell
      switch findCell(copyingTo: copy.memory) {
      case .withdrawn: return .withdrawn
      case .cell(let current): cell = current
      case .copied:
        copy.gate.settle(as: CreationGate.ready)
        return .ready(copy)
      }
      let admission = state.withLock { state -> Admission? in
        if cell.gate.isReady { return .ready(cell) }
        if state.isWithdrawn { return .withdrawn }
        // Another cell has replaced the found one, so look again.
        return state.cell === cell ? .awaiting(state.runs.join(cell, orCreate: create)) : nil
      }
      if let admission { return admission }
    }
  }

  /// The cell for the value of a run, which the registration doesn't keep if no request awaits the run any longer.
  func cell(of run: AsyncRun) -> ValueCell { state.withLock { $0.runs.cell(of: run) } ?? ValueCell(service.type) }

  /// Notes the task of a run that has begun, and cancels it if no request awaits the run any longer.
  func begin(_ run: AsyncRun, in task: Task<Void, Never>) {
    if !state.withLock({ $0.runs.begin(run, in: task) }) { task.cancel() }
  }

  /// Returns the outcome of the run that the request has joined, once there is one; nil if the task is canceled.
  func outcome(for ticket: SharedRuns.Ticket) async -> SharedRuns.Outcome? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        if !state.withLock({ $0.runs.wait(ticket, waiter) }) { waiter.resume() }
      }
    } onCancel: {
      leave(ticket)
    }
    return state.withLock { $0.runs.take(ticket) }
  }

  /// Ends a request's interest in a run, and cancels the run if no other request awaits it.
  func leave(_ ticket: SharedRuns.Ticket) {
    var leaving = SharedRuns.Leaving()
    change { state in
      leaving = state.runs.leave(ticket)
      // The next request needs another cell, because the run may still be using this one.
      if let cell = leaving.abandoned, state.cell === cell, !cell.gate.isReady { state.cell = nil }
      return nil
    }
    leaving.task?.cancel()
    leaving.waiter?.resume()
  }

  /// Ends a run, and returns the waiters to resume.
  func end(_ run: AsyncRun, with outcome: SharedRuns.Outcome) -> [SharedRuns.Waiter] {
    state.withLock { $0.runs.end(run, with: outcome) }
  }

  /// Changes the state; the former values, and the cell that `body` returns, are released with no lock held.
  private func change(_ body: (inout State) -> ValueCell?) {
    let former = state.withLock { state in
      let former = state
      return (former, body(&state))
    }
    withExtendedLifetime(former) {}
  }
}
