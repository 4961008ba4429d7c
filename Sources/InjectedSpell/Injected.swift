public import SpellRegistry

/// A property that gets its value from the registry when it is first read.
///
/// ```swift
/// final class Page {
///   @Injected var tracker: any Tracker             // the registration for (any Tracker).self
///   @Injected("backup") var second: any Tracker    // the one named "backup", else as above
///   @Injected var clock: Clock?                    // nil where nothing is registered; asks again next time
///   @Injected(.everyRead) var ticket: Ticket       // asks at each read
///   @Injected(.weak) var session: Session?         // held by others
/// }
/// ```
///
/// The registry is the one that was current when the object was made, whatever thread reads. The property's own name
/// counts as its name, unless the declaration gives another.
///
/// *When*: nothing happens at declaration but one allocation; the first read asks the registry; each read after it
/// costs two atomic loads, about as much as the language's own `lazy var`.
///
/// *Threads*: any number may read at once, the first read included: one asks, with no lock held, and the others wait for
/// it; with `.everyRead` and `.weak`, each asks for itself. Assigning and resetting are writes: like a write to any
/// stored property, they need the isolation that the container has. An assigned value wins over what is registered.
///
/// *Traps*: a read for which nothing is registered, or whose initializer throws or needs the property itself, stops the
/// program with the property's name, the path, what is registered nearby and what to write.
/// `try $property.resolve()` throws the same instead.
///
/// In a class that is checked `Sendable`, and as a static, use it as a plain constant: `let clock = Injected<Clock>()`,
/// read through ``value``.
@frozen @propertyWrapper public struct Injected<Value> {
  @usableFromInline var storage: PropertyStorage<Value>
  @usableFromInline let policy: Policy

  @usableFromInline enum Policy {
    case once
    case everyRead
    case weak(WeakValue)
  }

  @inlinable init(_ declaration: consuming PropertyDeclaration<Value>, _ policy: Policy) {
    storage = PropertyStorage(declaration)
    self.policy = policy
  }

  /// A property that takes what is registered for it.
  @inlinable public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(PropertyDeclaration(place: SourcePlace(fileID: fileID, line: line, column: column)), .once)
  }

  /// The value of a property of a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let slot = container[keyPath: path].storage.slot
      if slot.isCurrent { return withExtendedLifetime(container) { slot.readyValue } }
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
      if storage.slot.isCurrent {
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
    Projection(injected: container[keyPath: path], container: container)
  }

  /// What `$property` offers, in a struct; on a plain constant, `constant.projectedValue`.
  public var projectedValue: Projection { Projection(injected: self, container: nil) }
}

// What makes it true is the storage's gate, one atomic word: a value is written before the word is stored as ready
// with releasing order and read after it is loaded with acquiring order (see `CreationGate`); a later one is behind
// the slot's `PublishedPointer`, an atomic too, and a weak one behind the lock of `WeakValue`. A value goes to other
// threads only where it is Sendable.
extension Injected: @unchecked Sendable where Value: Sendable {}

extension Injected: NamedProperty {
  /// Which property this wrapper stores.
  public var identity: PropertyIdentity { storage.identity }
}

/// How often an `@Injected` property asks the registry.
public enum InjectionPolicy: Sendable {
  /// At the first read; the value is kept. What a property does where nothing is said.
  case once
  /// At every read; nothing is kept.
  case everyRead
}

/// The policy of an `@Injected` property that does not keep its value alive.
public enum WeakInjectionPolicy: Sendable {
  /// The property holds its value weakly, and asks again when that is gone.
  case weak
}
