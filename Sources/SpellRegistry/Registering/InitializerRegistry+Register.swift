// Every form of `register` is a shell of one statement around `add`, for one kind of closure. `fileID` and `line` tell messages
// where the registration is written.

extension InitializerRegistry {
  /// Registers a closure that creates values of a type.
  ///
  /// ```swift
  /// registry.register { Clock() }
  /// registry.register((any Tracker).self, named: "backup") { FileTracker() }
  /// ```
  ///
  /// The parameters are the same in all forms.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value. A protocol is a type: `(any Tracker).self`. In other forms, a
  ///     declared key: what is registered for it takes the place of the key's own initializer.
  ///   - name: The properties that get it, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it. For a key, the default is the key's own.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - initializer: Creates the value, each time the scope needs one, on the thread that asks, with no lock held.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @inlinable @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @Sendable () throws -> Value
  ) -> Registration<Value> {
    add(.independent(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates a value with the help of others.
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

  /// Registers a closure that creates a value for the properties of one class, from the instance that asks.
  ///
  /// `subclasses` tells whether it is for the properties of subclasses too. A value that the scope keeps is shared by all
  /// instances.
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

  /// Registers a closure that creates a value for the properties of one class, from the instance that asks and with the
  /// help of others.
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

  /// Registers an initializer by its parameters' types: each is resolved, then it is called.
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

  // For one to three parameters apart: a parameter pack isn't compiled for its types where it is called (benchmark: "resolve a
  // graph of five").

  /// Registers an initializer by the types of its one parameter.
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

  /// Registers an initializer by the types of its two parameters.
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

  /// Registers an initializer by the types of its three parameters.
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

  /// Registers an instance that exists already, and holds it until the registration is withdrawn; a ``Registration`` that you
  /// keep holds it, too.
  ///
  /// `match` tells whether it serves properties of its type only, or of any superclass and protocol that it has.
  @discardableResult
  public func register<Value: Sendable>(
    instance: Value, as match: InstanceMatch = .itsType, named name: PropertyName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    add(.instance(instance), named: name, scope: .unique, as: match, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an instance that exists already, for the properties of a type that it has.
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

  /// Registers an instance that exists already for the properties of one class.
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

  /// Adds a registration to the table, where every form ends; those that are inlined into other modules, so that the
  /// compiler knows the closure there, too (benchmark: "Resolve a unique Int").
  ///
  /// - Parameters:
  ///   - key: The declared key that the values are for; nil for their type.
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
