internal import Support
internal import Synchronization

/// A value that a registry no longer keeps, and has yet to release.
struct DroppedValue: Sendable {
  let cell: ValueCell
  /// The number of the value; a value that was made later has a larger number.
  let number: UInt64
  /// The registration that kept the value.
  let record: RegistrationRecord
  /// The registry that kept the value, if values of several registries are dropped together.
  var registry: InitializerRegistry?
}

/// The one value that a registration keeps for all requests: a singleton, or a weak, cached or expiring value.
///
/// A factory has one `KeptValue` for each list of arguments. The value itself is in a ``ValueCell``, which is written
/// once. All callers that find the same cell share its value. After a value is dropped, later callers find a new cell.
///
/// The registry's table owns the value: `state` is only read inside `table.read` or `table.change` of the registry that
/// contains the registration, and only changed inside `table.change`. The thread that takes a registration out of the
/// table then takes its value. A request gets a new cell only while the registration is in the table, and a value is only
/// stored in the current cell. Once its value was taken, a withdrawn registration therefore never has another.
///
/// `@unchecked Sendable`: the lock of the registry's table guards `state`, as described above.
final class KeptValue: @unchecked Sendable {
  private struct State: ~Copyable, Sendable {
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
    /// The number of the kept value; 0 if no value is kept, or if it is weak.
    ///
    /// A value that was made later has a larger number.
    var number: UInt64 = 0

    /// Copies the value to memory, without retaining the cell (benchmark: "Resolve a singleton").
    ///
    /// - Returns: Whether there is a value.
    @inline(__always) borrowing func copyValue(to memory: ValueMemory) -> Bool {
      guard let cell = cell.map({ Borrowed($0) }) else { return false }
      return cell.withObject { cell in
        guard cell.gate.isReady else { return false }
        cell.copyValue(to: memory)
        return true
      }
    }

    func isExpired(_ now: Duration?) -> Bool {
      guard let now, let deadline else { return false }
      return deadline <= now
    }
  }

  /// The service whose type is the value's type.
  let service: Service
  private let scope: ScopeLifetime
  /// Whether the value is weak and its type is a class, in which case the object needs no cast.
  private let isWeakOfClass: Bool
  private let expiry: (age: Duration, clock: ElapsedClock)?
  /// The state, to which the lock of the table gives exclusive access.
  ///
  /// The language's own check of exclusive access, at each use, would cost more than a lookup of the value.
  @exclusivity(unchecked) private var state = State()

  private static let lastNumber = Atomic<UInt64>(0)

  init(_ service: Service, _ scope: ScopeLifetime, expiry age: Duration?, by clock: ElapsedClock) {
    (self.service, self.scope) = (service, scope)
    isWeakOfClass = scope.isWeak && service.type is any AnyObject.Type
    expiry = age.map { ($0, clock) }
  }

  /// Copies the value to memory if there is one.
  ///
  /// - Returns: Whether there is a value.
  func copyIfReady(to memory: ValueMemory, in registry: InitializerRegistry) -> Bool {
    // The clock may run user code, so it is read with no lock held.
    let now = expiry?.clock.now
    let (isCopied, object) = registry.table.read { _ -> (Bool, Unchecked<AnyObject?>) in
      if unsafe state.isExpired(now) { return (false, Unchecked(value: nil)) }
      if unsafe state.copyValue(to: memory) { return (true, Unchecked(value: nil)) }
      return unsafe (false, Unchecked(value: state.weak.object))
    }
    return isCopied || deliver(object, to: memory)
  }

  private func deliver(_ object: Unchecked<AnyObject?>, to memory: ValueMemory) -> Bool {
    guard let object = object.value else { return false }
    if isWeakOfClass {
      memory.putObject(object)
      return true
    }
    return memory.put(object, as: service.type)
  }

  /// Copies the value to memory if there is one, and if this takes neither a look at the clock nor a cast.
  ///
  /// - Precondition: The caller is reading the table of the registry that contains the registration.
  /// - Returns: Whether a value was copied.
  @inline(__always) func copyInTable(to memory: ValueMemory) -> Bool {
    if expiry != nil { return false }
    if isWeakOfClass {
      guard let object = unsafe state.weak.object else { return false }
      memory.putObject(object)
      return true
    }
    return unsafe state.copyValue(to: memory)
  }

  /// Whether the value exists and hasn't expired.
  ///
  /// A weak value exists for as long as its object.
  func isReady(in registry: InitializerRegistry) -> Bool {
    let now = expiry?.clock.now
    // The object is part of the result, because its last reference mustn't be released while the lock is held.
    let (isReady, object) = registry.table.read { _ -> (Bool, Unchecked<AnyObject?>) in
      if unsafe state.isExpired(now) { return (false, Unchecked(value: nil)) }
      return unsafe (state.cell?.gate.isReady ?? false, Unchecked(value: state.weak.object))
    }
    return isReady || object.value != nil
  }

  enum FoundCell {
    /// There is a value, and it was copied to the caller's memory.
    case delivered
    /// The current cell, whose value the caller has to make or to wait for.
    case cell(ValueCell)
    /// The registration was withdrawn, so the caller has to find another registration.
    case withdrawn
  }

  /// Copies the value to memory if there is one, or else finds or creates the current cell.
  ///
  /// Before that, the function drops a value that has expired.
  func findCell(
    deliveringTo memory: ValueMemory, of record: RegistrationRecord, in registry: InitializerRegistry
  ) -> FoundCell {
    if copyIfReady(to: memory, in: registry) { return .delivered }
    let now = expiry?.clock.now
    var expired: DroppedValue?
    let (cell, object) = change(in: registry) { table, state -> (ValueCell?, Unchecked<AnyObject?>) in
      // A resolution may keep the values of a factory of scope `.graph` after the registration was withdrawn.
      if !scope.isGraph, !table.contains(record) { return (nil, Unchecked(value: nil)) }
      if state.isExpired(now) { expired = take(&state, from: record) }
      let cell = state.cell ?? ValueCell(service.type)
      state.cell = cell
      let object = state.weak.object
      // The caller may make a new value, which mustn't expire at the deadline of a former value.
      if object == nil && cell.gate.current == CreationGate.vacant { state.deadline = nil }
      return (cell, Unchecked(value: object))
    }
    if let expired { registry.drop(expired) }
    if deliver(object, to: memory) { return .delivered }
    return cell.map { .cell($0) } ?? .withdrawn
  }

  /// Keeps a cell's value as the scope specifies, unless the cell was dropped or replaced.
  func store(_ cell: ValueCell, in registry: InitializerRegistry) {
    // A scope never keeps nil.
    let isNothing = cell.memory.isNil(service.type)
    let weak =
      scope.isWeak && !isNothing
      ? WeakReference(cell.memory.any(service.type), declaredBy: "Scope .weak of \(service.type)") : WeakReference(nil)
    let deadline = expiry.map { $0.clock.now + $0.age }
    change(in: registry) { table, state in
      guard state.cell === cell else { return }
      if isNothing { return forget(&state) }
      state.deadline = deadline
      if scope.isWeak {
        (state.cell, state.weak) = (nil, weak)
      } else {
        state.number = Self.lastNumber.add(1, ordering: .relaxed).newValue
        table.hasKeptValues = true
      }
    }
  }

  /// Takes the value from the registration, so that the next request makes a new value.
  ///
  /// - Parameter makingOthers: Whether a value that is being made isn't kept, either: only the callers that have already
  ///   found its cell get that value. If this is false, the value is kept once it is made.
  /// - Returns: The value, which the caller has to drop with no lock held; nil if there is none.
  func take(
    from record: RegistrationRecord, makingOthers: Bool = true, changing _: inout RegistrationTable
  ) -> DroppedValue? {
    unsafe state.number == 0 && !makingOthers ? nil : take(&state, from: record)
  }

  private func take(_ state: inout State, from record: RegistrationRecord) -> DroppedValue? {
    defer { forget(&state) }
    guard state.number != 0, let cell = state.cell else { return nil }
    return DroppedValue(cell: cell, number: state.number, record: record)
  }

  /// Drops the cell of an async run that is over, so that the next request gets a new cell and begins another run.
  func drop(_ cell: ValueCell, in registry: InitializerRegistry) {
    change(in: registry) { _, state in if state.cell === cell && state.number == 0 { state.cell = nil } }
  }

  private func forget(_ state: inout State) {
    (state.cell, state.number, state.weak, state.deadline) = (nil, 0, WeakReference(nil), nil)
  }

  /// Lets `body` change the state, and then releases the former cell.
  ///
  /// It is released with no lock held, because a value's deinitializer may run any code.
  private func change<Result: Sendable>(
    in registry: InitializerRegistry, _ body: (inout RegistrationTable, inout State) -> Result
  ) -> Result {
    let (former, result) = registry.table.change { table -> (ValueCell?, Result) in
      let former = unsafe state.cell
      return unsafe (former, body(&table, &state))
    }
    withExtendedLifetime(former) {}
    return result
  }
}
