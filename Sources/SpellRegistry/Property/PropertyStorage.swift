internal import Support
public import Synchronization

/// The storage of one wrapped property: a cell that is written once and read with no lock.
///
/// A wrapper holds one of these and nothing else that changes. One call reads it:
///
/// ```swift
/// @propertyWrapper struct Stamped {
///   private let storage = PropertyStorage(PropertyDeclaration<Date>(place: SourcePlace(fileID: #fileID, line: #line)))
///   var wrappedValue: Date { storage.value { Date() } }
/// }
/// ```
///
/// Any number of threads may read at once, the first read included: one of them makes the value, with no lock held, and
/// the others wait for it. To assign or to reset, put new storage into the wrapper's field:
/// `storage = storage.replaced(with: value)`. Copies made before keep their value.
///
/// Declaring a property costs one allocation; a re-read costs one atomic load.
@frozen public struct PropertyStorage<Value> {
  /// Holds the memory that ``slot`` points to.
  @usableFromInline let buffer: PropertyBuffer.Erased
  @usableFromInline package let slot: PropertySlot<Value>

  /// Creates storage without a value.
  @inlinable public init(_ declaration: consuming PropertyDeclaration<Value>) {
    buffer = PropertyBuffer.allocate(size: PropertySlot<Value>.size, alignment: PropertySlot<Value>.alignment) { slot in
      PropertySlot<Value>(at: slot).deinitialize()
    }
    slot = PropertySlot(of: buffer)
    slot.initialize(declaration)
  }

  /// Creates storage with a value, in a state that is ready.
  @inlinable init(
    _ declaration: consuming PropertyDeclaration<Value>, value: consuming Value, state: UInt, isAssigned: Bool
  ) {
    self.init(declaration)
    slot.memory.put(value)
    slot.record.hasValue.store(true, ordering: .relaxed)
    slot.record.isAssigned.store(isAssigned, ordering: .relaxed)
    slot.record.gate.state.store(state, ordering: .releasing)
  }

  /// What the property's declaration says.
  public var declaration: PropertyDeclaration<Value> { slot.declaration }

  /// Which property this is the storage of.
  public var identity: PropertyIdentity { slot.record.identity }

  /// Returns the property as a request to the registry.
  public func point(in container: AnyObject?) -> InjectionPoint {
    InjectionPoint(service, of: identity, named: slot.fields.options?.alias, in: container)
  }

  /// What the property asks the registry for.
  var service: Service { Service(Value.self, key: slot.record.key) }

  /// Returns storage for the same property with another value, to be put in place of this.
  @inlinable public func replaced(with value: consuming Value) -> PropertyStorage {
    PropertyStorage(slot.declaration, value: value, state: slot.record.currentEpoch, isAssigned: true)
  }

  /// Returns storage for the same property without a value, to be put in place of this.
  @inlinable public func replacedWithNothing() -> PropertyStorage { PropertyStorage(slot.declaration) }
}

/// Where a property's value is: a header of the same shape for all types, then the value.
///
/// A read projects this out of the wrapper's field, and so counts no reference to the storage.
@safe @frozen @usableFromInline package struct PropertySlot<Value> {
  @usableFromInline let header: UnsafeMutablePointer<PropertyHeader<Value>>

  @inlinable init(at memory: ValueMemory) {
    unsafe header = memory.address.assumingMemoryBound(to: PropertyHeader<Value>.self)
  }

  @inline(__always) @inlinable init(of buffer: PropertyBuffer.Erased) { self.init(at: PropertyBuffer.slot(of: buffer)) }

  @inline(__always) @inlinable func initialize(_ declaration: consuming PropertyDeclaration<Value>) {
    unsafe UnsafeMutableRawPointer(header).bindMemory(to: PropertyHeader<Value>.self, capacity: 1)
      .initialize(to: PropertyHeader(declaration))
  }

  /// What the property has besides its value; by an addressor, as of a pointer, so that nothing is copied.
  @inlinable var fields: PropertyHeader<Value> { @inline(__always) unsafeAddress { unsafe UnsafePointer(header) } }

  /// What of that doesn't depend on the value's type.
  @inlinable var record: PropertyRecord {
    @inline(__always) unsafeAddress {
      unsafe UnsafePointer(UnsafeRawPointer(header).assumingMemoryBound(to: PropertyRecord.self))
    }
  }

  @inlinable var declaration: PropertyDeclaration<Value> {
    PropertyDeclaration(
      place: record.place, expression: fields.expression, reference: record.reference, key: record.key,
      options: fields.options)
  }

  /// Whether the value can be read with no lock.
  @inlinable package var isReady: Bool { record.gate.isReady }

  /// Whether the value can be read with no lock, and its type wasn't re-injected since it was made.
  ///
  /// The second load is relaxed: a thread that knows of a re-injection has synchronized with it.
  @inlinable package var isCurrent: Bool {
    record.gate.state.load(ordering: .acquiring) == record.epoch.first.value.load(ordering: .relaxed)
  }

  /// The value, without a look whether there is one.
  ///
  /// - Precondition: ``isReady`` or ``isCurrent`` was true, and the storage or the object that holds it is alive.
  @inlinable package var unsafeValue: Value { memory.value() }

  @inlinable var memory: ValueMemory { unsafe ValueMemory(UnsafeMutableRawPointer(header) + Self.offset) }

  @inlinable static var offset: Int {
    let mask = MemoryLayout<Value>.alignment - 1
    return (MemoryLayout<PropertyHeader<Value>>.size + mask) & ~mask
  }

  @inlinable static var size: Int { offset + MemoryLayout<Value>.size }

  @inlinable static var alignment: Int {
    max(MemoryLayout<PropertyHeader<Value>>.alignment, MemoryLayout<Value>.alignment)
  }

  /// Ends the life of the header and the value.
  @inlinable func deinitialize() {
    if record.hasValue.load(ordering: .relaxed) { memory.destroy(Value.self) }
    unsafe header.deinitialize(count: 1)
  }
}

/// What a property has besides its value.
///
/// Use its stored properties one by one: a copy of the declaration looks at the type.
@frozen @usableFromInline struct PropertyHeader<Value>: ~Copyable {
  /// First, so that it has the header's address.
  @usableFromInline var record: PropertyRecord
  @usableFromInline let expression: (() -> Value)?
  @usableFromInline let options: PropertyDeclaration<Value>.Options?

  @inlinable init(_ declaration: consuming PropertyDeclaration<Value>) {
    record = PropertyRecord(at: declaration.place, key: declaration.key, asking: declaration.reference)
    expression = declaration.expression
    options = declaration.options
  }
}

extension PropertyStorage {
  /// Whether there is a value.
  public var hasValue: Bool {
    let newest = newest
    return withExtendedLifetime(newest) { newest.slot.isReady }
  }

  /// The value, if there is one.
  public var value: Value? {
    let newest = newest
    return withExtendedLifetime(newest) { newest.slot.isReady ? newest.slot.unsafeValue : nil }
  }

  /// Returns the value: the one that is there, else the one that the registry gives, else the one that `make` makes.
  ///
  /// The value is made once, however many threads read, and kept; then the hooks are called. Stops the program if the
  /// registry has an initializer for the property that fails, or if the property needs its own value.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if one does.
  ///   - make: Makes the value if nothing is registered for the property; it runs with no lock held.
  @inlinable public func value(in container: AnyObject? = nil, _ make: () -> Value) -> Value {
    if slot.isReady { return withExtendedLifetime(self) { slot.unsafeValue } }
    return madeValue(in: container, make)
  }

  @usableFromInline func madeValue(in container: AnyObject?, _ make: () -> Value) -> Value {
    do throws(InjectionError) { return try makeValue(in: container) { _ in make() } } catch {
      error.stop(at: slot.record.place)
    }
  }

  /// The property as a person reads it: `Lazy<Int>(7, declared at App/Page.swift:3)`.
  ///
  /// - Parameter wrapper: The wrapper's name.
  public func description(of wrapper: String) -> String {
    let text = value.map { "\($0)" } ?? "no value yet"
    return "\(wrapper)<\(TypeName.of(Value.self))>(\(text), declared at \(slot.record.place))"
  }

  // A property of an object or a struct gets another value by getting other storage. Two kinds of change come while other
  // threads may be reading: re-injection, and the reset of a constant. They link newer storage to this. The first newer
  // storage is read with no lock and lives as long as this; any later one is found under the readers' lock, and goes when
  // the next takes its place. So at most two old values are kept until the property goes.

  /// The storage that has taken the place of all others; this one, if none has.
  var newest: PropertyStorage {
    guard let second = slot.record.newer.borrowed else { return self }
    let slot = second.use { PropertySlot<Value>(of: $0) }
    return PropertyStorage(ThreadState.current.read { (slot.record.newer.borrowed ?? second).retained })
  }

  private init(_ buffer: PropertyBuffer.Erased) {
    self.buffer = buffer
    slot = PropertySlot(of: buffer)
  }

  /// Links newer storage to this and wakes the threads that wait for a value of `old`; returns false if `old` is no longer
  /// the newest.
  func link(_ new: PropertyStorage, inPlaceOf old: PropertyStorage) -> Bool {
    let (isLinked, dropped) = PropertyBuffer.linking.withLock { _ in
      guard newest.buffer === old.buffer else {
        return Unchecked<(Bool, PropertyBuffer.Erased?)>(value: (false, nil))
      }
      guard let second = slot.newer else { return Unchecked(value: (true, slot.record.newer.exchange(new.buffer))) }
      return Unchecked(value: (true, ThreadState.write { second.record.newer.exchange(new.buffer) }))
    }.value
    if isLinked { old.slot.record.gate.replace() }
    // Released with no lock held: a deinitializer may do anything.
    withExtendedLifetime(dropped) {}
    return isLinked
  }
}

extension PropertySlot {
  /// The storage that was linked to this.
  @inlinable var newer: PropertySlot? { record.newer.borrowed?.use { PropertySlot(of: $0) } }

  /// The value of newer storage, if it can be read; with `inEpoch`, only if its type wasn't re-injected since.
  ///
  /// Benchmarks: "re-read after a re-injection", "re-read of a constant after a reset".
  @inline(never) @inlinable package func newerValue(inEpoch: Bool) -> Value? {
    guard let second = newer else { return nil }
    if inEpoch ? second.isCurrent : second.isReady { return second.unsafeValue }
    var value: Value?
    ThreadState.reading {
      if let third = second.newer, inEpoch ? third.isCurrent : third.isReady { value = third.unsafeValue }
    }
    return value
  }
}

/// One allocation for one property: an object with the property's slot behind it.
///
/// It isn't generic, and empties its slot by a function that its maker hands over. So neither making nor freeing one
/// looks for a generic type at run time, which would cost more than the allocation (benchmark: "make and drop").
@usableFromInline final class PropertyBuffer: ManagedBuffer<PropertyBuffer.Header, PropertyBuffer.Unit> {
  @frozen @usableFromInline struct Header {
    @usableFromInline let slot: ValueMemory
    @usableFromInline let deinitialize: (ValueMemory) -> Void

    @inlinable init(slot: ValueMemory, deinitialize: @escaping (ValueMemory) -> Void) {
      self.slot = slot
      self.deinitialize = deinitialize
    }
  }

  /// What a buffer is to code that knows nothing of its value.
  @usableFromInline typealias Erased = ManagedBuffer<Header, Unit>

  /// What memory is counted in; a coarser alignment than `malloc` gives would cost an aligned allocation.
  @usableFromInline typealias Unit = UInt64

  // By pointer, as no one else has access any more; the language's own check costs more than the rest.
  deinit {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.deinitialize($0.pointee.slot) }
  }

  /// Memory for one value, not yet initialized.
  ///
  /// - Parameter deinitialize: Called with the slot's memory when the buffer goes.
  @inlinable static func allocate(
    size: Int, alignment: Int, deinitialize: @escaping (ValueMemory) -> Void
  ) -> Erased {
    // A slot whose alignment is over a unit's finds it somewhere in this many more bytes.
    let slack = alignment > MemoryLayout<Unit>.alignment ? alignment : 0
    let units = (size + slack + MemoryLayout<Unit>.size - 1) / MemoryLayout<Unit>.size
    return PropertyBuffer.create(minimumCapacity: units) { buffer in
      let start = unsafe buffer.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
      return Header(slot: unsafe ValueMemory(start.alignedUp(toMultipleOf: alignment)), deinitialize: deinitialize)
    }
  }

  /// Held by a thread that links one property's storage to another's.
  static let linking = Lock(())

  /// The slot of a buffer; by pointer, as above.
  @inline(__always) @inlinable static func slot(of buffer: Erased) -> ValueMemory {
    unsafe buffer.withUnsafeMutablePointerToHeader { unsafe $0.pointee.slot }
  }
}
