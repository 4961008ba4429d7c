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
    /// The object of a weak value.
    var weak: WeakReference?
    var deadline: Duration?
    var isRetired = false
    var resetCount = 0
  }

  /// The service that the value serves, by which its registration is found in the table.
  let service: Service
  private let scope: ScopeLifetime
  private let expiry: (age: Duration, clock: ElapsedClock)?
  private let state = Lock(State())
  /// The async run in progress, which awaiting callers share, and the number of runs that have ended.
  let run = Lock<(current: AsyncRun?, endCount: Int)>((nil, 0))

  init(_ service: Service, _ scope: ScopeLifetime, expiry age: Duration?, by clock: ElapsedClock) {
    (self.service, self.scope) = (service, scope)
    expiry = age.map { ($0, clock) }
  }

  /// Puts the kept value in memory, or lets `make` put a new one there, once for all callers that find the same cell.
  ///
  /// If `make` throws, each waiting thread tries again.
  ///
  /// - Parameter registry: The registry that has the registration.
  func copyOrMake(
    _ memory: ValueMemory, in registry: InitializerRegistry, for step: () -> FrameSummary, on thread: CurrentThread,
    make: (UInt) throws(InjectionError) -> Void
  ) throws(InjectionError) {
    while true {
      guard let cell = look(memory) else { return }
      let found = cell.gate.current
      if found == CreationGate.ready { return memory.copy(cell.type, from: cell.memory) }
      if found == CreationGate.vacant, cell.gate.begin(from: found, on: thread.id) {
        do throws(InjectionError) { try make(cell.gate.id) } catch {
          cell.gate.settle(as: CreationGate.vacant)
          throw error
        }
        cell.memory.copy(cell.type, from: memory)
        keep(cell, in: registry)
        return cell.gate.settle(as: CreationGate.ready)
      }
      if CreationGate.isBusy(found) {
        try Waits.wait(at: cell.gate, for: step(), on: thread)
        // The thread takes the value that it has waited for, even if the scope no longer keeps that value.
        if cell.gate.isReady { return memory.copy(cell.type, from: cell.memory) }
      }
    }
  }

  /// Copies the value if there is one, and returns whether there is; for callers that can't make it themselves.
  func copyIfReady(to memory: ValueMemory) -> Bool {
    guard let cell = look(memory) else { return true }
    guard cell.gate.isReady else { return false }
    memory.copy(cell.type, from: cell.memory)
    return true
  }

  /// Whether there is no value, and no value is being made.
  var isVacant: Bool { current.object == nil && current.gate == CreationGate.vacant }

  /// Whether there is a value; for a weak value, whether its object still exists.
  var isReady: Bool { current.object != nil || current.gate == CreationGate.ready }

  /// The object of a weak value, which the caller releases with no lock held, and the current gate; none once expired.
  private var current: (object: AnyObject?, gate: UInt) {
    let now = expiry?.clock.now
    let (object, gate) = state.withLock { state -> (Unchecked<AnyObject?>, UInt) in
      if let now, let deadline = state.deadline, deadline <= now { return (Unchecked(value: nil), CreationGate.vacant) }
      return (Unchecked(value: state.weak?.object), state.cell?.gate.current ?? CreationGate.vacant)
    }
    return (object.value, gate)
  }

  /// Copies a weak value to memory and returns nil if the object still exists; otherwise returns the current cell.
  private func look(_ memory: ValueMemory) -> ValueCell? {
    // The clock may be a client's own, so it is read with no lock held.
    let now = expiry?.clock.now
    let (cell, object, expired) = state.withLock { state -> (ValueCell, Unchecked<AnyObject?>, ValueCell?) in
      var expired: ValueCell?
      if let now, let deadline = state.deadline, deadline <= now {
        expired = state.cell
        (state.cell, state.weak, state.deadline) = (nil, nil, nil)
      }
      let cell = state.cell ?? ValueCell(service.type)
      state.cell = cell
      return (cell, Unchecked(value: state.weak?.object), expired)
    }
    // The expired value is released with no lock held, because its deinitializer may ask for the new value.
    withExtendedLifetime(expired) {}
    if let object = object.value, memory.put(object, as: service.type) { return nil }
    return cell
  }

  /// Keeps a cell's value as the scope says, if the cell is still the current one.
  private func keep(_ cell: ValueCell, in registry: InitializerRegistry) {
    let value = cell.memory.any(service.type)
    // A scope never keeps nil.
    let isNothing = (value as? any OptionalValue).map { $0.content == nil } ?? false
    let weak = scope.isWeak && !isNothing ? WeakReference(value, declaredBy: "Scope .weak of \(service.type)") : nil
    let deadline = expiry.map { $0.clock.now + $0.age }
    change { state in
      guard state.cell === cell else { return nil }
      state.deadline = deadline
      if scope.isWeak || isNothing {
        (state.cell, state.weak) = (nil, weak)
        return nil
      }
      return expiry == nil ? publish(cell, in: registry) : nil
    }
  }

  var resetCount: Int { state.withLock(\.resetCount) }

  /// Keeps an awaited value, unless the value was dropped after the caller read `count` from `resetCount`.
  func keep(_ cell: ValueCell, since count: Int, in registry: InitializerRegistry) {
    var isCurrent = false
    change { state in
      isCurrent = state.resetCount == count && !state.isRetired
      guard isCurrent else { return nil }
      (state.cell, state.weak, state.deadline) = (cell, nil, nil)
      return publish(nil, in: registry)
    }
    if isCurrent { keep(cell, in: registry) }
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
  /// - Precondition: The registration has been removed from its table, where a request would still find the value.
  func retire() {
    change { state in
      state.isRetired = true
      if state.cell?.gate.isReady ?? true { forget(&state) } else { state.resetCount += 1 }
      return nil
    }
  }

  private func forget(_ state: inout State) {
    state.resetCount += 1
    (state.cell, state.weak, state.deadline) = (nil, nil, nil)
  }

  /// Puts a cell, or none, in the table's entry of the registration, if it is still there; returns the former cell.
  private func publish(_ cell: ValueCell?, in registry: InitializerRegistry?) -> ValueCell? {
    registry?.table.withLock { $0.publish(cell, of: self) }
  }

  /// Changes the state; the former values, and the cell that `body` returns, are released after the lock.
  private func change(_ body: (inout State) -> ValueCell?) {
    let former = state.withLock { state in
      let former = state
      return (former, body(&state))
    }
    withExtendedLifetime(former) {}
  }
}
