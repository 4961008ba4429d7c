/// The storage of one wrapped property: one allocation, with room for the value, made once and read without a lock.
///
/// What a wrapper is built on. The struct that the wrapper is holds one of these and nothing else that changes:
///
/// ```swift
/// @propertyWrapper struct Lazy<Value> {
///   let storage: PropertyStorage<Value>
///   static subscript<Container: AnyObject>(
///     _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
///     storage path: ReferenceWritableKeyPath<Container, Self>
///   ) -> Value {
///     @inline(__always) get {
///       let slot = container[keyPath: path].storage.slot
///       if slot.isReady { return withExtendedLifetime(container) { slot.readyValue } }
///       return container[keyPath: path].firstValue(in: container)
///     }
///   }
/// }
/// ```
///
/// Without `@inline(__always)` the compiler may leave the getter a function of its own, and then every read makes a key
/// path, which costs more than all the rest.
///
/// Copies share the value. Any number of threads may read at once, the first read included.
@frozen public struct PropertyStorage<Value> {
  @usableFromInline var buffer: ManagedBuffer<PropertyBuffer.Header, PropertyBuffer.Unit>
  /// Where the value lies; valid for as long as this storage, or a copy of it, lives.
  public let slot: PropertySlot<Value>

  /// Storage without a value.
  @inlinable public init(_ declaration: consuming PropertyDeclaration<Value>) {
    buffer = PropertyBuffer.allocate(size: PropertySlot<Value>.size, alignment: PropertySlot<Value>.alignment) { slot in
      PropertySlot<Value>(slot.assumingMemoryBound(to: PropertyRecord<Value>.self)).deinitialize()
    }
    slot = PropertySlot(buffer.header.slot.bindMemory(to: PropertyRecord<Value>.self, capacity: 1))
    slot.record.initialize(to: PropertyRecord(declaration))
  }

  /// What the property's declaration says.
  public var declaration: PropertyDeclaration<Value> { slot.record.pointee.declaration }

  /// Which property this is the storage of.
  public var identity: PropertyIdentity {
    PropertyIdentity(address: slot.record, place: slot.record.pointee.declaration.place)
  }

  /// Whether no copy shares this storage; only inside a mutating function, where nobody can begin to.
  @inlinable public mutating func isUniquelyReferenced() -> Bool { isKnownUniquelyReferenced(&buffer) }

  /// Where the property is, as a question to the registry.
  public func point(in container: AnyObject?) -> InjectionPoint {
    InjectionPoint(Value.self, in: container, property: identity, alias: slot.record.pointee.declaration.options?.alias)
  }
}
