public import Synchronization

// The unsafe memory that the rest of this module is built on. An expression that the compiler can't prove to be memory-safe
// has to say `unsafe`, and all of them are in this file and in `Platform`. The compiler trusts the types below: each has a
// precondition, which their users keep.

/// Memory for one value, whose type only the code at its two ends knows: the code that asks, and the code that makes.
///
/// The code in between hands it on, and is compiled once for all types.
///
/// - Precondition: Both ends mean the same type, and the memory lives for as long as this is used.
@safe @frozen @usableFromInline package struct ValueMemory {
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable init(_ address: UnsafeMutableRawPointer) { unsafe self.address = address }

  /// Puts a value in memory that has none.
  @inline(__always) @inlinable package func put<Value>(_ value: Value) {
    unsafe address.initializeMemory(as: Value.self, to: value)
  }

  /// A copy of the value.
  @inline(__always) @inlinable package func value<Value>(as type: Value.Type = Value.self) -> Value {
    unsafe address.assumingMemoryBound(to: type).pointee
  }

  /// The value that `initialize` puts in memory on the stack.
  @inline(__always) @inlinable package static func value<Value, Failure>(
    of type: Value.Type = Value.self, by initialize: (ValueMemory) throws(Failure) -> Void
  ) throws(Failure) -> Value {
    try unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer throws(Failure) in
      guard let memory = buffer.baseAddress else { preconditionFailure("The stack gave no memory for a \(type).") }
      try unsafe initialize(ValueMemory(memory))
      return unsafe memory.move()
    }
  }

  // Operations on a value whose type only the runtime knows.

  func copy(_ type: any Any.Type, from other: ValueMemory) {
    // One value and not its stride, which may be larger than the memory.
    func copy<Value>(_: Value.Type) {
      unsafe address.initializeMemory(as: Value.self, to: other.address.assumingMemoryBound(to: Value.self).pointee)
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

  /// Puts a value in memory if it is of the type; returns whether it is.
  func put(_ value: Any, as type: any Any.Type) -> Bool {
    func put<Value>(_: Value.Type) -> Bool {
      guard let value = value as? Value else { return false }
      self.put(value)
      return true
    }
    return _openExistential(type, do: put)
  }

  /// Memory on the heap, to be deallocated.
  static func allocate(for type: any Any.Type) -> ValueMemory {
    func allocate<Value>(_: Value.Type) -> ValueMemory {
      unsafe ValueMemory(UnsafeMutablePointer<Value>.allocate(capacity: 1))
    }
    return _openExistential(type, do: allocate)
  }

  func deallocate() { unsafe address.deallocate() }
}

/// One value on the heap, and how far it is.
///
/// `@unchecked Sendable`: the thread that began the gate writes the value before it settles the gate, and others read it after.
/// Values that several threads read are `Sendable`, as the public scopes that share them demand.
final class ValueCell: @unchecked Sendable {
  let type: any Any.Type
  let memory: ValueMemory
  let gate = CreationGate()

  init(_ type: any Any.Type) {
    self.type = type
    memory = .allocate(for: type)
  }

  deinit {
    if gate.isReady { memory.destroy(type) }
    memory.deallocate()
  }
}

/// The address of a value that may be copied, if it exists.
///
/// - Precondition: All that read and change it hold one lock, and the value lives until it is withdrawn.
struct PublishedMemory: ~Copyable, Sendable {
  private let bits = Atomic<UInt>(0)

  var memory: ValueMemory? {
    @inline(__always) get {
      unsafe UnsafeMutableRawPointer(bitPattern: bits.load(ordering: .relaxed)).map { unsafe ValueMemory($0) }
    }
  }

  func publish(_ memory: ValueMemory?) {
    bits.store(memory.map { unsafe UInt(bitPattern: $0.address) } ?? 0, ordering: .relaxed)
  }
}

/// An object that is used without counting a reference of its own.
///
/// - Precondition: Something else holds the object meanwhile: a frame's registration and registry are held by the function that
///   pushes the frame.
@safe struct Borrowed<Object: AnyObject>: Equatable {
  private let reference: Unmanaged<Object>

  init(_ object: Object) { unsafe reference = .passUnretained(object) }

  var object: Object { unsafe reference.takeUnretainedValue() }
  var id: ObjectIdentifier { unsafe reference._withUnsafeGuaranteedRef { ObjectIdentifier($0) } }

  static func == (left: Borrowed, right: Borrowed) -> Bool {
    unsafe left.reference.toOpaque() == right.reference.toOpaque()
  }
}

/// A type as a number, so that a struct that has it isn't taken for `Sendable`, nor for what can't be checked.
struct ErasedType: Hashable, Sendable {
  let id: ObjectIdentifier

  init(_ type: any Any.Type) { id = ObjectIdentifier(type) }

  private typealias Metatype = any Any.Type
  var type: any Any.Type { unsafe unsafeBitCast(id, to: Metatype.self) }
}

// MARK: Properties

/// The memory of one property's value; in front of it are its gate and the address of the process's epoch.
///
/// A read projects this out of the wrapper's field, and so counts no reference.
///
/// - Precondition: The cell that has the memory lives.
@safe @frozen @usableFromInline package struct PropertyMemory {
  /// In front of the value, in one block.
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

  /// A copy of the value.
  @inline(__always) @inlinable package func read<Value>() -> Value { value.value() }

  /// Whether the value can be read with no lock.
  @inlinable package var isReady: Bool { @inline(__always) get { head.gate.isReady } }

  /// Whether the value can be read with no lock, and nothing was re-injected since it was made.
  ///
  /// The second load is relaxed: a thread that knows of a re-injection has synchronized with it.
  @inlinable package var isCurrent: Bool {
    @inline(__always) get {
      head.gate.state.load(ordering: .acquiring) == (unsafe head.epoch.pointee.state.load(ordering: .relaxed))
    }
  }
}

/// The number of re-injections in the process, as the state of a gate that is ready.
@frozen @usableFromInline struct Epoch: ~Copyable {
  @usableFromInline let state = Atomic(CreationGate.ready)

  /// The address never changes, and its content is atomic; it lives as long as the process.
  @safe struct Address: @unchecked Sendable {
    fileprivate let pointer: UnsafePointer<Epoch>
    var state: UInt { unsafe pointer.pointee.state.load(ordering: .acquiring) }
    /// Begins the next epoch.
    func advance() -> UInt { unsafe pointer.pointee.state.add(CreationGate.unit, ordering: .releasing).newValue }
  }

  static let current: Address = {
    let pointer = UnsafeMutablePointer<Epoch>.allocate(capacity: 1)
    unsafe pointer.initialize(to: Epoch())
    return unsafe Address(pointer: UnsafePointer(pointer))
  }()
}

/// One allocation for one property: what its declaration says, its gate, and its value.
///
/// It isn't generic, so that neither making nor freeing one looks for a generic type at run time. Its header is the address of
/// the value; in front of that are the head and the fields.
@usableFromInline package final class PropertyCell: ManagedBuffer<PropertyMemory, UInt64> {
  /// A cell without a value.
  static func allocate(size: Int, alignment: Int, _ fields: () -> PropertyFields) -> PropertyCell {
    let front = MemoryLayout<PropertyFields>.stride + MemoryLayout<PropertyMemory.Head>.size
    // Memory comes in units of eight bytes; a coarser alignment finds its place in some more of them.
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

  /// The address of the value; by pointer, since the language's own check of an access costs more than the rest.
  @usableFromInline var memory: PropertyMemory {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee }
  }

  private var fieldsAddress: UnsafeMutablePointer<PropertyFields> {
    let offset = MemoryLayout<PropertyFields>.stride + MemoryLayout<PropertyMemory.Head>.size
    return unsafe (memory.value.address - offset).assumingMemoryBound(to: PropertyFields.self)
  }

  /// The state of the cell besides its value; by an addressor, so that nothing is copied.
  var fields: PropertyFields { @inline(__always) unsafeAddress { unsafe UnsafePointer(fieldsAddress) } }

  deinit {
    if fields.hasValue.load(ordering: .relaxed) { memory.value.destroy(fields.type) }
    unsafe fieldsAddress.deinitialize(count: 1)
  }
}

// MARK: Threads

/// The calling thread's state, as the thread itself uses it.
///
/// - Precondition: It stays on its thread.
@safe struct CurrentThread {
  private let state: UnsafeMutablePointer<ThreadState>

  private static let storage = unsafe ThreadLocalPointer {
    let state = unsafe $0.assumingMemoryBound(to: ThreadState.self)
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Made when it is first asked for, and freed when the thread ends.
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

/// Returns the address of a value that never moves, as an identity that is compared and never followed.
///
/// - Precondition: The value contains an atomic. The compiler passes a copy of other values, which has another address.
@inline(__always) func address<Thing: ~Copyable>(of thing: borrowing Thing) -> UInt {
  unsafe withUnsafePointer(to: thing) { UInt(bitPattern: $0) }
}
