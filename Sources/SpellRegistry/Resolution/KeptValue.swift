internal import Support
internal import Synchronization

/// The one value that a registration keeps for every asker: a singleton, or a weak, cached or expiring value.
///
/// The registration knows its type. Each value has a cell, which is written once; forgetting a value puts
/// another cell in its place. The callers that asked before share the cell that they found, so each cell's value is made once,
/// even if the registration is withdrawn meanwhile. A value that neither goes nor expires by itself is published, and
/// copied with no lock that threads share.
struct KeptValue: ~Copyable, Sendable {
  struct State: Sendable {
    /// A value, or one that is being made.
    var cell: (any AnyKeptCell)?
    /// In a box, since a weak field costs each registration that has no use for it.
    var weak: Box<WeakReference>?
    /// When the value is too old, on the clock.
    var deadline: Duration?
    var resetCount = 0
    var isRetired = false
  }

  /// The address of the value; guarded by the readers' lock.
  private let published = Atomic<UInt>(0)
  private let state = Lock(State())
  let lifetime: ScopeLifetime
  /// The age at which a value is too old.
  let expiry: Duration?
  /// What values grow old by; nil if they don't.
  private let clock: ElapsedClock?

  init(lifetime: ScopeLifetime, expiry: Duration?, clock: @autoclosure () -> ElapsedClock) {
    self.lifetime = lifetime
    self.expiry = expiry
    self.clock = expiry == nil ? nil : clock()
  }

  /// Hands the memory of the value over, if it is published; returns whether it was.
  ///
  /// - Precondition: The caller is in `ThreadState.read`, and copies the value there.
  @inline(__always) func readPublished(_ body: (ValueMemory) -> Void) -> Bool {
    guard let memory = ValueMemory(at: published.load(ordering: .acquiring)) else { return false }
    body(memory)
    return true
  }

  /// The value that is kept, else the one that `make` makes: once for all who find the same cell, with no lock held.
  ///
  /// If `make` throws, each that waited tries for itself.
  @inline(never) func value<Value>(
    of type: Value.Type, on thread: CurrentThread,
    make: (GateID) throws(InjectionError) -> Value
  ) throws(InjectionError) -> Value {
    while true {
      let cell: KeptCell<Value>
      switch look(for: type) {
      case .value(let value): return value
      case .cell(let found): cell = found
      }
      let found = cell.gate.current
      if found == CreationGate.ready { return cell.value }
      if found == CreationGate.vacant, cell.gate.begin(from: found, on: thread.id) {
        do throws(InjectionError) { cell.memory.put(try make(cell.gate.identity)) } catch {
          cell.gate.settle(as: CreationGate.vacant, on: thread.id)
          throw error
        }
        keep(cell)
        cell.gate.settle(as: CreationGate.ready, on: thread.id)
        return cell.value
      }
      if CreationGate.isBusy(found) {
        try cell.gate.wait(for: type, on: thread)
        // Even if the scope keeps it no longer: it is what this thread has waited for.
        if cell.gate.isReady { return cell.value }
      }
    }
  }

  private enum Look<Value> {
    case value(Value)
    case cell(KeptCell<Value>)
  }

  /// The weakly kept value if it is there, else the current cell, else a new one.
  private func look<Value>(for type: Value.Type) -> Look<Value> {
    // The clock may be anyone's, so it is asked with no lock held.
    let now = clock?.now
    let (look, expired) = state.withLock { state -> (Look<Value>, (any AnyKeptCell)?) in
      var expired: (any AnyKeptCell)?
      if let now, let deadline = state.deadline, deadline <= now {
        expired = state.cell
        (state.cell, state.weak, state.deadline) = (nil, nil, nil)
      }
      if let object = state.weak?.content.object, let value = object as? Value { return (.value(value), expired) }
      if let cell = state.cell as? KeptCell<Value> { return (.cell(cell), expired) }
      let cell = KeptCell<Value>()
      state.cell = cell
      return (.cell(cell), expired)
    }
    // An old value's deinitializer may ask for the new one: it finds a vacant cell, and no lock held.
    withExtendedLifetime(expired) {}
    return look
  }

  /// The value that is kept, if it is there and not too old; for callers that can't make one.
  func current<Value>(as type: Value.Type) -> Value? {
    switch look(for: type) {
    case .value(let value): value
    case .cell(let cell): cell.gate.isReady ? cell.value : nil
    }
  }

  /// Counts how often the value was forgotten.
  var resetCount: Int { state.withLock(\.resetCount) }

  /// Keeps a value that was made elsewhere, unless the value was forgotten since `count` was read.
  func keep<Value>(_ value: Value, since count: Int) {
    let cell = KeptCell<Value>()
    cell.memory.put(value)
    cell.gate.state.store(CreationGate.ready, ordering: .releasing)
    let (isCurrent, dropped) = state.withLock { state -> (Bool, (any AnyKeptCell)?) in
      if state.resetCount != count || state.isRetired { return (false, nil) }
      let dropped = state.cell
      (state.cell, state.weak, state.deadline) = (cell, nil, nil)
      return (true, dropped)
    }
    // An expired value may still be there; its deinitializer runs with no lock held.
    withExtendedLifetime(dropped) {}
    if isCurrent { keep(cell) }
  }

  /// Keeps a cell's value in the scope's way, if the cell is still the current one.
  private func keep<Value>(_ cell: KeptCell<Value>) {
    // A nil is never kept.
    let isNothing = (cell.value as? any OptionalValue).map { $0.content == nil } ?? false
    let weak =
      lifetime.isWeak && !isNothing
      ? Box(WeakReference(cell.value, declaredBy: "Scope .weak of \(Value.self)")) : nil
    let deadline = expiry.flatMap { age in clock.map { $0.now + age } }
    state.withLock { state in
      guard state.cell === cell else { return }
      if lifetime.isWeak || isNothing {
        (state.cell, state.weak) = (nil, weak)
      } else if deadline == nil && !state.isRetired {
        published.store(cell.memory.place, ordering: .releasing)
      }
      state.deadline = deadline
    }
  }

  /// Forgets the value, and the one that is being made: only the callers that asked for that one before get it.
  func reset() { forget { _ in true } }

  /// Forgets the value for good.
  ///
  /// One that is being made goes to all who ask this registration until it is gone.
  func retire() {
    forget { state in
      state.isRetired = true
      return state.cell?.isReady ?? true
    }
  }

  /// Takes the value away, if `shouldDrop` says so; it is released after the last reader, with no lock held.
  private func forget(_ shouldDrop: (inout State) -> Bool) {
    let dropped = state.withLock { state -> (any AnyKeptCell)? in
      state.resetCount += 1
      guard shouldDrop(&state) else { return nil }
      defer { (state.cell, state.weak, state.deadline) = (nil, nil, nil) }
      published.store(0, ordering: .releasing)
      return state.cell
    }
    if dropped != nil { ThreadState.awaitReaders() }
    withExtendedLifetime(dropped) {}
  }
}

protocol AnyKeptCell: AnyObject, Sendable {
  var isReady: Bool { get }
}

/// One value of a registration, written once.
///
/// `@unchecked Sendable`: the thread that began the gate writes the value before it settles the gate, and others read it
/// after; a value is kept for several threads only if it is `Sendable`, as the public scopes that do so demand.
private final class KeptCell<Value>: AnyKeptCell, @unchecked Sendable {
  let gate = CreationGate()
  let memory = ValueMemory.allocate(for: Value.self)

  var isReady: Bool { gate.isReady }
  var value: Value { memory.value() }

  deinit {
    if isReady { memory.destroy(Value.self) }
    memory.deallocate()
  }
}

/// A constant behind a reference.
final class Box<Content: Sendable>: Sendable {
  let content: Content

  init(_ content: Content) { self.content = content }
}

/// A weak reference to an object that others hold.
///
/// `@unchecked Sendable`: weak references are themselves safe to read while the object goes, this one never changes, and
/// the object is handed to other threads only by what is limited to `Sendable` values: shared scopes, registries, and
/// wrappers of such values.
package struct WeakReference: @unchecked Sendable {
  package private(set) weak var object: AnyObject?

  init(_ object: AnyObject) { self.object = object }

  /// Creates a reference to a value of a type that only classes have, or to what an Optional of one wraps.
  ///
  /// - Precondition: `value` is an object, or an Optional with one.
  package init(_ value: Any, declaredBy declaration: @autoclosure () -> String) {
    let content = (value as? any OptionalValue).map(\.content) ?? value
    guard let content, type(of: content) is any AnyObject.Type else {
      trap(
        """
        \(declaration()) got a \(TypeName.of(type(of: value))), which isn't an object, and only an object can be held \
        weakly. Keep it in another way.
        """)
    }
    object = content as AnyObject
  }
}
