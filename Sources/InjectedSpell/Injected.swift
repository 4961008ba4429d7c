@_exported public import SpellRegistry

/// A property whose value the registry provides when it is first read.
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
/// The property asks the registry that was current when the object was created, whichever thread reads. Registrations
/// for a name match the property's own name, unless the declaration gives another name.
///
/// *When*: Declaring the property takes one allocation. The first read asks the registry. Each later read takes two
/// atomic loads, about as long as the language's own `lazy var`.
///
/// *Threads*: Any number of threads may read at once, including the first read. One of them asks the registry, with no
/// lock held, and the others wait for it. With `.everyRead`, each thread asks for itself. Assigning and resetting need
/// the isolation of the enclosing object, like a write to any stored property. An assigned value wins over what is
/// registered.
///
/// *Traps*: A read stops the program if nothing is registered, or if the initializer throws or needs the property
/// itself. The message has the property's name, the path, similar registrations and the line to write. To get an error
/// instead, call `try $property.resolve()`.
///
/// In a class with a checked `Sendable` conformance, and as a static, use a constant, which itself has the operations
/// of `$property`: `let clock = Injected<Clock>()`, `clock.value`, `clock.reset()`.
@frozen @propertyWrapper public struct Injected<Value> {
  @usableFromInline var storage: PropertyStorage<Value>
  @usableFromInline var policy: Policy
  @usableFromInline let hook: ((AnyObject, Value) -> Void)?

  @usableFromInline enum Policy {
    case once
    case everyRead
    /// Asks once, and holds the value weakly in separate storage.
    case weak(PropertyStorage<WeakValue>)
  }

  @inlinable init(
    at place: SourcePlace, key: InjectionKey<Value>? = nil, named name: String? = nil, _ policy: Policy = .once,
    hook: ((AnyObject, Value) -> Void)? = nil
  ) {
    storage = PropertyStorage(at: place, key: key, named: name)
    (self.policy, self.hook) = (policy, hook)
  }

  // This initializer isn't in the extension below, because a declaration without parentheses wouldn't find it there.
  /// Creates a property that resolves its type with its own name, at the reads that `policy` specifies.
  @inlinable public init(
    _ policy: InjectionPolicy = .once, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), policy == .once ? .once : .everyRead)
  }

  /// The value of a property of a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let memory = container[keyPath: path].storage.memory
      if memory.isCurrent { return withExtendedLifetime(container) { memory.read() } }
      return container[keyPath: path].makeValue(in: container)
    }
    set {
      // The old value is released after the change, because its deinitializer may read the property.
      withExtendedLifetime(container[keyPath: path]) { container[keyPath: path].assign(newValue) }
    }
  }

  /// The value of a property of a struct, or of a local variable.
  @inlinable public var wrappedValue: Value {
    get {
      if storage.memory.isCurrent { return withExtendedLifetime(self) { storage.memory.read() } }
      return makeValue(in: nil)
    }
    set { assign(newValue) }
  }

  /// The projection `$property` in a class or an actor, which knows the enclosing object.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: ReferenceWritableKeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    get { Projection(injected: container[keyPath: path], container: container) }
    set { withExtendedLifetime(container[keyPath: path]) { container[keyPath: path] = newValue.injected } }
  }

  /// The projection `$property` in a struct, which has no enclosing object.
  public var projectedValue: Projection {
    get { Projection(injected: self, container: nil) }
    set { withExtendedLifetime(self) { self = newValue.injected } }
  }

  /// The value of a constant; the same as ``wrappedValue``.
  @inlinable public var value: Value { wrappedValue }

  /// Resolves the value if there is no current one; never inlined, so that other reads stay short.
  @inline(never) @inlinable func makeValue(in container: AnyObject?) -> Value {
    do throws(InjectionError) { return try resolve(in: container) } catch { error.stop(at: storage.place) }
  }

  @inlinable func resolve(in container: AnyObject?) throws(InjectionError) -> Value {
    switch policy {
    case .once: try storage.makeValue(in: container, followsReinjection: true, hook: hook)
    case .everyRead: try storage.makeTransientValue(in: container, from: .requested, hook: hook)
    case .weak(let weakStorage): try resolve(in: container, keptIn: weakStorage)
    }
  }

  /// Resolves the value of a property with the policy `weak`.
  @usableFromInline func resolve(
    in container: AnyObject?, keptIn weakStorage: PropertyStorage<WeakValue>
  ) throws(InjectionError) -> Value {
    var made: (value: Value, callHooks: () -> Void)?
    var isMaker = false
    let weakValue = try weakStorage.makeValue(
      in: container, callsHooks: false,
      fallback: { memory, _ throws(InjectionError) in
        (made, isMaker) = (try storage.prepared(in: container, from: nil, hook: hook), true)
        memory.put(WeakValue(holding: made?.value))
        return true
      })
    // As for every property, the hooks are called after the value is stored.
    made?.callHooks()
    // Nil isn't kept, so that the next read asks again.
    if isMaker && made == nil { weakStorage.forget() }
    return made?.value ?? weakValue.value()
  }

  @inlinable mutating func assign(_ value: Value) {
    if case .weak(let weakStorage) = policy {
      policy = .weak(weakStorage.replaced(with: WeakValue(holding: value)))
    } else {
      storage = storage.replaced(with: value)
    }
  }
}

// `@unchecked Sendable`: the storage's atomic `gate` guards the first value, its lock `newer` guards later values, and
// a hook is `@Sendable` or checks that it runs on the main actor.
extension Injected: @unchecked Sendable where Value: Sendable {}

extension Injected: NamedProperty, NeedingProperty, CustomStringConvertible {
  /// The identity of the property, by which reflection finds its name.
  public var identity: PropertyIdentity { storage.identity }
  /// The value, if there is one, and the place of the declaration.
  public var description: String { storage.description(of: "Injected") }
  /// A registration of the value's type, which only an Optional property can do without.
  package static var need: PropertyNeed { PropertyNeed(.required, takesNameOrKey: true) }
}

// MARK: The operations of a constant, and the projection

extension Injected {
  /// Whether the constant has a value that was injected or assigned, and that is still alive if it is held weakly.
  public var hasValue: Bool {
    if case .weak(let weakStorage) = policy { return weakStorage.value?.isAlive ?? false }
    return storage.hasValue
  }

  /// Returns the value of a constant, or throws an error, as ``Projection/resolve()`` does.
  @discardableResult
  public func resolve() throws(InjectionError) -> Value { try resolve(in: nil) }

  /// Drops the value of a constant, so that the next read gets another one from the registry.
  ///
  /// Other threads may be reading the first value, so that value stays in memory as long as the constant does. For a
  /// property, use `$property.reset()`.
  public func reset() {
    if case .weak(let weakStorage) = policy { weakStorage.forget() }
    storage.forget()
  }

  /// The registry that the constant asks, which was current when the constant was created.
  public var registry: InitializerRegistry { storage.registry }

  /// The projection `$property`, with operations that a plain read or assignment doesn't offer.
  public struct Projection {
    fileprivate(set) var injected: Injected
    /// The enclosing object; nil in a struct and for a local variable.
    fileprivate let container: AnyObject?

    /// Whether the property has a value that was injected or assigned, and that is still alive if it is held weakly.
    public var hasValue: Bool { injected.hasValue }

    /// Returns the value as a read does, but throws an error if a read would stop the program.
    ///
    /// - Throws: `.notRegistered` (including when the property's registry is gone), `.cycle`, `.initializerFailed`,
    ///   `.wrongIsolation`, `.notReady` or `.stackExhausted`.
    @discardableResult
    public func resolve() throws(InjectionError) -> Value { try injected.resolve(in: container) }

    /// Drops the value, even an assigned one, so that the next read asks the registry.
    ///
    /// Copies of a struct keep their value. Readers that wait for a value that is being created get that value.
    public mutating func reset() {
      if case .weak(let weakStorage) = injected.policy { injected.policy = .weak(weakStorage.replacedWithNothing()) }
      injected.storage = injected.storage.replacedWithNothing()
    }

    /// The registry that the property asks, which was current when the enclosing object was created.
    ///
    /// An object can use this registry to create another object in it: `$service.registry.run { Child() }`.
    public var registry: InitializerRegistry { injected.registry }
  }
}

// MARK: Initializers

extension Injected {
  /// Creates a property that resolves with `name` instead of its own name.
  @inlinable public init(_ name: String, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
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
  /// - Precondition: The property is an Optional of a class, or of a protocol that only classes conform to.
  @inlinable public init(
    _ policy: WeakInjectionPolicy, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value: ExpressibleByNilLiteral {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column))
    self.policy = .weak(PropertyStorage(inPlaceOf: storage))
  }

  /// Creates a property that resolves a declared key and holds its value weakly.
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

  /// Unavailable, because a declared key has its own initializer.
  @available(
    *, unavailable,
    message: "A key has its own initializer: leave out the expression, or write registry.register(.key) { … }."
  )
  public init(
    wrappedValue: Value, _ key: InjectionKey<Value>, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) { fatalError() }

  /// Unavailable, because a declared key is written with a dot.
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

  // A parameter of type `Value.Type` would hide what the compiler says of a misspelled key.
  /// Unavailable, because a property's type follows its name.
  @available(*, unavailable, message: "The type follows the name, as in @Injected var clock: Clock.")
  @_disfavoredOverload
  public init(_ type: any Any.Type, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    fatalError()
  }

  /// Creates a property that calls a closure after each injection.
  ///
  /// A closure that names wrapped properties of the enclosing class may not compile, because of a circular reference,
  /// and a closure in a main-actor class can't use the object's main-actor state. Pass a method instead. The parameters
  /// are the same in all forms.
  ///
  /// - Parameters:
  ///   - key: A declared key to resolve instead of the type.
  ///   - onInjection: Called once for each injection, with the enclosing object and the value, after the value is
  ///     stored.
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

  /// Creates a property that calls a method of the enclosing object, such as `Page.didGet`, after each injection.
  @inlinable public init<Container: AnyObject>(
    _ key: InjectionKey<Value>? = nil, onInjection: @escaping @Sendable (Container) -> (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(key, onInjection: { onInjection($0)($1) }, fileID: fileID, line: line, column: column)
  }

  /// Creates a property of a main-actor class that calls a method of the enclosing object after each injection.
  @inlinable public init<Container: AnyObject & Sendable>(
    _ key: InjectionKey<Value>? = nil, onInjection: @escaping @MainActor (Container) -> @MainActor (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, key: key, hook: mainActorPropertyHook(at: place, onInjection))
  }
}
