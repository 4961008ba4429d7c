public import SpellRegistry

/// A property whose value is made when it is first read, once, whichever thread reads it.
///
/// ```swift
/// final class Screen {
///   @Lazy var cache = ImageCache()            // its own expression
///   @Lazy var network: Network                // the registered initializer of Network
///   @Lazy var tags: [String]                  // empty, where nothing is registered
///   @Lazy(injected: Screen.didMake) var player = Player()
///   func didMake(_ player: Player) { player.volume = 0.5 }
/// }
/// ```
///
/// What makes the value is the registration for this container's class, else the expression, else the registration for
/// the type, else the type's empty initializer. It is asked of the registry that was current when the object was made.
///
/// *When*: nothing happens at declaration but one allocation; the first read makes the value; each read after it costs
/// one atomic load, as much as the language's own `lazy var`.
///
/// *Threads*: any number may read at once, the first read included: one makes the value, with no lock held, and the
/// others wait for it. Assigning and resetting are writes: like a write to any stored property, they need the isolation
/// that the container has.
///
/// *Traps*: a read for which there is no initializer, or whose initializer throws or needs the property itself, stops
/// the program with the property's name, the path and what to do. `try $property.resolve()` throws the same instead.
///
/// A struct's copies share the value until one of them is assigned. In a class that is checked `Sendable`, and as a
/// static, use it as a plain constant: `let cache = Lazy { ImageCache() }`, read through ``value``.
@frozen @propertyWrapper public struct Lazy<Value> {
  @usableFromInline var storage: PropertyStorage<Value>

  @inlinable init(_ declaration: consuming PropertyDeclaration<Value>) { storage = PropertyStorage(declaration) }

  /// A property that takes what is registered for it, or its type's empty value.
  @inlinable public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(PropertyDeclaration(place: SourcePlace(fileID: fileID, line: line, column: column)))
  }

  /// A property with an expression, which runs at the first read.
  @inlinable public init(
    wrappedValue expression: @autoclosure @escaping () -> Value, fileID: StaticString = #fileID,
    line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place, expression: expression))
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
    set {
      let isUnique = container[keyPath: path].storage.isUniquelyReferenced()
      container[keyPath: path].assign(newValue, in: container, exclusively: isUnique)
    }
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
    Projection(lazy: container[keyPath: path], container: container)
  }

  /// What `$property` offers, in a struct; on a plain constant, `constant.projectedValue`.
  public var projectedValue: Projection { Projection(lazy: self, container: nil) }
}

// What makes it true is the storage's gate, one atomic word: a value is written before the word is stored as ready
// with releasing order and read after it is loaded with acquiring order (see `CreationGate`); a later one is behind
// the slot's `PublishedPointer`, an atomic too. A value goes to other threads only where it is Sendable. The closures
// of a property run where its container is; those of a plain constant are @Sendable.
extension Lazy: @unchecked Sendable where Value: Sendable {}

extension Lazy: NamedProperty {
  /// Which property this wrapper stores.
  public var identity: PropertyIdentity { storage.identity }
}
