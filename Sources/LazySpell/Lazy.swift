@_exported public import SpellRegistry

/// A property whose value is created only once, when any thread first reads it.
///
/// ```swift
/// final class Screen {
///   @Lazy var cache = ImageCache()            // its own expression
///   @Lazy({ (screen: Screen) in Menu(screen.tags) }) var menu: Menu
///   @Lazy var network: Network                // the registered one
///   @Lazy var tags: [String]                  // registered, or empty
///   @Lazy(onInjection: Screen.didMake) var player = Player()
///   func didMake(_ player: Player) { player.volume = 0.5 }
/// }
/// ```
///
/// The value comes from the first of these sources that exists: a registration for the enclosing object's class, the
/// property's expression, a registration for the type, or the type's empty value, such as 0 or `[]`. If none exists, a
/// property of an Optional type reads nil. The property asks the registry that was current when the enclosing object
/// was created. If that registry no longer exists, a property with an expression asks the current registry instead.
///
/// *Cost*: Declaring the property takes one allocation. The first read creates the value. Each later read takes one
/// atomic load, about as long as a read of the language's own `lazy var`.
///
/// *Threads*: Any number of threads may read at once, including the first read. One of them creates the value, with no
/// lock held, and the others wait for it. Assigning and resetting need the isolation of the enclosing object, like a
/// write to any stored property. The expression runs on the thread that first reads the property, so a `Lazy` isn't
/// `Sendable`. For a `Sendable` constant, use ``LazyConstant``.
///
/// *Traps*: A read stops the program if none of the value's sources exists and the type isn't Optional. It also stops
/// the program if the registered initializer throws, or if the creation of the value needs the property itself. The
/// message has the property's name, the chain of requests and the remedy. To get an error instead, call
/// `try $property.resolve()`.
///
/// Copies of a struct share the value until the property of one copy is assigned or reset. The other copies keep the
/// value.
@frozen @propertyWrapper public struct Lazy<Value> {
  @usableFromInline var storage: PropertyStorage<Value>
  /// Makes the value from the enclosing object, which is nil in a struct and for a local variable.
  @usableFromInline let expression: ((AnyObject?, PropertyCell) -> Value)?
  @usableFromInline let hook: ((AnyObject, Value) -> Void)?

  @inlinable init(
    at place: SourcePlace, expression: ((AnyObject?, PropertyCell) -> Value)? = nil,
    hook: ((AnyObject, Value) -> Void)? = nil
  ) {
    self.init(storage: PropertyStorage(at: place), expression: expression, hook: hook)
  }

  @inlinable init(
    storage: PropertyStorage<Value>, expression: ((AnyObject?, PropertyCell) -> Value)?,
    hook: ((AnyObject, Value) -> Void)?
  ) {
    (self.storage, self.expression, self.hook) = (storage, expression, hook)
  }

  /// Creates a property that uses the registered initializer, or else the type's empty value, such as 0 or `[]`.
  @inlinable public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column))
  }

  /// Creates a property with an expression that runs at the first read.
  @inlinable public init(
    wrappedValue expression: @autoclosure @escaping () -> Value, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), expression: { _, _ in expression() })
  }

  /// Creates a property with an expression that gets the enclosing object, as `self` in a `lazy var`.
  ///
  /// ```swift
  /// final class Page {
  ///   var path = "start"
  ///   @Lazy({ (page: Page) in Database(page.path) }) var database: Database
  /// }
  /// ```
  ///
  /// The expression runs at the first read, and its cost is that of any other expression. Write the type of its
  /// parameter. An expression that reads another wrapped property of the class needs the type of that property, so
  /// write that, too. In an actor, the parameter is `isolated`: `{ (worker: isolated Worker) in … }`.
  ///
  /// - Precondition: The property is declared in the class `Container`, or in a class that inherits from it.
  @inlinable public init<Container: AnyObject>(
    _ expression: @escaping (Container) -> Value, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, expression: propertyExpression(expression))
  }

  /// Creates a property of an actor with an expression that gets the actor, and runs on it.
  @inlinable public init<Container: Actor>(
    _ expression: @escaping (isolated Container) -> Value, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, expression: actorPropertyExpression(expression))
  }

  /// Creates a property with an expression, and with a closure that is called after the value is created.
  ///
  /// A closure that names wrapped properties of the enclosing class may not compile, because of a circular reference,
  /// and a closure in a main-actor class can't use the object's main-actor state. Pass a method in these cases. The
  /// parameters have the same meaning in all forms of this initializer.
  ///
  /// - Parameters:
  ///   - expression: The expression, which runs at the first read.
  ///   - onInjection: Called once for each value that is created, after the value is stored, with the enclosing object
  ///     and the value. Not called for an assigned value, or without an enclosing object.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes properties on the same line.
  @inlinable public init<Container: AnyObject>(
    wrappedValue expression: @autoclosure @escaping () -> Value,
    onInjection: @escaping @Sendable (Container, Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, expression: { _, _ in expression() }, hook: propertyHook(at: place, onInjection))
  }

  /// Creates a property with an expression that gets the enclosing object, and with a closure that is called after the
  /// value is created.
  @inlinable public init<Container: AnyObject>(
    _ expression: @escaping (Container) -> Value, onInjection: @escaping @Sendable (Container, Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(
      at: place, expression: propertyExpression(expression), hook: propertyHook(at: place, onInjection))
  }

  /// Creates a property without an expression, and with a closure that is called after the value is created.
  ///
  /// The property uses the registered initializer, or else the type's empty value, such as 0 or `[]`.
  @inlinable public init<Container: AnyObject>(
    onInjection: @escaping @Sendable (Container, Value) -> Void, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, hook: propertyHook(at: place, onInjection))
  }

  /// Creates a property with an expression, and passes each created value to a method of the enclosing object.
  ///
  /// An example is `@Lazy(onInjection: Screen.didMake) var player = Player()`, where `didMake` takes a `Player`.
  @preconcurrency @inlinable public init<Container: AnyObject>(
    wrappedValue expression: @autoclosure @escaping () -> Value,
    onInjection: @escaping @Sendable (Container) -> (Value) -> Void, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    self.init(
      wrappedValue: expression(), onInjection: { onInjection($0)($1) }, fileID: fileID, line: line, column: column)
  }

  /// Creates a property with an expression that gets the enclosing object, and passes each created value to a method of
  /// that object.
  @preconcurrency @inlinable public init<Container: AnyObject>(
    _ expression: @escaping (Container) -> Value, onInjection: @escaping @Sendable (Container) -> (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(expression, onInjection: { onInjection($0)($1) }, fileID: fileID, line: line, column: column)
  }

  /// Creates a property without an expression, and passes each created value to a method of the enclosing object.
  ///
  /// The property uses the registered initializer, or else the type's empty value, such as 0 or `[]`.
  ///
  /// An example is `@Lazy(onInjection: Screen.didMake) var player: Player`, where `didMake` takes a `Player`.
  @preconcurrency @inlinable public init<Container: AnyObject>(
    onInjection: @escaping @Sendable (Container) -> (Value) -> Void, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    self.init(onInjection: { onInjection($0)($1) }, fileID: fileID, line: line, column: column)
  }

  /// Creates a property with an expression, and passes each created value to a main-actor method of the enclosing object.
  ///
  /// - Precondition: The property is first read on the main actor.
  @inlinable public init<Container: AnyObject & Sendable>(
    wrappedValue expression: @autoclosure @escaping () -> Value,
    onInjection: @escaping @MainActor (Container) -> @MainActor (Value) -> Void, fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, expression: { _, _ in expression() }, hook: mainActorPropertyHook(at: place, onInjection))
  }

  /// Creates a property with an expression that gets the enclosing object, and passes each created value to a main-actor
  /// method of that object.
  @inlinable public init<Container: AnyObject & Sendable>(
    _ expression: @escaping (Container) -> Value,
    onInjection: @escaping @MainActor (Container) -> @MainActor (Value) -> Void, fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(
      at: place, expression: propertyExpression(expression),
      hook: mainActorPropertyHook(at: place, onInjection))
  }

  /// Creates a property without an expression, and passes each created value to a main-actor method of the enclosing
  /// object.
  @inlinable public init<Container: AnyObject & Sendable>(
    onInjection: @escaping @MainActor (Container) -> @MainActor (Value) -> Void, fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, hook: mainActorPropertyHook(at: place, onInjection))
  }

  /// The property's value, in a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let memory = container[keyPath: path].storage.memory
      if memory.isReady { return withExtendedLifetime(container) { memory.read() } }
      // A copy of the whole struct would be made by the runtime (benchmark: "make+read 1").
      return makeValue(
        container[keyPath: path].storage, container[keyPath: path].expression, container[keyPath: path].hook,
        in: container)
    }
    set {
      // The old value is released after the change, because its deinitializer may read the property.
      withExtendedLifetime(container[keyPath: path]) { container[keyPath: path].assign(newValue) }
    }
  }

  /// The property's value, in a struct or for a local variable.
  @inlinable public var wrappedValue: Value {
    get {
      if storage.memory.isReady { return withExtendedLifetime(self) { storage.memory.read() } }
      return Self.makeValue(storage, expression, hook, in: nil)
    }
    set { assign(newValue) }
  }

  /// The projection `$property` in a class or an actor, with the enclosing object.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: ReferenceWritableKeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    get { Projection(lazy: container[keyPath: path], container: container) }
    set { withExtendedLifetime(container[keyPath: path]) { container[keyPath: path] = newValue.lazy } }
  }

  /// The projection `$property` in a struct or for a local variable, without an enclosing object.
  public var projectedValue: Projection {
    get { Projection(lazy: self, container: nil) }
    set { withExtendedLifetime(self) { self = newValue.lazy } }
  }

  /// The slow path of a read, which creates the value, waits for it, or stops the program.
  ///
  /// Never inlined, because the common read of a stored value has to stay small.
  @inline(never) @inlinable static func makeValue(
    _ storage: PropertyStorage<Value>, _ expression: ((AnyObject?, PropertyCell) -> Value)?,
    _ hook: ((AnyObject, Value) -> Void)?, in container: AnyObject?
  ) -> Value {
    do throws(InjectionError) {
      return try Lazy(storage: storage, expression: expression, hook: hook).resolve(in: container)
    } catch { error.stop(at: storage.place) }
  }

  @inlinable func resolve(in container: AnyObject?) throws(InjectionError) -> Value {
    do throws(InjectionError) {
      return try storage.makeValue(in: container, expression: expression, hook: hook) { memory, _ in
        putEmpty(in: memory)
      }
    } catch { throw advised(error) }
  }

  /// Puts the type's empty value, such as 0 or `[]`, in `memory`, and returns whether the type has an empty value.
  ///
  /// The result is also false if the type's conformance to `DefaultInitializable` is isolated to another actor.
  @usableFromInline func putEmpty(in memory: ValueMemory) -> Bool {
    guard let value = EmptyValue<Value>().make() else { return false }
    memory.put(value)
    return true
  }

  /// Returns the error, with added advice if nothing is registered for the property itself.
  ///
  /// The advice is to give the property an expression.
  @usableFromInline func advised(_ error: InjectionError) -> InjectionError {
    guard error.code == .notRegistered, error.path.count == 1 else { return error }
    let (type, name) = (TypeName.of(Value.self, isNested: true), error.steps[0].propertyName ?? "property")
    let expression = type.hasPrefix("any ") ? "@Lazy var \(name): \(type) = …" : "@Lazy var \(name) = \(type)()"
    return error.noting("Or give the property an expression: \(expression)")
  }

  @inlinable mutating func assign(_ value: Value) { storage = storage.replaced(with: value) }
}

// MARK: The projection

extension Lazy {
  /// The projection `$property`, with operations that a plain read or assignment doesn't offer.
  public struct Projection {
    fileprivate var lazy: Lazy
    /// The enclosing object; nil in a struct and for a local variable.
    fileprivate let container: AnyObject?

    /// Whether the value has been created or assigned; reading `hasValue` doesn't create it.
    public var hasValue: Bool { lazy.storage.hasValue }

    /// Returns the same value as a read of the property, but throws an error instead of stopping the program.
    ///
    /// - Throws: `.notRegistered` (also if the property's registry is gone and it has no expression), `.cycle`,
    ///   `.initializerFailed`, `.wrongIsolation`, `.notReady` or `.stackExhausted`.
    @discardableResult
    public func resolve() throws(InjectionError) -> Value { try lazy.resolve(in: container) }

    /// Drops the value, so that the next read creates a new value.
    ///
    /// If a struct has the property, other copies of the struct keep the value. Threads that wait for a value that is
    /// being created still get that value.
    public mutating func reset() { lazy.storage = lazy.storage.replacedWithNothing() }
  }
}

extension Lazy: NamedProperty, NeedingProperty, CustomStringConvertible {
  /// The identity by which reflection finds the property's name.
  public var identity: PropertyIdentity { storage.identity }
  /// A text with the value, if there is one, and the file and line of the declaration.
  public var description: String { storage.description(of: "Lazy") }
  /// The property's need for a registration, which is `.unknown`, because it depends on the declaration.
  ///
  /// A property needs no registration if it has an expression, or if its type has an empty value, such as 0 or `[]`.
  package static var need: PropertyNeed { PropertyNeed(.unknown) }
}

// A `Lazy` isn't `Sendable`, because its expression runs on the thread that first reads the property.
@available(*, unavailable)
extension Lazy: Sendable {}
