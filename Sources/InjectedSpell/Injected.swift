@_exported public import SpellRegistry

/// A property that gets its value from the registry at its first read.
///
/// ```swift
/// final class Page {
///   @Injected var tracker: any Tracker           // registered for the type
///   @Injected("backup") var second: any Tracker  // for that name, or as above
///   @Injected(.time) var time                    // a declared key
///   @Injected var clock: Clock?                  // nil until it is registered
///   @Injected(.everyRead) var ticket: Ticket     // asks at each read
///   @Injected(.weak) var session: Session?       // nil when it is released
/// }
/// ```
///
/// On any thread, the property asks the registry that was current when the enclosing object was created. With
/// `.everyRead`, a read asks the registry that the code around it has made current, if there is such a registry.
/// Registrations for a name match the property's own name, unless the declaration gives another name.
///
/// *Cost*: Declaring the property takes one allocation, and more with a name or `.weak`. The first read asks the
/// registry. Each later read takes two atomic loads, about as long as a read of the language's own `lazy var`. With
/// `.weak`, each later read takes the slower path of the first read, but doesn't ask the registry.
///
/// *Threads*: Any number of threads may read at once, including the first read. One of them asks the registry, with no
/// lock held, and the others wait for the value. With `.everyRead`, each thread asks the registry itself. Assigning and
/// resetting need the isolation of the enclosing object, like a write to any stored property. An assigned value takes
/// precedence over registrations.
///
/// *Traps*: A read stops the program if nothing is registered and the type isn't Optional. It also stops the program if
/// the initializer throws or needs the property itself. The message has the property's name, the chain of requests,
/// similar registrations and the line to add. To get an error instead, call `try $property.resolve()`.
///
/// In a class with a checked `Sendable` conformance, or for a static property, declare a constant. The constant has the
/// operations of `$property` itself: `let clock = Injected<Clock>()`, `clock.value`, `clock.reset()`.
@frozen @propertyWrapper public struct Injected<Value> {
  @usableFromInline var storage: PropertyStorage<Value>
  @usableFromInline var policy: Policy
  @usableFromInline let hook: ((AnyObject, Value) -> Void)?

  @usableFromInline enum Policy {
    case once
    case everyRead
    /// Asks the registry until there is a value, and holds that value weakly in the associated storage.
    ///
    /// An assigned nil is a value too.
    case weak(PropertyStorage<WeakValue?>)
  }

  @inlinable init(
    at place: SourcePlace, key: InjectionKey<Value>? = nil, named name: String? = nil, _ policy: Policy = .once,
    hook: ((AnyObject, Value) -> Void)? = nil
  ) {
    self.init(storage: PropertyStorage(at: place, key: key, named: name), policy: policy, hook: hook)
  }

  @inlinable init(storage: PropertyStorage<Value>, policy: Policy, hook: ((AnyObject, Value) -> Void)?) {
    (self.storage, self.policy, self.hook) = (storage, policy, hook)
  }

  // In an extension, this initializer wouldn't be found for a declaration without parentheses: `@Injected var clock`.
  /// Creates a property that asks the registry with the property's type and name, at the first read or at every read.
  @inlinable public init(
    _ policy: InjectionPolicy = .once, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), policy == .once ? .once : .everyRead)
  }

  /// The property's value, in a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let memory = container[keyPath: path].storage.memory
      if memory.isCurrent { return withExtendedLifetime(container) { memory.read() } }
      // A copy of the whole struct would be made by the runtime (benchmark: "make+read 1").
      return makeValue(
        container[keyPath: path].storage, container[keyPath: path].policy, container[keyPath: path].hook, in: container)
    }
    set {
      // The old value is released after the change, because its deinitializer may read the property.
      withExtendedLifetime(container[keyPath: path]) { container[keyPath: path].assign(newValue) }
    }
  }

  /// The value of a property that is declared in a struct, or as a local variable.
  @inlinable public var wrappedValue: Value {
    get {
      if storage.memory.isCurrent { return withExtendedLifetime(self) { storage.memory.read() } }
      return Self.makeValue(storage, policy, hook, in: nil)
    }
    set { assign(newValue) }
  }

  /// The projection `$property` in a class or an actor, with the enclosing object.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: ReferenceWritableKeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    get { Projection(injected: container[keyPath: path], container: container) }
    set { withExtendedLifetime(container[keyPath: path]) { container[keyPath: path] = newValue.injected } }
  }

  /// The projection `$property` in a struct or for a local variable, without an enclosing object.
  public var projectedValue: Projection {
    get { Projection(injected: self, container: nil) }
    set { withExtendedLifetime(self) { self = newValue.injected } }
  }

  /// The value, for a constant such as `let clock = Injected<Clock>()`.
  @inlinable public var value: Value { wrappedValue }

  /// The slow path of a read, which asks the registry if necessary, and returns the value or stops the program.
  ///
  /// Never inlined, because the common read of a stored value has to stay small.
  @inline(never) @inlinable static func makeValue(
    _ storage: PropertyStorage<Value>, _ policy: Policy, _ hook: ((AnyObject, Value) -> Void)?, in container: AnyObject?
  ) -> Value {
    do throws(InjectionError) {
      return try Injected(storage: storage, policy: policy, hook: hook).resolve(in: container)
    } catch { error.stop(at: storage.place) }
  }

  @inlinable func resolve(in container: AnyObject?) throws(InjectionError) -> Value {
    switch policy {
    case .once: try storage.makeValue(in: container, followsReinjection: true, hook: hook)
    case .everyRead: try storage.makeTransientValue(in: container, from: .requested, hook: hook)
    case .weak(let weakStorage): try resolve(in: container, keptIn: weakStorage)
    }
  }

  /// Returns the value of a property that holds its value weakly, after asking the registry if necessary.
  @usableFromInline func resolve(
    in container: AnyObject?, keptIn weakStorage: PropertyStorage<WeakValue?>
  ) throws(InjectionError) -> Value {
    if let known = weakStorage.value { return known.value() }
    var made: (value: Value, epoch: UInt, callHooks: () -> Void)?
    var weakValue: WeakValue?
    // A single resolution makes the value and calls the injection hooks. Completion hooks run at the end of the
    // resolution, and so after the injection hooks.
    try InitializerRegistry.resolvingTogether { () throws(InjectionError) in
      weakValue = try weakStorage.makeValue(
        in: container, callsHooks: false,
        fallback: { memory, _ throws(InjectionError) in
          made = try storage.prepared(in: container, from: nil, hook: hook)
          // Nil isn't stored, so that the next read asks the registry again.
          guard let weakValue = WeakValue(holding: made?.value) else { return false }
          memory.put(Optional(weakValue))
          return true
        })
      // The hooks are called only after the value is stored, so that they can read the property.
      made?.callHooks()
    }
    return made?.value ?? weakValue.value()
  }

  /// The cell that stores the property's value, and in which a thread that makes the value lets other threads wait.
  var cell: PropertyCell { if case .weak(let weakStorage) = policy { weakStorage.cell } else { storage.cell } }

  @inlinable mutating func assign(_ value: Value) {
    if case .weak(let weakStorage) = policy {
      policy = .weak(weakStorage.replaced(with: WeakValue(holding: value)))
    } else {
      storage = storage.replaced(with: value)
    }
  }
}

// `@unchecked Sendable`: the atomic `state` of a `CreationGate` guards the first value, and the lock `later` in
// `PropertyFields` guards later ones. A hook is `@Sendable`, or checks that it runs on the main actor.
extension Injected: @unchecked Sendable where Value: Sendable {}

extension Injected: NamedProperty, NeedingProperty, CustomStringConvertible {
  /// The identity by which reflection finds the property's name.
  public var identity: PropertyIdentity { storage.identity }
  /// A text with the value, if there is one, and the file and line of the declaration.
  public var description: String {
    if case .weak(let weakStorage) = policy {
      return storage.description(of: "Injected", weakStorage.value.map { $0.value() })
    }
    return storage.description(of: "Injected")
  }
  /// The need for a registration: required, or optional if the property's type is an Optional (see `WrappedProperty`).
  package static var need: PropertyNeed { PropertyNeed(.required, takesNameOrKey: true) }
}

// MARK: The operations of a constant, and the projection

extension Injected {
  /// Whether a constant such as `let clock = Injected<Clock>()` has an injected value.
  ///
  /// If the constant holds its value weakly, the result is false after the value is gone.
  public var hasValue: Bool {
    if case .weak(let weakStorage) = policy { return weakStorage.value??.isAlive ?? false }
    return storage.hasValue
  }

  /// Returns the ``value`` of a constant such as `let clock = Injected<Clock>()`, or throws an error if reading ``value``
  /// would stop the program.
  @discardableResult
  public func resolve() throws(InjectionError) -> Value { try resolve(in: nil) }

  /// Drops the value of a constant, such as `let clock = Injected<Clock>()`, so that the next read asks the registry.
  ///
  /// The constant's first value stays in memory as long as the constant does, because other threads may be reading it.
  /// A weakly held value doesn't stay in memory. For a property, use `$property.reset()`.
  public func reset() { cell.forget() }

  /// The registry of a constant such as `let clock = Injected<Clock>()`, which was current at the constant's creation.
  ///
  /// - Precondition: The registry still exists.
  public var registry: InitializerRegistry { storage.registry }

  /// The projection `$property`, with operations that a plain read or assignment doesn't offer.
  public struct Projection {
    fileprivate(set) var injected: Injected
    /// The enclosing object; nil in a struct and for a local variable.
    let container: AnyObject?

    /// Whether the property has an injected or assigned value.
    ///
    /// If the property holds its value weakly, the result is false after the value is gone.
    public var hasValue: Bool { injected.hasValue }

    /// Returns the same value as a read of the property, but throws an error instead of stopping the program.
    ///
    /// - Throws: An error of code `.notRegistered` (also if the property's registry is gone), `.cycle`,
    ///   `.initializerFailed`, `.wrongIsolation`, `.notReady` or `.stackExhausted`.
    @discardableResult
    public func resolve() throws(InjectionError) -> Value { try injected.resolve(in: container) }

    /// Drops the value, even an assigned one, so that the next read asks the registry.
    ///
    /// If a struct has the property, other copies of the struct keep the value. Threads that wait for a value that is
    /// being created still get that value.
    public mutating func reset() {
      if case .weak(let weakStorage) = injected.policy {
        injected.policy = .weak(weakStorage.replacedWithNothing())
      } else {
        injected.storage = injected.storage.replacedWithNothing()
      }
    }

    /// The registry that was current when the enclosing object was created.
    ///
    /// An object can pass this registry on to an object that it creates: `$service.registry.run { Child() }`.
    ///
    /// - Precondition: The registry still exists.
    public var registry: InitializerRegistry { injected.registry }
  }
}

// MARK: Initializers

extension Injected {
  /// Creates a property that asks the registry with `name` instead of the property's own name.
  @inlinable
  public init(_ name: String, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), named: name)
  }

  /// Creates a property that resolves a declared key, as in `@Injected(.time) var time`, and has the key's type.
  @inlinable public init(
    _ key: InjectionKey<Value>, _ policy: InjectionPolicy = .once, fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, key: key, policy == .once ? .once : .everyRead)
  }

  /// Creates a property that holds its value weakly.
  ///
  /// - Precondition: The property's type is an Optional of a class, or of a protocol that only classes conform to.
  @inlinable public init(
    _ policy: WeakInjectionPolicy, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value: ExpressibleByNilLiteral {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column))
    self.policy = .weak(PropertyStorage(inPlaceOf: storage))
  }

  /// Creates a property that resolves a declared key and holds its value weakly.
  ///
  /// - Precondition: The key's values are objects.
  @inlinable public init<Object>(
    _ key: InjectionKey<Object>, _ policy: WeakInjectionPolicy, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) where Value == Object? {
    self.init(policy, fileID: fileID, line: line, column: column)
    storage = PropertyStorage(PropertyStorage<Object>(at: storage.place, key: key).cell)
    self.policy = .weak(PropertyStorage(inPlaceOf: storage))
  }

  /// Unavailable, because a property with its own expression has to be `@Lazy`.
  @available(*, unavailable, message: "An @Injected property has no value of its own: write @Lazy, or register it.")
  public init(
    wrappedValue: Value, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) { fatalError() }

  /// Unavailable, because a declared key has its own initializer, which an expression can't replace.
  @available(
    *, unavailable,
    message: "A key has its own initializer: leave out the expression, or write registry.register(.key) { … }."
  )
  public init(
    wrappedValue: Value, _ key: InjectionKey<Value>, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) { fatalError() }

  /// Unavailable, because a declared key is written with a dot, not as a key path.
  @available(*, unavailable, message: "A declared key isn't a key path: write a dot, as in @Injected(.time).")
  @_disfavoredOverload
  public init(
    _ path: KeyPath<InjectionKeys.Type, InjectionKey<Value>>, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) { fatalError() }

  /// Unavailable, because a key's value is injected as a whole.
  @available(*, unavailable, message: "A part isn't injected: write @Injected(.audio) var audio, and audio.play.")
  @_disfavoredOverload
  public init<Whole>(
    _ key: InjectionKey<Whole>, _ part: KeyPath<Whole, Value>, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) { fatalError() }

  /// Unavailable, because a property with a key has the key's type.
  @available(*, unavailable, message: "Leave out the type, which is the key's, as in @Injected(.time) var time.")
  @_disfavoredOverload
  public init<Other>(
    _ key: InjectionKey<Other>, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) { fatalError() }

  /// Unavailable, because a service has a scope, and not the property that it is injected into.
  @available(
    *, unavailable,
    message: "A property has no scope. Write it where the service is registered: register(scope: .singleton) { … }."
  )
  @_disfavoredOverload
  public init(
    _ key: InjectionKey<Value>? = nil, scope: Scope<Value>, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) { fatalError() }

  // A parameter of type `Value.Type` would hide the compiler's message about a misspelled key.
  /// Unavailable, because the type is written after the property's name, not as an argument.
  @available(*, unavailable, message: "The type follows the name, as in @Injected var clock: Clock.")
  @_disfavoredOverload
  public init(_ type: any Any.Type, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    fatalError()
  }

  /// Creates a property that calls a closure after each injection.
  ///
  /// A closure that names wrapped properties of the enclosing class may not compile, because of a circular reference,
  /// and a closure in a main-actor class can't use the object's main-actor state. Pass a method in these cases. The
  /// parameters have the same meaning in all forms of this initializer.
  ///
  /// - Parameters:
  ///   - key: A declared key to resolve instead of the type.
  ///   - onInjection: Called once for each injection, after the value is stored, with the enclosing object and the
  ///     value. Not called for an assigned value, or without an enclosing object.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes properties on the same line.
  @inlinable public init<Container: AnyObject>(
    _ key: InjectionKey<Value>? = nil, onInjection: @escaping @Sendable (Container, Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, key: key, hook: propertyHook(at: place, onInjection))
  }

  /// Creates a property that passes its value to a method of the enclosing object after each injection.
  ///
  /// An example is `@Injected(onInjection: Page.didGet) var tracker: Tracker`, where `didGet` takes a `Tracker`.
  @inlinable public init<Container: AnyObject>(
    _ key: InjectionKey<Value>? = nil, onInjection: @escaping @Sendable (Container) -> (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(key, onInjection: { onInjection($0)($1) }, fileID: fileID, line: line, column: column)
  }

  /// Creates a property that passes its value to a main-actor method of the enclosing object after each injection.
  ///
  /// - Precondition: The value is injected on the main actor.
  @inlinable public init<Container: AnyObject & Sendable>(
    _ key: InjectionKey<Value>? = nil, onInjection: @escaping @MainActor (Container) -> @MainActor (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, key: key, hook: mainActorPropertyHook(at: place, onInjection))
  }
}
