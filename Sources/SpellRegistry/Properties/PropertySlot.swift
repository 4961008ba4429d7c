public import Synchronization

/// Where a wrapped property's value lies: a record that says how far it is, and room for the value behind it.
///
/// The place is written before the record's word says "ready", and read only after: that is why a read needs no lock.
/// While it is ready, only a write that is exclusive by the language's own rule (an assignment to the property,
/// `$x.reset()`, from the container's isolation) changes it. Changes that may come from elsewhere, such as re-injection
/// or resetting a constant that threads share, leave it as it is and publish the new value beside it, since a reader may
/// be half-way through copying the old one; the old one is then kept until the property goes.
@frozen public struct PropertySlot<Value> {
  @usableFromInline let record: UnsafeMutablePointer<PropertyRecord<Value>>

  @inlinable init(_ record: UnsafeMutablePointer<PropertyRecord<Value>>) { self.record = record }

  /// Whether the value is there and can be read with no lock.
  ///
  /// Acquiring: whoever sees it ready sees it whole.
  @inlinable public var isReady: Bool {
    record.pointee.gate.word.load(ordering: .acquiring) & CreationGate.tags == CreationGate.ready
  }

  /// Whether the value is there, can be read with no lock, and is of the latest re-injection.
  ///
  /// The second load is relaxed: a thread that knows of a re-injection has synchronised with it.
  @inlinable public var isCurrent: Bool {
    record.pointee.gate.word.load(ordering: .acquiring) == record.pointee.current.pointee.load(ordering: .relaxed)
  }

  /// The value.
  ///
  /// - Precondition: ``isReady`` or ``isCurrent`` was true, and the property's container is alive; not checked.
  @inlinable public var readyValue: Value { place.pointee }

  /// Where the value lies when it is ready: behind the record, as near as its type can be.
  @inlinable var place: UnsafeMutablePointer<Value> {
    (UnsafeMutableRawPointer(record) + Self.offset).assumingMemoryBound(to: Value.self)
  }

  /// How far behind the record's beginning the value lies.
  @inlinable static var offset: Int {
    let mask = MemoryLayout<Value>.alignment - 1
    return (MemoryLayout<PropertyRecord<Value>>.size + mask) & ~mask
  }

  @inlinable static var size: Int { offset + MemoryLayout<Value>.size }

  @inlinable static var alignment: Int {
    max(MemoryLayout<PropertyRecord<Value>>.alignment, MemoryLayout<Value>.alignment)
  }

  /// Ends the life of the record and the value.
  @inlinable func deinitialize() {
    if record.pointee.hasValueInPlace { place.deinitialize(count: 1) }
    record.pointee.freeElsewhere()
    record.deinitialize(count: 1)
  }
}

/// What a property has besides its value.
///
/// The layout is the same whatever `Value` is: so code that is compiled once for all types finds its fields with no look
/// at the type.
@frozen @usableFromInline struct PropertyRecord<Value>: ~Copyable {
  @usableFromInline let gate: CreationGate
  /// The word that a current value has; see ``InitializerRegistry/reinject(_:)``.
  @usableFromInline let current: UnsafePointer<Atomic<UInt>>
  /// A value that took the place of one that may be being read.
  @usableFromInline let elsewhere: PublishedPointer
  /// Whether there is a value in the place, be it one that was replaced while it may have been read.
  @usableFromInline var hasValueInPlace: Bool
  /// Whether the value was assigned, not injected.
  ///
  /// Relaxed: written before the word is settled, read after it is seen.
  @usableFromInline let isByHand: Atomic<Bool>
  /// What the property's declaration says.
  ///
  /// Use its stored properties: anything else copies all of it, with a look at the type.
  @usableFromInline let declaration: PropertyDeclaration<Value>

  @inlinable init(_ declaration: consuming PropertyDeclaration<Value>) {
    gate = CreationGate()
    current = InitializerRegistry.currentWord(where: declaration.override)
    elsewhere = PublishedPointer()
    hasValueInPlace = false
    isByHand = Atomic(false)
    self.declaration = declaration
  }

  /// Frees the value that is elsewhere, which nobody reads any more.
  @inlinable func freeElsewhere() {
    if let value = elsewhere.current { Self.free(value) }
  }

  @usableFromInline static func free(_ value: UnsafeMutableRawPointer) {
    let value = value.assumingMemoryBound(to: Value.self)
    value.deinitialize(count: 1)
    value.deallocate()
  }
}
