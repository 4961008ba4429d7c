public import SpellRegistry

/// A property that is assigned once, whenever its value is known, and never changes after that.
///
/// ```swift
/// final class Document {
///   @Final var id: Int
///   @Final var kind = "draft"     // a value given here is its one assignment
/// }
/// document.id = 7
/// document.id = 8                 // stops the program: Document.id is assigned already
/// try document.$id.assign(8)      // throws FinalError instead
/// ```
///
/// Where it is read before it is assigned, the registration for it fills it, if there is one; an Optional property reads
/// nil, and may still be assigned.
///
/// *When*: nothing happens at declaration but one allocation. An assignment takes one atomic exchange; a read costs one
/// atomic load.
///
/// *Threads*: any number may read and assign at once. One assignment wins, and every reader sees its value whole.
///
/// *Traps*: a second assignment, and a read before the first with nothing registered, stop the program with the
/// property's name. Through `$property` they throw ``FinalError`` or `InjectionError` instead.
///
/// A struct's copies that share no value yet are assigned apart with `=`. In a class that is checked `Sendable`, use it
/// as a plain constant: `let id = Final<Int>()`, assigned with `try id.projectedValue.assign(7)`. A property of a struct
/// whose `Codable` conformance is synthesised can't be one, as the wrapper is not `Codable`.
@frozen @propertyWrapper public struct Final<Value> {
  @usableFromInline var storage: PropertyStorage<Value>

  @inlinable init(_ declaration: consuming PropertyDeclaration<Value>) { storage = PropertyStorage(declaration) }

  /// A property to be assigned later.
  @inlinable public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(PropertyDeclaration(place: SourcePlace(fileID: fileID, line: line, column: column)))
  }

  /// A property whose value is known already.
  @inlinable public init(
    wrappedValue value: Value, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(fileID: fileID, line: line, column: column)
    assign(value, in: nil)
  }

  /// The value of a property of a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let slot = container[keyPath: path].storage.slot
      if slot.isReady { return withExtendedLifetime(container) { slot.readyValue } }
      return container[keyPath: path].makeValue(in: container)
    }
    set { container[keyPath: path].assign(newValue, in: container) }
  }

  /// The value of a property of a struct, or of a local.
  @inlinable public var wrappedValue: Value {
    get {
      if storage.slot.isReady {
        return withExtendedLifetime(self) { storage.slot.readyValue }
      }
      return makeValue(in: nil)
    }
    set { assignApart(newValue) }
  }

  /// What `$property` offers, in a class or an actor.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: KeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    Projection(final: container[keyPath: path], container: container)
  }

  /// What `$property` offers, in a struct; on a plain constant, `constant.projectedValue`.
  public var projectedValue: Projection { Projection(final: self, container: nil) }
}

// What makes it true is the storage's gate, one atomic word: the one assignment is made by whoever exchanges it, and the
// value is read after the word is loaded as ready with acquiring order (see `CreationGate`). It goes to other threads only
// where it is Sendable.
extension Final: @unchecked Sendable where Value: Sendable {}

extension Final: NamedProperty {
  /// Which property this wrapper stores.
  public var identity: PropertyIdentity { storage.identity }
}
