// Registrations of initializers by their parameters' types.

extension InitializerRegistry {
  /// Registers an initializer by its parameters' types: each is resolved, then it is called.
  ///
  /// ```swift
  /// registry.register(Checkout.self, autowire: Checkout.init)  // init(network: Network, clock: Clock)
  /// ```
  ///
  /// What it needs is known before it runs, so `SpellDiagnostics` can check and draw it.
  @discardableResult
  public func register<Value, each Dependency>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Registration<Value> {
    add(.autowiring(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  // For one to four parameters apart: a parameter pack can't be compiled for its types where it is called (benchmark:
  // "resolve a graph of five").

  /// Registers an initializer by the type of its one parameter, as the first form does.
  @inlinable @discardableResult
  public func register<Value, First>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (First) throws -> Value
  ) -> Registration<Value> {
    register(
      .resolving(dependencies: [First.self]) { try initializer($0.resolve()) }, named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an initializer by the types of its two parameters, as the first form does.
  @inlinable @discardableResult
  public func register<Value, First, Second>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (First, Second) throws -> Value
  ) -> Registration<Value> {
    register(
      .resolving(dependencies: [First.self, Second.self]) { try initializer($0.resolve(), $0.resolve()) }, named: name,
      scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an initializer by the types of its three parameters, as the first form does.
  @inlinable @discardableResult
  public func register<Value, First, Second, Third>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (First, Second, Third) throws -> Value
  ) -> Registration<Value> {
    register(
      .resolving(dependencies: [First.self, Second.self, Third.self]) {
        try initializer($0.resolve(), $0.resolve(), $0.resolve())
      }, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an initializer by the types of its four parameters, as the first form does.
  @inlinable @discardableResult
  public func register<Value, First, Second, Third, Fourth>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (First, Second, Third, Fourth) throws -> Value
  ) -> Registration<Value> {
    register(
      .resolving(dependencies: [First.self, Second.self, Third.self, Fourth.self]) {
        try initializer($0.resolve(), $0.resolve(), $0.resolve(), $0.resolve())
      }, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }
}
