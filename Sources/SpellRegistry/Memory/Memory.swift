public import Synchronization

// This file contains the unsafe memory code that the rest of the module is built on. The keyword `unsafe` marks each
// expression that the compiler can't prove to be memory-safe. All these expressions are in this folder and in
// `Platform`, except for a few in `SourcePlace`. The compiler trusts the types below, so code that uses them must keep
// their preconditions.

/// Untyped memory for one value.
///
/// Only the code that requests the value and the code that makes the value know the value's type. The code between
/// them, which only hands on the memory, is compiled once for all types.
///
/// - Precondition: The code that makes the value uses the same type as the code that requests it, and the memory exists
///   for as long as this struct is used.
@safe @frozen @usableFromInline package struct ValueMemory {
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable init(_ address: UnsafeMutableRawPointer) { unsafe self.address = address }

  /// Stores a value in the memory, which must be uninitialized.
  @inline(__always) @inlinable package func put<Value>(_ value: Value) {
    unsafe address.initializeMemory(as: Value.self, to: value)
  }

  /// Returns a copy of the stored value, which must be of the given type.
  @inline(__always) @inlinable package func value<Value>(as type: Value.Type = Value.self) -> Value {
    unsafe address.assumingMemoryBound(to: type).pointee
  }

  /// Returns the value that `initialize` puts in temporary memory, which is on the stack if possible.
  @inline(__always) @inlinable package static func value<Value, Failure>(
    of type: Value.Type = Value.self, by initialize: (ValueMemory) throws(Failure) -> Void
  ) throws(Failure) -> Value {
    try unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer throws(Failure) in
      guard let memory = buffer.baseAddress else { preconditionFailure("The stack gave no memory for a \(type).") }
      try unsafe initialize(ValueMemory(memory))
      return unsafe memory.move()
    }
  }

  /// Returns the value that `initialize` puts in temporary memory, or nil if `initialize` returns false.
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
    // Only as many bytes as the value's size are written, because the memory may be smaller than the type's stride.
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

  /// Whether the value is nil; false if its type isn't an Optional.
  func isNil(_ type: any Any.Type) -> Bool {
    ErasedType(type).isOptional && (any(type) as? any OptionalValue).map { $0.content == nil } ?? false
  }

  /// Stores a value in the memory if a cast of the value to `type` succeeds, and returns whether the cast succeeds.
  func put(_ value: Any, as type: any Any.Type) -> Bool {
    func put<Value>(_: Value.Type) -> Bool {
      guard let value = value as? Value else { return false }
      self.put(value)
      return true
    }
    return _openExistential(type, do: put)
  }

  /// Stores an object in the memory as a value of the object's class or of one of its superclasses.
  func putObject(_ object: AnyObject) { unsafe address.initializeMemory(as: AnyObject.self, to: object) }

  /// Returns one word of the memory, loaded atomically.
  ///
  /// - Parameter index: The offset of the word in the memory, counted in words.
  func word(at index: Int) -> UInt {
    unsafe address.assumingMemoryBound(to: Atomic<UInt>.self)[index].load(ordering: .relaxed)
  }

  /// Returns new, uninitialized memory on the heap, which the caller must deallocate.
  static func allocate(for type: any Any.Type) -> ValueMemory {
    func allocate<Value>(_: Value.Type) -> ValueMemory {
      unsafe ValueMemory(UnsafeMutablePointer<Value>.allocate(capacity: 1))
    }
    return _openExistential(type, do: allocate)
  }

  func deallocate() { unsafe address.deallocate() }
}

/// An unretained reference to an object.
///
/// - Precondition: Other code keeps the object alive while this reference is used. For example, the function that
///   pushes a `Frame` keeps the frame's registration and registry alive.
@safe struct Borrowed<Object: AnyObject>: Equatable, BitwiseCopyable {
  private let reference: Unmanaged<Object>

  init(_ object: Object) { unsafe reference = .passUnretained(object) }

  var object: Object { unsafe reference.takeUnretainedValue() }
  var id: ObjectIdentifier { withObject { ObjectIdentifier($0) } }

  /// Calls `body` with the object, without retaining the object.
  @inline(__always) func withObject<Result>(_ body: (Object) -> Result) -> Result {
    unsafe reference._withUnsafeGuaranteedRef(body)
  }

  static func == (left: Borrowed, right: Borrowed) -> Bool {
    unsafe left.reference.toOpaque() == right.reference.toOpaque()
  }
}

/// A type, stored as an identifier that is `Hashable` and `Sendable`.
struct ErasedType: Hashable, Sendable {
  let id: ObjectIdentifier

  init(_ type: any Any.Type) { id = ObjectIdentifier(type) }

  /// Whether the type is an Optional.
  ///
  /// This is the kind in the first word of the runtime's metadata, because a cast would search for a conformance at the
  /// first read of each property (benchmark: "make+read 1").
  var isOptional: Bool { unsafe unsafeBitCast(id, to: UnsafePointer<Int>.self).pointee == 0x202 }

  private typealias Metatype = any Any.Type
  var type: any Any.Type { unsafe unsafeBitCast(id, to: Metatype.self) }
}

// MARK: Properties

/// The memory of one property's value, which directly follows the `Head` that contains the value's state.
///
/// To avoid retaining the `PropertyCell`, a read of the property copies this struct out of the property wrapper.
///
/// - Precondition: The `PropertyCell` that contains the memory is alive.
@safe @frozen @usableFromInline package struct PropertyMemory {
  /// The creation state of a property's value, and the address of the ``Epoch`` that all properties share.
  ///
  /// In memory, the head is directly before the value.
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

  /// The current state of the ``Epoch`` that all properties share, encoded like the `ready` state of a `CreationGate`.
  var epoch: UInt { unsafe head.epoch.pointee.state.load(ordering: .acquiring) }

  /// Returns a copy of the value.
  @inline(__always) @inlinable package func read<Value>() -> Value { value.value() }

  /// Whether this memory contains the property's value, which can then be read without a lock.
  ///
  /// The result is also false while a re-injection replaces the value, and if a later value is in other memory.
  @inlinable package var isReady: Bool { @inline(__always) get { head.gate.isReady } }

  /// Whether ``isReady`` is true, and the value was made, assigned or last checked in the current epoch.
  ///
  /// The load of the epoch is relaxed: a thread that knows of a re-injection has already synchronized with the thread
  /// that requested the re-injection.
  @inlinable package var isCurrent: Bool {
    @inline(__always) get {
      head.gate.state.load(ordering: .acquiring) == (unsafe head.epoch.pointee.state.load(ordering: .relaxed))
    }
  }
}

/// A counter of the events after which each injected property checks whether its value is outdated.
///
/// The count is encoded like the `ready` state of a `CreationGate`.
@frozen @usableFromInline struct Epoch: ~Copyable {
  @usableFromInline let state = Atomic(CreationGate.ready)

  /// The address of the epoch that all properties of the process share.
  ///
  /// `@unchecked Sendable`: the pointer never changes, its target lives as long as the process, and `state` is atomic.
  @safe struct Address: @unchecked Sendable {
    fileprivate let pointer: UnsafePointer<Epoch>
    /// Starts the next epoch, and returns the new value of `state`.
    func advance() -> UInt { unsafe pointer.pointee.state.add(CreationGate.unit, ordering: .releasing).newValue }
  }

  static let current: Address = {
    let pointer = UnsafeMutablePointer<Epoch>.allocate(capacity: 1)
    unsafe pointer.initialize(to: Epoch())
    return unsafe Address(pointer: UnsafePointer(pointer))
  }()
}

/// The single allocation of a property, which contains its `PropertyFields`, its `CreationGate`, and its value.
///
/// The class isn't generic, so that neither creating nor freeing a cell looks up a generic type at run time. The header
/// of the buffer contains the value's address. In memory, the fields and the `PropertyMemory.Head` precede the value.
@usableFromInline package final class PropertyCell: ManagedBuffer<PropertyMemory, UInt64> {
  /// Returns a cell that doesn't contain a value yet.
  static func allocate(size: Int, alignment: Int, _ fields: () -> PropertyFields) -> PropertyCell {
    let front = MemoryLayout<PropertyFields>.stride + MemoryLayout<PropertyMemory.Head>.size
    // Memory comes in units of eight bytes. For a larger alignment, extra units leave room to align the value.
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

  /// The memory of the value, read by pointer from the header.
  ///
  /// The pointer avoids the exclusivity check of the header, which costs more than the read.
  @usableFromInline var memory: PropertyMemory {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee }
  }

  private var fieldsAddress: UnsafeMutablePointer<PropertyFields> {
    let offset = MemoryLayout<PropertyFields>.stride + MemoryLayout<PropertyMemory.Head>.size
    return unsafe (memory.value.address - offset).assumingMemoryBound(to: PropertyFields.self)
  }

  /// The fields that precede the value in memory, read in place through an addressor, which copies nothing.
  var fields: PropertyFields { @inline(__always) unsafeAddress { unsafe UnsafePointer(fieldsAddress) } }

  deinit {
    if fields.hasFirstValue.load(ordering: .relaxed) { memory.value.destroy(fields.type) }
    unsafe fieldsAddress.deinitialize(count: 1)
  }
}

/// Returns the address of a value that never moves, as an identity that is only compared, never dereferenced.
///
/// - Precondition: The value contains an atomic. For any other value, the compiler may pass a copy, which has a
///   different address.
@inline(__always) func address<Thing: ~Copyable>(of thing: borrowing Thing) -> UInt {
  unsafe withUnsafePointer(to: thing) { UInt(bitPattern: $0) }
}
