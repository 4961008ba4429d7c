// A registration for a declared key takes the place of the key's own initializer.

extension InitializerRegistry {
  /// Registers a closure that creates the values of a declared key.
  ///
  /// ```swift
  /// registry.register(.time) { FixedTime(now: 9) }
  /// ```
  @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @Sendable () throws -> Value
  ) -> Registration<Value> {
    add(.independent(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key from other services.
  @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @Sendable (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(.resolving(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key for the properties of one class, from the object
  /// that asks.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ key: InjectionKey<Value>, in container: Container.Type, subclasses: Bool = false, named name: PropertyName? = nil,
    scope: Scope<Value>? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Container) throws -> Value
  ) -> Registration<Value> {
    register(key, in: container, subclasses: subclasses, named: name, scope: scope, fileID: fileID, line: line) {
      container, _ in try initializer(container)
    }
  }

  /// Registers a closure that creates the values of a declared key for the properties of one class, from the object
  /// that asks and other services.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ key: InjectionKey<Value>, in container: Container.Type, subclasses: Bool = false, named name: PropertyName? = nil,
    scope: Scope<Value>? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainer(initializer), for: key, in: ClassConstraint(container, subclasses: subclasses), named: name,
      scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an initializer that creates the values of a declared key; each of its parameters is resolved by type.
  @discardableResult
  public func register<Value, each Dependency>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Registration<Value> {
    add(.autowiring(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an existing instance for a declared key, and holds it until the registration is withdrawn.
  @discardableResult
  public func register<Value: Sendable>(
    _ key: InjectionKey<Value>, instance: Value, named name: PropertyName? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Value> {
    add(.instance(instance), for: key, named: name, scope: .unique, at: SourcePlace(fileID: fileID, line: line))
  }
}
