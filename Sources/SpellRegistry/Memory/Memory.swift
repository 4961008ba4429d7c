public import Synchronization

// This file has the unsafe memory that the rest of the module is built on. Expressions that the compiler can't prove to
// be memory-safe say `unsafe`. Except for `SourcePlace`, all of them are in this folder and in `Platform`. The compiler
// trusts the types below, so their users must keep the preconditions.

/// Memory for one value, whose type is known only to the code that asks for the value and the code that makes it.
///
/// The code in between passes the memory on, and is compiled once for all types.
///
/// - Precondition: Both sides use the same type, and the memory exists for as long as this struct is used.
@safe @frozen @usableFromInline package struct ValueMemory {
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable init(_ address: UnsafeMutableRawPointer) { unsafe self.address = address }

  /// Puts a value in the memory, which must not contain one yet.
  @inline(__always) @inlinable package func put<Value>(_ value: Value) {
    unsafe address.initializeMemory(as: Value.self, to: value)
  }

  /// Returns a copy of the value.
  @inline(__always) @inlinable package func value<Value>(as type: Value.Type = Value.self) -> Value {
    unsafe address.assumingMemoryBound(to: type).pointee
  }

  /// Returns the value that `initialize` puts in temporary memory on the stack.
  @inline(__always) @inlinable package static func value<Value, Failure>(
    of type: Value.Type = Value.self, by initialize: (ValueMemory) throws(Failure) -> Void
  ) throws(Failure) -> Value {
    try unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer throws(Failure) in
      guard let memory = buffer.baseAddress else { preconditionFailure("The stack gave no memory for a \(type).") }
      try unsafe initialize(ValueMemory(memory))
      return unsafe memory.move()
    }
  }

  /// Returns the value that `initialize` puts in temporary memory on the stack, or nil if it returns false.
  @inline(__always) @inlinable static func optionalValue<Value, Failure>(
    of type: Value.Type = Value.self, by initialize: (ValueMemory) throws(Failure) -> Bool
  ) throws(Failure) -> Value? {
    try unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer throws(Failure) in
      guard let memory = buffer.baseAddress else { preconditionFailure("The stack gave no memory for a \(type).") }
      return try unsafe initialize(ValueMemory(memory)) ? memory.move() : nil
    }
  }

  // The operations below are for a value whose type is known only at run time.

  func copy(_ type: any Any.Type, from other: ValueMemory) {
    // This copies one value rather than its stride, which may be larger than the memory.
    func copy<Value>(_: Value.Type) {
      unsafe address.bindMemory(to: Value.self, capacity: 1)
        .initialize(to: other.address.assumingMemoryBound(to: Value.self).pointee)
    }
    _openExistential(type, do: copy)
  }

  func destroy(_ type: any Any.Type) {
    func destroy<Value>(_: Value.Type) { unsafe address.assumingMemoryBound(to: Value.self).deinitialize(count: 1) }
    _openExistential(type, do: destroy)
  }

  func any(_ type: any Any.Type) -> Any {
    func value<Value>(_: Value.Type) -> Any { self.value(as: Value.self) }
    return _openExistential(type, do: value)
  }

  /// Puts the value in the memory if it can be cast to the type; returns whether it can.
  func put(_ value: Any, as type: any Any.Type) -> Bool {
    func put<Value>(_: Value.Type) -> Bool {
      guard let value = value as? Value else { return false }
      self.put(value)
      return true
    }
    return _openExistential(type, do: put)
  }

  /// Puts an object in memory for a value of the object's class or of one of its superclasses.
  func putObject(_ object: AnyObject) { unsafe address.initializeMemory(as: AnyObject.self, to: object) }

  /// Returns one word of the memory, loaded atomically.
  func word(at index: Int) -> UInt {
    unsafe address.assumingMemoryBound(to: Atomic<UInt>.self)[index].load(ordering: .relaxed)
  }

  /// Returns memory on the heap, which the caller has to deallocate.
  static func allocate(for type: any Any.Type) -> ValueMemory {
    func allocate<Value>(_: Value.Type) -> ValueMemory {
      unsafe ValueMemory(UnsafeMutablePointer<Value>.allocate(capacity: 1))
    }
    return _openExistential(type, do: allocate)
  }

  func deallocate() { unsafe address.deallocate() }
}

/// Memory for one value on the heap, with the state of the value's creation.
///
/// `@unchecked Sendable`: the atomic `gate` guards the value, which one thread or task writes before it settles the
/// gate, and which others read only after they see the gate ready. The public scopes that share values require
/// `Sendable` values.
final class ValueCell: @unchecked Sendable {
  let type: any Any.Type
  let memory: ValueMemory
  let gate = CreationGate()

  init(_ type: any Any.Type) {
    (self.type, memory) = (type, .allocate(for: type))
  }

  deinit {
    if gate.isReady { memory.destroy(type) }
    memory.deallocate()
  }

  /// Puts a copy of the value in memory; the caller knows that there is a value.
  func copyValue(to memory: ValueMemory) { memory.copy(type, from: self.memory) }
}

/// An unretained reference to an object.
///
/// - Precondition: Other code keeps the object alive meanwhile. The function that pushes a frame keeps the frame's
///   registration and registry alive.
@safe struct Borrowed<Object: AnyObject>: Equatable, BitwiseCopyable {
  private let reference: Unmanaged<Object>

  init(_ object: Object) { unsafe reference = .passUnretained(object) }

  var object: Object { unsafe reference.takeUnretainedValue() }
  var id: ObjectIdentifier { unsafe reference._withUnsafeGuaranteedRef { ObjectIdentifier($0) } }

  static func == (left: Borrowed, right: Borrowed) -> Bool {
    unsafe left.reference.toOpaque() == right.reference.toOpaque()
  }
}

/// A type, stored as an identifier that is `Hashable` and `Sendable`.
struct ErasedType: Hashable, Sendable {
  let id: ObjectIdentifier

  init(_ type: any Any.Type) { id = ObjectIdentifier(type) }

  private typealias Metatype = any Any.Type
  var type: any Any.Type { unsafe unsafeBitCast(id, to: Metatype.self) }
}

// MARK: Properties

/// The memory of one property's value, preceded by its gate and the address of the process's epoch.
///
/// A read copies this struct out of the wrapper's field, and so doesn't retain the cell.
///
/// - Precondition: The cell that contains the memory is alive.
@safe @frozen @usableFromInline package struct PropertyMemory {
  /// The fields directly before the value, in the same block of memory.
  @safe @frozen @usableFromInline struct Head: ~Copyable {
    @usableFromInline let gate: CreationGate
    @usableFromInline let epoch: UnsafePointer<Epoch>
  }

  @usableFromInline let value: ValueMemory

  @inlinable init(_ value: ValueMemory) { self.value = value }

  @inlinable var head: Head {
    @inline(__always) unsafeAddress {
      unsafe UnsafePointer((value.address - MemoryLayout<Head>.size).assumingMemoryBound(to: Head.self))
    }
  }

  /// The current epoch of the process, in the form of a gate's `ready` state.
  var epoch: UInt { unsafe head.epoch.pointee.state.load(ordering: .acquiring) }

  /// Returns a copy of the value.
  @inline(__always) @inlinable package func read<Value>() -> Value { value.value() }

  /// Whether the value can be read with no lock.
  @inlinable package var isReady: Bool { @inline(__always) get { head.gate.isReady } }

  /// Whether the value can be read with no lock, and no epoch has begun since it was made.
  ///
  /// The load of the epoch is relaxed, because a thread that knows of a re-injection has synchronized with it.
  @inlinable package var isCurrent: Bool {
    @inline(__always) get {
      head.gate.state.load(ordering: .acquiring) == (unsafe head.epoch.pointee.state.load(ordering: .relaxed))
    }
  }
}

/// A count of the events after which injected properties check their values, in the form of a gate's `ready` state.
@frozen @usableFromInline struct Epoch: ~Copyable {
  @usableFromInline let state = Atomic(CreationGate.ready)

  /// `@unchecked Sendable`: the pointer never changes, its target lives as long as the process, and `state` is atomic.
  @safe struct Address: @unchecked Sendable {
    fileprivate let pointer: UnsafePointer<Epoch>
    /// Begins the next epoch, and returns its state.
    func advance() -> UInt { unsafe pointer.pointee.state.add(CreationGate.unit, ordering: .releasing).newValue }
  }

  static let current: Address = {
    let pointer = UnsafeMutablePointer<Epoch>.allocate(capacity: 1)
    unsafe pointer.initialize(to: Epoch())
    return unsafe Address(pointer: UnsafePointer(pointer))
  }()
}

/// The single allocation of a property: its fields, its gate, and its value.
///
/// The class isn't generic, so that neither creating nor freeing a cell looks up a generic type at run time. Its header
/// is the address of the value. The fields and the head precede the value.
@usableFromInline package final class PropertyCell: ManagedBuffer<PropertyMemory, UInt64> {
  /// Returns a cell without a value.
  static func allocate(size: Int, alignment: Int, _ fields: () -> PropertyFields) -> PropertyCell {
    let front = MemoryLayout<PropertyFields>.stride + MemoryLayout<PropertyMemory.Head>.size
    // Memory comes in units of eight bytes. For a larger alignment, extra units leave room to move the value up.
    let alignment = max(MemoryLayout<UInt64>.alignment, alignment)
    let units = (front + size + alignment - 1) / MemoryLayout<UInt64>.size
    let buffer = PropertyCell.create(minimumCapacity: units) { buffer in
      let start = unsafe buffer.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
      let value = unsafe (start + front).alignedUp(toMultipleOf: alignment)
      let head = unsafe value - MemoryLayout<PropertyMemory.Head>.size
      unsafe head.bindMemory(to: PropertyMemory.Head.self, capacity: 1)
        .initialize(to: PropertyMemory.Head(gate: CreationGate(), epoch: Epoch.current.pointer))
      unsafe (head - MemoryLayout<PropertyFields>.stride).bindMemory(to: PropertyFields.self, capacity: 1)
        .initialize(to: fields())
      return PropertyMemory(unsafe ValueMemory(value))
    }
    return unsafe unsafeDowncast(buffer, to: PropertyCell.self)
  }

  /// The memory of the value, read by pointer, since the exclusivity check of the header costs more than the read.
  @usableFromInline var memory: PropertyMemory {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee }
  }

  private var fieldsAddress: UnsafeMutablePointer<PropertyFields> {
    let offset = MemoryLayout<PropertyFields>.stride + MemoryLayout<PropertyMemory.Head>.size
    return unsafe (memory.value.address - offset).assumingMemoryBound(to: PropertyFields.self)
  }

  /// The state of the property apart from its value, through an addressor, which copies nothing.
  var fields: PropertyFields { @inline(__always) unsafeAddress { unsafe UnsafePointer(fieldsAddress) } }

  deinit {
    if fields.hasValue.load(ordering: .relaxed) { memory.value.destroy(fields.type) }
    unsafe fieldsAddress.deinitialize(count: 1)
  }
}

// MARK: Threads

/// A reference to the calling thread's state.
///
/// - Precondition: The reference stays on its thread.
@safe struct CurrentThread {
  private let state: UnsafeMutablePointer<ThreadState>

  private static let storage = unsafe ThreadLocalPointer {
    let state = unsafe $0.assumingMemoryBound(to: ThreadState.self)
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// The state of the calling thread, which is created on first use and freed when the thread ends.
  static var current: CurrentThread {
    if let state = unsafe storage.pointer {
      return unsafe CurrentThread(state: state.assumingMemoryBound(to: ThreadState.self))
    }
    return begin()
  }

  @inline(never) private static func begin() -> CurrentThread {
    let state = UnsafeMutablePointer<ThreadState>.allocate(capacity: 1)
    unsafe state.initialize(to: ThreadState())
    unsafe storage.pointer = UnsafeMutableRawPointer(state)
    return unsafe CurrentThread(state: state)
  }

  var fields: ThreadState {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(state) }
    @inline(__always) nonmutating unsafeMutableAddress { unsafe state }
  }
}

/// The frames of one thread, the innermost last, in memory that only this thread uses.
///
/// An array would check at each change that no other array shares its elements, and retain them for each search
/// (benchmark: "resolve a graph of five"). The owner calls ``free()``.
@safe struct FrameStack: RandomAccessCollection {
  private var base = UnsafeMutablePointer<Frame>.allocate(capacity: 16)
  private var capacity = 16
  private(set) var endIndex = 0

  var startIndex: Int { 0 }
  subscript(index: Int) -> Frame { @inline(__always) get { unsafe base[index] } }

  @inline(__always) mutating func append(_ frame: Frame) {
    if endIndex == capacity { grow() }
    unsafe (base + endIndex).initialize(to: frame)
    endIndex += 1
  }

  /// Removes the innermost frame; a frame refers to nothing that it owns, so there is nothing to release.
  @inline(__always) mutating func removeLast() { endIndex -= 1 }

  /// Sets whether objects made in the innermost frame, if there is one, link to their registry weakly.
  mutating func note(linksWeakly: Bool) {
    if endIndex > 0 { unsafe base[endIndex - 1].linksWeakly = linksWeakly }
  }

  @inline(never) private mutating func grow() {
    let larger = UnsafeMutablePointer<Frame>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: base, count: endIndex)
    unsafe base.deallocate()
    unsafe (base, capacity) = (larger, capacity * 2)
  }

  func free() { unsafe base.deallocate() }
}

/// Returns the address of a value that never moves, as an identity that is only compared, never dereferenced.
///
/// - Precondition: The value contains an atomic. The compiler may pass a copy of any other value, with another address.
@inline(__always) func address<Thing: ~Copyable>(of thing: borrowing Thing) -> UInt {
  unsafe withUnsafePointer(to: thing) { UInt(bitPattern: $0) }
}
