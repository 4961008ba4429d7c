// Every overload of `register` only calls `add`. The parameters `fileID` and `line` are the place of the registration,
// for messages.

extension InitializerRegistry {
  /// Registers a closure that creates values of a type.
  ///
  /// ```swift
  /// registry.register { Clock() }
  /// registry.register((any Tracker).self, named: "backup") { FileTracker() }
  /// ```
  ///
  /// All overloads have the same order of parameters: the type or key, the names, the scope, and last the closure or
  /// initializer.
  ///
  /// | For what | How the value is made | What to write |
  /// |---|---|---|
  /// | the type of the result | a closure | `register { Clock() }` |
  /// | the type of the result | a closure that uses other services | `register { try Network(clock: $0.resolve()) }` |
  /// | a type of your choice, such as a protocol | either closure | `register((any Tracker).self) { FileTracker() }` |
  /// | the type of the result | an ``Initializer`` | `register(.autowire(Network.init))` |
  /// | a type of your choice | an ``Initializer`` | `register((any Tracker).self, .instance(tracker))` |
  /// | a declared key | either closure | `register(.time) { FixedTime(now: 9) }` |
  /// | a declared key | an ``Initializer`` | `register(.time, .instance(FixedTime(now: 9)))` |
  ///
  /// An ``Initializer`` is for everything that isn't a plain closure: autowiring, one class of containers, the main
  /// actor, `async` closures, existing instances, and factories that take arguments.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value; for a protocol, `(any Tracker).self`. Other overloads
  ///     take a declared key, whose own initializer the registration replaces.
  ///   - name: The names of the properties that get the value; nil for all names.
  ///   - scope: How long a value is kept, and which requests share it. The default for a declared key is the key's own
  ///     scope.
  ///   - fileID: The file of the registration, for messages.
  ///   - line: The line of the registration, for messages.
  ///   - make: Creates a value each time the scope needs one, on the requesting thread, with no lock held.
  /// - Returns: The registration, for adding hooks and for withdrawing it.
  @inlinable @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: @escaping @Sendable () throws -> Value
  ) -> Registration<Value> {
    add(.independent(make), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates values of a type from other services.
  ///
  /// ```swift
  /// registry.register(Network.self) { Network(clock: try $0.resolve()) }
  /// ```
  @inlinable @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: @escaping @Sendable (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(.resolving(make), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an ``Initializer`` for a type of your choice, such as a protocol.
  ///
  /// ```swift
  /// registry.register(Network.self, scope: .singleton, .autowire(Network.init))
  /// registry.register((any Tracker).self, .instance(FileTracker()))
  /// ```
  ///
  /// - Precondition: If `initializer` makes factories, `scope` must be `.unique`, because `.factory(scope:)` specifies
  ///   the scope of the factory's values. An async initializer must not be for one class of containers.
  @inlinable @discardableResult
  public func register<Value>(
    _ type: Value.Type, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: Initializer<Value>
  ) -> Registration<Value> {
    add(initializer.erased, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an ``Initializer`` for the type of the values that it makes.
  ///
  /// ```swift
  /// registry.register(.autowire(Network.init))
  /// registry.register(scope: .singleton, .onMainActor { Loader() })
  /// registry.register(.factory { (resolver, number: Int) in Ticket(number: number) })
  /// ```
  ///
  /// - Precondition: The preconditions of
  ///   ``register(_:named:scope:fileID:line:_:)-(Value.Type,_,_,_,_,Initializer<Value>)`` apply.
  @inlinable @discardableResult
  public func register<Value>(
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID,
    line: UInt = #line, _ initializer: Initializer<Value>
  ) -> Registration<Value> {
    add(initializer.erased, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Adds a registration to the table, on behalf of every overload of `register`.
  ///
  /// The overloads for types are inlined into other modules, so that the compiler knows the closure at the call site
  /// (benchmark: "Resolve a unique Int").
  ///
  /// - Parameters:
  ///   - key: The declared key that the registration is for; nil if the registration is for the type `Value`.
  ///   - scope: How long a value is kept, and which requests share it; nil for the key's own scope.
  @usableFromInline func add<Value>(
    _ initializer: ErasedInitializer, for key: InjectionKey<Value>? = nil, named name: PropertyName?,
    scope: Scope<Value>?, at place: SourcePlace
  ) -> Registration<Value> {
    let record = record(initializer, for: key, named: name, scope: scope, at: place)
    insert(record)
    return Registration(record: record, registry: self)
  }

  /// Returns a registration that isn't in the table yet.
  func record<Value>(
    _ initializer: ErasedInitializer, for key: InjectionKey<Value>?, named name: PropertyName?, scope: Scope<Value>?,
    at place: SourcePlace
  ) -> RegistrationRecord {
    initializer.check(for: Value.self, key: key, scope: scope?.lifetime, at: place)
    let scope = scope ?? key?.scope ?? .unique
    scope.lifetime.check(for: Value.self, at: place)
    return RegistrationRecord(
      for: Service(Value.self, key: key), named: name, initializer, scope.lifetime, scope.expiry, in: self, at: place)
  }
}

// MARK: Declared keys

// A registration for a declared key replaces the key's own initializer.

extension InitializerRegistry {
  /// Registers a closure that creates the values of a declared key.
  ///
  /// ```swift
  /// registry.register(.time) { FixedTime(now: 9) }
  /// ```
  @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: @escaping @Sendable () throws -> Value
  ) -> Registration<Value> {
    add(.independent(make), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key from other services.
  @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: @escaping @Sendable (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(.resolving(make), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an ``Initializer`` for a declared key, in place of the key's own initializer.
  ///
  /// ```swift
  /// registry.register(.time, .instance(FixedTime(now: 9)))
  /// registry.register(.loader, .onMainActor { Loader(title: "mine") })
  /// ```
  ///
  /// - Precondition: If `initializer` is `.instance(_:as:)`, it must not have `as: .anySupertype`, because an instance
  ///   for a key serves only that key. The preconditions of
  ///   ``register(_:named:scope:fileID:line:_:)-(Value.Type,_,_,_,_,Initializer<Value>)`` also apply.
  @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: Initializer<Value>
  ) -> Registration<Value> {
    add(initializer.erased, for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }
}

// MARK: Changes

extension InitializerRegistry {
  /// Changes a copy of the value that this registry has for a declared key, and registers the copy for the key.
  ///
  /// ```swift
  /// try registry.override(.player) { $0.play = { _ in } }
  /// ```
  ///
  /// If a service is a struct of closures, this method can replace one closure in a test or a preview. The call
  /// resolves the key immediately. Later requests to this registry get the changed value. Exceptions are requests for
  /// which the key has a registration that is limited to the requesting object's class or the property's name.
  /// Properties that already have a value keep it.
  ///
  /// - Parameters:
  ///   - key: The declared key. Its value may come from a registration or from the key's own initializer.
  ///   - fileID: The file of the registration, for messages.
  ///   - line: The line of the registration, for messages.
  ///   - change: Changes a copy of the value. An object isn't copied, so all users of the object see the change.
  /// - Throws: The error of a request for the key, or the error that `change` throws.
  @discardableResult
  public func override<Value: Sendable>(
    _ key: InjectionKey<Value>, fileID: StaticString = #fileID, line: UInt = #line,
    _ change: (inout Value) throws -> Void
  ) throws -> Registration<Value> {
    var value: Value = try ValueMemory.value { memory throws(InjectionError) in
      try putValue(toRegisterFor: key, of: Value.self, in: memory)
    }
    try change(&value)
    return register(key, fileID: fileID, line: line, .instance(value))
  }

  /// Puts the value of a key, which this registry will keep, in memory.
  func putValue(
    toRegisterFor key: InjectionKeys, of type: any Any.Type, in memory: ValueMemory
  ) throws(InjectionError) {
    try resolve(Request(type, key, isFromKept: true), into: memory)
  }
}
