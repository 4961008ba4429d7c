internal import Support
internal import Synchronization

/// The one value that a registration keeps for all requests: a singleton, or a weak, cached or expiring value.
///
/// A factory also has one `KeptValue` for each list of arguments. Each value is stored in a `ValueCell`, which is
/// written once. All callers that find the same cell share its value. After a value is dropped, later callers find a
/// new cell.
final class KeptValue: Sendable {
  private struct State: Sendable {
    /// The current cell, which has the value or will have it; nil until the next request needs a cell.
    var cell: ValueCell?
    /// A reference to the object of a weak value.
    ///
    /// The type isn't Optional, because unwrapping would copy the reference at each read.
    var weak = WeakReference(nil)
    /// The time at which the kept value expires; nil if no value is kept, or if it never expires.
    ///
    /// After the last release of a weak value's object, the deadline stays until the next request looks for the cell.
    var deadline: Duration?
    var isRetired = false

    /// Whether the registration was withdrawn, and nothing is left for requests from before the withdrawal.
    ///
    /// A request from before the withdrawal still gets the cell's value if that value exists or is being made.
    var isWithdrawn: Bool {
      guard isRetired, let cell else { return isRetired }
      return cell.gate.current == CreationGate.vacant && cell.sharedRun == nil
    }
  }

  /// The service whose type is the value's type.
  ///
  /// The registry's table finds the value's registration by this service. The values of a factory are an exception,
  /// because a factory's registration has the factory's type.
  let service: Service
  private let scope: ScopeLifetime
  /// Whether the value is weak and its type is a class, in which case the object needs no cast.
  private let isWeakOfClass: Bool
  private let expiry: (age: Duration, clock: ElapsedClock)?
  private let state = Lock(State())

  init(_ service: Service, _ scope: ScopeLifetime, expiry age: Duration?, by clock: ElapsedClock) {
    (self.service, self.scope) = (service, scope)
    isWeakOfClass = scope.isWeak && service.type is any AnyObject.Type
    expiry = age.map { ($0, clock) }
  }

  /// Puts the kept value in memory, or a new value from `make` if the registration keeps none yet.
  ///
  /// All callers that find the same cell get the value of a single call of `make`. If `make` throws, each waiting
  /// thread tries again.
  ///
  /// - Parameter registry: The registry that contains the registration. For a value of a factory, this may be any
  ///   registry, because no table has an entry for that value.
  /// - Returns: Whether there is a value; false only if the registration was withdrawn after the caller found it.
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

  /// Copies the value to memory if there is one, for a caller that can't make the value.
  ///
  /// - Returns: `.copied` if there is a value, `.cell` if the value hasn't been made yet, and `.withdrawn` if the
  ///   registration was withdrawn.
  func copyIfReady(to memory: ValueMemory) -> FoundCell {
    let found = findCell(copyingTo: memory)
    guard case .cell(let cell) = found, cell.gate.isReady else { return found }
    cell.copyValue(to: memory)
    return .copied
  }

  /// Whether there is no value, and no call of `putValue` is making one.
  var isVacant: Bool { current.object == nil && current.gate == CreationGate.vacant }

  /// Whether the value exists and hasn't expired.
  ///
  /// A weak value exists for as long as its object.
  var isReady: Bool { current.object != nil || current.gate == CreationGate.ready }

  /// The object of a weak value, and the state of the `CreationGate` in the current `ValueCell`.
  ///
  /// If the value has expired, the object is nil and the state is vacant. The result contains the object, because
  /// the last reference to the object mustn't be released while the lock is held.
  private var current: (object: AnyObject?, gate: UInt) {
    let now = expiry?.clock.now
    let (object, gate) = state.withLock { state -> (Unchecked<AnyObject?>, UInt) in
      if let now, let deadline = state.deadline, deadline <= now { return (Unchecked(value: nil), CreationGate.vacant) }
      return (Unchecked(value: state.weak.object), state.cell?.gate.current ?? CreationGate.vacant)
    }
    return (object.value, gate)
  }

  enum FoundCell {
    /// There is a value, and it was copied to the caller's memory.
    case copied
    /// The current cell, whose value the caller has to copy or to make.
    case cell(ValueCell)
    /// The registration was withdrawn, so the caller has to find another registration.
    case withdrawn
  }

  /// Copies a weak value to memory if its object still exists, or else finds or creates the current cell.
  ///
  /// Before that, the function drops a value that has expired.
  func findCell(copyingTo memory: ValueMemory) -> FoundCell {
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
      let object = state.weak.object
      // The caller may make a new value, which mustn't expire at the deadline of a former value.
      if object == nil && cell.gate.current == CreationGate.vacant { state.deadline = nil }
      return (cell, Unchecked(value: object), expired)
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

  /// Keeps a cell's value as the scope specifies, unless the cell was dropped or replaced.
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
      if isNothing || state.isRetired {
        // Requests from before a withdrawal already have the cell, and later requests mustn't find its value.
        forget(&state)
        return nil
      }
      state.deadline = deadline
      if scope.isWeak {
        (state.cell, state.weak) = (nil, weak)
        return nil
      }
      return expiry == nil ? publish(cell, in: registry) : nil
    }
  }

  /// Drops the value, so that the next request makes a new value.
  ///
  /// If a value is being made during the reset, only the callers that have already requested it get that value.
  ///
  /// - Parameter registry: The registry that contains the registration; nil if the registry no longer exists.
  func reset(in registry: InitializerRegistry?) {
    change { state in
      forget(&state)
      return publish(nil, in: registry)
    }
  }

  /// Drops the value permanently, after the registration was withdrawn.
  ///
  /// If a value is being made, the callers that have already found its cell, or find the cell before the value is made,
  /// still get the value. Later callers have to find another registration.
  ///
  /// - Precondition: The caller has removed the registration from the registry's table, so no new request finds it.
  func retire() {
    change { state in
      state.isRetired = true
      let isMaking = state.cell.map { CreationGate.isBusy($0.gate.current) || $0.sharedRun != nil } ?? false
      if !isMaking { forget(&state) }
      return nil
    }
  }

  private func forget(_ state: inout State) {
    (state.cell, state.weak, state.deadline) = (nil, WeakReference(nil), nil)
  }

  /// Replaces the cell in the registration's table entry with `cell`, which may be nil, and returns the former cell.
  ///
  /// If the registry no longer exists, or its table has no entry for the registration, the function only returns nil.
  private func publish(_ cell: ValueCell?, in registry: InitializerRegistry?) -> ValueCell? {
    registry?.table.change { $0.publish(cell, of: self) }
  }

  /// Drops the cell of an async run that is over, so that the next request gets a new cell and begins another run.
  func drop(_ cell: ValueCell) {
    change { state in
      if state.cell === cell && !cell.gate.isReady { state.cell = nil }
      return nil
    }
  }

  /// Lets `body` change the state, and then releases the former state and the cell that `body` returns.
  ///
  /// Both are released with no lock held, because a value's deinitializer may run any code.
  private func change(_ body: (inout State) -> ValueCell?) {
    let former = state.withLock { state in
      let former = state
      return (former, body(&state))
    }
    withExtendedLifetime(former) {}
  }
}
