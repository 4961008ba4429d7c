// Every form of `register` only calls `add`, for one kind of closure. `fileID` and `line` are the place of the
// registration, for messages.

extension InitializerRegistry {
  /// Registers a closure that creates values of a type.
  ///
  /// ```swift
  /// registry.register { Clock() }
  /// registry.register((any Tracker).self, named: "backup") { FileTracker() }
  /// ```
  ///
  /// The parameters have the same meaning in all forms.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value; for a protocol, `(any Tracker).self`. Other forms take a
  ///     declared key, and the registration takes the place of the key's own initializer.
  ///   - name: The names of the properties that get the value; nil for all names.
  ///   - scope: How long the value is kept, and who shares it. The default for a key is the key's own scope.
  ///   - fileID: The file of the registration, for messages.
  ///   - line: The line of the registration, for messages.
  ///   - initializer: Creates a value each time the scope needs one, on the requesting thread, with no lock held.
  /// - Returns: The registration, for adding hooks and for withdrawing it.
  @inlinable @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @Sendable () throws -> Value
  ) -> Registration<Value> {
    add(.independent(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates values from other services.
  ///
  /// ```swift
  /// registry.register(Network.self) { Network(clock: try $0.resolve()) }
  /// ```
  @inlinable @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(.resolving(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates a value for the properties of one class, from the object that asks.
  ///
  /// `subclasses` tells whether the registration is also for the properties of subclasses. All instances of the class
  /// share a value that the scope keeps.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Container) throws -> Value
  ) -> Registration<Value> {
    register(type, in: container, subclasses: subclasses, named: name, scope: scope, fileID: fileID, line: line) {
      container, _ in try initializer(container)
    }
  }

  /// Registers a closure that creates a value for the properties of one class, from the object that asks and other
  /// services.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainer(initializer), in: ClassConstraint(container, subclasses: subclasses), named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an initializer; each of its parameters is resolved by type before the call.
  ///
  /// ```swift
  /// registry.register(Checkout.self, autowire: Checkout.init)
  /// ```
  ///
  /// Its dependencies are known before it runs, so SpellDiagnostics can check and draw them.
  @inlinable @discardableResult
  public func register<Value, each Dependency>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Registration<Value> {
    add(.autowiring(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  // One to three parameters have their own forms, since the compiler doesn't specialize a parameter pack where it is
  // called (benchmark: "resolve a graph of five").

  /// Registers an initializer whose one parameter is resolved by type.
  @inlinable @discardableResult
  public func register<Value, First>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (First) throws -> Value
  ) -> Registration<Value> {
    let making = Making.resolving(dependencies: [First.self]) { (registry: InitializerRegistry) in
      try initializer(registry.resolve())
    }
    return add(making, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an initializer whose two parameters are resolved by type.
  @inlinable @discardableResult
  public func register<Value, First, Second>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (First, Second) throws -> Value
  ) -> Registration<Value> {
    let making = Making.resolving(dependencies: [First.self, Second.self]) { (registry: InitializerRegistry) in
      try initializer(registry.resolve(), registry.resolve())
    }
    return add(making, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an initializer whose three parameters are resolved by type.
  @inlinable @discardableResult
  public func register<Value, First, Second, Third>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (First, Second, Third) throws -> Value
  ) -> Registration<Value> {
    let making = Making.resolving(dependencies: [First.self, Second.self, Third.self]) {
      (registry: InitializerRegistry) in
      try initializer(registry.resolve(), registry.resolve(), registry.resolve())
    }
    return add(making, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an existing instance, and holds it until the registration is withdrawn; a ``Registration`` that you keep
  /// also holds the instance.
  ///
  /// `match` tells whether the instance serves properties of its type only, or also those of its supertypes.
  @discardableResult
  public func register<Value: Sendable>(
    instance: Value, as match: InstanceMatch = .itsType, named name: PropertyName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    add(.instance(instance), named: name, scope: .unique, as: match, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an existing instance for the properties of one of its types, such as a protocol.
  ///
  /// ```swift
  /// registry.register((any Tracker).self, instance: FileTracker())
  /// ```
  @discardableResult
  public func register<Value: Sendable>(
    _ type: Value.Type, instance: Value, named name: PropertyName? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Value> {
    add(.instance(instance), named: name, scope: .unique, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an existing instance for the properties of one class.
  @discardableResult
  public func register<Value: Sendable, Container: AnyObject>(
    instance: Value, as match: InstanceMatch = .itsType, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    let constraint = ClassConstraint(container, subclasses: subclasses)
    return add(
      .instance(instance), in: constraint, named: name, scope: .unique, as: match,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Adds a registration to the table, for every form of `register`; some forms are inlined into other modules, so that
  /// the compiler knows the closure there (benchmark: "Resolve a unique Int").
  ///
  /// - Parameters:
  ///   - key: The declared key that the registration is for; nil if it is for the type.
  ///   - scope: How long a value is kept; nil for the key's own scope.
  @usableFromInline func add<Value>(
    _ making: Making, for key: InjectionKey<Value>? = nil, in container: ClassConstraint? = nil,
    named name: PropertyName?, scope: Scope<Value>?, as match: InstanceMatch = .itsType,
    arguments: (any Any.Type)? = nil, at place: SourcePlace
  ) -> Registration<Value> {
    let scope = scope ?? key?.scope ?? .unique
    scope.check(at: place)
    let recordKey = RegistrationRecord.Key(
      service: Service(Value.self, key: key), container: container, name: name,
      servesSupertypes: match == .anySupertype, arguments: arguments.map { ErasedType($0) })
    let record = RegistrationRecord(recordKey, making, scope.lifetime, scope.expiry, in: self, at: place)
    insert(record)
    return Registration(record: record, registry: self)
  }
}
