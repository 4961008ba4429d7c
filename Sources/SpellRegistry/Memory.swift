public import Synchronization

// The unsafe memory that the rest of this module is built on: room for a value, references that aren't counted, atomic words.
//
// An expression of this module that the compiler can't prove to be memory-safe has to say `unsafe`. The compiler trusts the
// types below: each has a precondition, which their users keep.

/// Memory for one value, whose type only the code at its two ends knows: what asks for the value, and what makes it.
///
/// What is in between hands it on, and is compiled once for all types.
///
/// - Precondition: Both ends mean the same type, and the memory lives for as long as this is used.
@safe @frozen @usableFromInline struct ValueMemory {
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable init(_ address: UnsafeMutableRawPointer) { unsafe self.address = address }

  /// Puts a value in memory that has none.
  @inline(__always) @inlinable func put<Value>(_ value: Value) {
    unsafe address.initializeMemory(as: Value.self, to: value)
  }

  /// A copy of the value that is there.
  @inline(__always) @inlinable func value<Value>(as type: Value.Type = Value.self) -> Value {
    unsafe address.assumingMemoryBound(to: type).pointee
  }

  /// Destroys the value that is there.
  @inlinable func destroy<Value>(_ type: Value.Type) {
    unsafe address.assumingMemoryBound(to: type).deinitialize(count: 1)
  }

  /// The value that `initialize` puts in memory for one, which is on the stack.
  @inline(__always) @inlinable static func value<Value, Failure>(
    of type: Value.Type, by initialize: (ValueMemory) throws(Failure) -> Void
  ) throws(Failure) -> Value {
    try unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer throws(Failure) in
      guard let memory = buffer.baseAddress else { preconditionFailure("The stack gave no memory for a \(type).") }
      try unsafe initialize(ValueMemory(memory))
      return unsafe memory.move()
    }
  }
}

extension ValueMemory {
  /// Memory on the heap, to be deallocated.
  static func allocate<Value>(for type: Value.Type) -> ValueMemory {
    unsafe ValueMemory(UnsafeMutablePointer<Value>.allocate(capacity: 1))
  }

  func deallocate() { unsafe address.deallocate() }

  /// The address as a number, such as an atomic has; 0 is none.
  var place: UInt { unsafe UInt(bitPattern: address) }

  init?(at place: UInt) {
    guard let address = unsafe UnsafeMutableRawPointer(bitPattern: place) else { return nil }
    unsafe self.init(address)
  }
}

/// An object that is used without counting a reference.
///
/// - Precondition: Something else holds the object meanwhile. A table holds its registrations, and a caller what it makes.
///
/// A count would be what all threads that resolve the same type wait for (benchmark: "resolve singleton, in two threads").
@safe @frozen @usableFromInline struct Borrowed<Object: AnyObject>: Equatable {
  @usableFromInline let object: Unmanaged<Object>

  @inlinable init(_ object: Object) { unsafe self.object = .passUnretained(object) }
  @inlinable init(unmanaged object: Unmanaged<Object>) { unsafe self.object = object }

  /// The object, retained: it may be used after what held it has let it go.
  var retained: Object { unsafe object.takeUnretainedValue() }

  /// Runs `body` with the object.
  @inline(__always) @inlinable func use<Result>(_ body: (Object) -> Result) -> Result {
    unsafe object._withUnsafeGuaranteedRef(body)
  }

  @usableFromInline static func == (left: Borrowed, right: Borrowed) -> Bool {
    unsafe left.object.toOpaque() == right.object.toOpaque()
  }
}

/// A reference that holds its object, or nothing, and that threads may read and change at once.
///
/// - Precondition: What is in it either stays for as long as this is used, or is read in `ThreadState.read` and exchanged in
///   `ThreadState.write`.
///
/// The standard library's `AtomicLazyReference` isn't compiled for its type, and takes a hundred times as long.
@safe @frozen @usableFromInline struct AtomicReference<Object: AnyObject>: ~Copyable {
  @usableFromInline let word: Atomic<Unmanaged<Object>?>

  @inlinable init() { unsafe word = Atomic(nil) }

  init(_ object: Object?) { unsafe word = Atomic(object.map { unsafe .passRetained($0) }) }

  @inlinable deinit { unsafe word.load(ordering: .acquiring)?.release() }

  @inlinable var borrowed: Borrowed<Object>? {
    @inline(__always) get { unsafe word.load(ordering: .acquiring).map { unsafe Borrowed(unmanaged: $0) } }
  }

  /// The object, if there is one.
  var object: Object? { borrowed?.retained }

  /// Whether there is none; relaxed.
  var isEmpty: Bool { unsafe word.load(ordering: .relaxed) == nil }

  /// Puts an object in, and returns the one that was there.
  func exchange(_ object: Object?) -> Object? {
    unsafe word.exchange(object.map { unsafe .passRetained($0) }, ordering: .acquiringAndReleasing)?.takeRetainedValue()
  }

  /// The object or, if there is none, the one that is made now; of several threads' objects, one stays.
  func object(_ make: () -> Object) -> Object {
    if let object { return object }
    let made = make()
    let (exchanged, other) = unsafe word.compareExchange(
      expected: nil, desired: .passRetained(made), ordering: .acquiringAndReleasing)
    if exchanged { return made }
    unsafe Unmanaged.passUnretained(made).release()
    return unsafe other?.takeUnretainedValue() ?? made
  }
}

extension AtomicReference: Sendable where Object: Sendable {}

/// Atomic words at an address of their own.
///
/// `@unchecked Sendable`: the pointer never changes, and what it points at is atomic, with the ordering that each use names.
///
/// - Precondition: They are deallocated after the last use.
@safe @frozen @usableFromInline struct AtomicWords: @unchecked Sendable {
  @frozen @usableFromInline struct Word: ~Copyable {
    @usableFromInline let value: Atomic<UInt>
  }
  @usableFromInline let words: UnsafeMutablePointer<Word>

  init(_ value: UInt, count: Int) {
    unsafe words = .allocate(capacity: count)
    for index in 0..<count { unsafe (words + index).initialize(to: Word(value: Atomic(value))) }
  }

  func deallocate(count: Int) {
    unsafe words.deinitialize(count: count)
    unsafe words.deallocate()
  }

  @inlinable var first: Word { @inline(__always) unsafeAddress { unsafe UnsafePointer(words) } }

  /// - Precondition: The index is that of a word.
  subscript(index: Int) -> Word {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(words + index) }
  }
}

/// Returns the address of a value that never moves, as an identity that is compared and never followed.
///
/// - Precondition: The value contains an atomic. The compiler passes a copy of other values, which has another address.
@inline(__always) @inlinable func address<Thing: ~Copyable>(of thing: borrowing Thing) -> UInt {
  unsafe withUnsafePointer(to: thing) { UInt(bitPattern: $0) }
}
