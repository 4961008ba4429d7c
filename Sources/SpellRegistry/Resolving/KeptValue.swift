internal import Support
internal import Synchronization

/// The one value that a registration keeps for every asker: a singleton, or a weak, cached or expiring value.
///
/// Each value has a cell, which is written once; forgetting a value puts another cell in its place. The callers that asked
/// before share the cell that they found, so each cell's value is made once.
final class KeptValue: Sendable {
  private struct State: Sendable {
    /// A value, or one that is being made.
    var cell: ValueCell?
    /// The object of a weak value.
    var weak: WeakReference?
    var deadline: Duration?
    var isRetired = false
    var resetCount = 0
  }

  private let type: ErasedType
  private let scope: ScopeLifetime
  private let expiry: (age: Duration, clock: ElapsedClock)?
  private let state = Lock(State())
  /// The registry whose table's lock guards what is published.
  private let registry: WeakReference
  /// The value, for as long as the registration is in force and the value isn't forgotten.
  private let published = PublishedMemory()
  /// The async run under way, which awaiting callers share, and the number of those that have ended.
  let run = Lock<(current: AsyncRun?, endCount: Int)>((nil, 0))

  init(_ type: any Any.Type, _ scope: ScopeLifetime, expiry age: Duration?, in registry: InitializerRegistry) {
    self.type = ErasedType(type)
    self.scope = scope
    expiry = age.map { ($0, registry.clock) }
    self.registry = WeakReference(registry)
  }

  /// Copies the value, if it is published; returns whether it did.
  ///
  /// Runs no code of others: the caller holds the table's lock.
  @inline(__always) func copyIfPublished(to memory: ValueMemory) -> Bool {
    guard let value = published.memory else { return false }
    memory.copy(type.type, from: value)
    return true
  }

  /// Puts the kept value in memory, or lets `make` put one there, once for all callers that find the same cell.
  ///
  /// If `make` throws, each thread that waited tries for itself.
  func supply(
    _ memory: ValueMemory, for step: () -> FrameSummary, on thread: CurrentThread,
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
        keep(cell)
        return cell.gate.settle(as: CreationGate.ready)
      }
      if CreationGate.isBusy(found) {
        try Waits.wait(at: cell.gate, for: step(), on: thread)
        // Even if the scope keeps it no longer: it is what this thread has waited for.
        if cell.gate.isReady { return memory.copy(cell.type, from: cell.memory) }
      }
    }
  }

  /// Copies the value if there is one, for callers that can't make it.
  func copyIfReady(to memory: ValueMemory) -> Bool {
    guard let cell = look(memory) else { return true }
    guard cell.gate.isReady else { return false }
    memory.copy(cell.type, from: cell.memory)
    return true
  }

  /// Whether there is no value, and none is being made.
  var isVacant: Bool { current.object == nil && current.gate == CreationGate.vacant }

  /// Whether there is a value that didn't go.
  var isReady: Bool { current.object != nil || current.gate == CreationGate.ready }

  /// The object of a weak value, which the caller releases with no lock held, and the state of the cell.
  private var current: (object: AnyObject?, gate: UInt) {
    let (object, gate) = state.withLock { state in
      (Unchecked(value: state.weak?.object), state.cell?.gate.current ?? CreationGate.vacant)
    }
    return (object.value, gate)
  }

  /// Puts a weak value that lives in memory, and returns nil; else the current cell.
  private func look(_ memory: ValueMemory) -> ValueCell? {
    // The clock may be anyone's, so it is asked with no lock held.
    let now = expiry?.clock.now
    let (cell, object, expired) = state.withLock { state -> (ValueCell, Unchecked<AnyObject?>, ValueCell?) in
      var expired: ValueCell?
      if let now, let deadline = state.deadline, deadline <= now {
        expired = state.cell
        (state.cell, state.weak, state.deadline) = (nil, nil, nil)
      }
      let cell = state.cell ?? ValueCell(type.type)
      state.cell = cell
      return (cell, Unchecked(value: state.weak?.object), expired)
    }
    // An old value's deinitializer may ask for the new one.
    withExtendedLifetime(expired) {}
    if let object = object.value, memory.put(object, as: type.type) { return nil }
    return cell
  }

  /// Keeps a cell's value in the scope's way, if the cell is still the current one.
  private func keep(_ cell: ValueCell) {
    let value = cell.memory.any(type.type)
    // A nil is never kept.
    let isNothing = (value as? any OptionalValue).map { $0.content == nil } ?? false
    let weak = scope.isWeak && !isNothing ? WeakReference(value, declaredBy: "Scope .weak of \(type.type)") : nil
    let deadline = expiry.map { $0.clock.now + $0.age }
    change { state, registry in
      guard state.cell === cell else { return }
      state.deadline = deadline
      if scope.isWeak || isNothing {
        (state.cell, state.weak) = (nil, weak)
      } else if expiry == nil {
        publish(cell, in: registry)
      }
    }
  }

  var resetCount: Int { state.withLock(\.resetCount) }

  /// Keeps a value that was awaited, unless the value was forgotten since `count` was read.
  func keep(_ cell: ValueCell, since count: Int) {
    var isCurrent = false
    change { state, registry in
      isCurrent = state.resetCount == count && !state.isRetired
      guard isCurrent else { return }
      publish(nil, in: registry)
      (state.cell, state.weak, state.deadline) = (cell, nil, nil)
    }
    if isCurrent { keep(cell) }
  }

  /// Forgets the value, also while it is being made: then only the callers that have asked already get it.
  func reset() { change { forget(&$0, $1) } }

  /// Forgets the value for good; all who found this registration get the value that is being made.
  func retire() {
    change { state, registry in
      state.isRetired = true
      if state.cell?.gate.isReady ?? true { forget(&state, registry) } else { state.resetCount += 1 }
    }
  }

  private func forget(_ state: inout State, _ registry: InitializerRegistry?) {
    publish(nil, in: registry)
    state.resetCount += 1
    (state.cell, state.weak, state.deadline) = (nil, nil, nil)
  }

  private func publish(_ cell: ValueCell?, in registry: InitializerRegistry?) {
    registry?.table.withLock { _ in published.publish(cell?.memory) }
  }

  /// Changes the state, and releases its former values and the registry after the lock.
  private func change(_ body: (inout State, InitializerRegistry?) -> Void) {
    let registry = registry.object as? InitializerRegistry
    let former = state.withLock { state in
      let former = state
      body(&state, registry)
      return former
    }
    withExtendedLifetime((registry, former)) {}
  }
}
