// Registrations for a declared key, which take the place of the key's own initializer. The parameters are those of the forms
// for a type; without a scope, the key's own counts.

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
    add(
      .independent(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key with the help of others.
  @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @Sendable (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      .resolving(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key for the properties of one class, from the instance that
  /// asks.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ key: InjectionKey<Value>, in container: Container.Type, subclasses: Bool = false, named name: PropertyName? = nil,
    scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @Sendable (Container) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainer { container, _ in try initializer(container) }, for: key,
      in: ClassConstraint(container, subclasses: subclasses), named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key for the properties of one class, from the instance that
  /// asks and with the help of others.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ key: InjectionKey<Value>, in container: Container.Type, subclasses: Bool = false, named name: PropertyName? = nil,
    scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainer(initializer), for: key, in: ClassConstraint(container, subclasses: subclasses), named: name,
      scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an initializer of a declared key's values by its parameters' types: each is resolved, then it is called.
  @discardableResult
  public func register<Value, each Dependency>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Registration<Value> {
    add(
      .autowiring(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an instance that exists already for a declared key, and holds it until the registration is withdrawn; a
  /// ``Registration`` that you keep holds it, too.
  @discardableResult
  public func register<Value: Sendable>(
    _ key: InjectionKey<Value>, instance: Value, named name: PropertyName? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Registration<Value> {
    add(held(instance), for: key, named: name, scope: .unique, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key on the main actor.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor () throws -> Value
  ) -> Registration<Value> {
    add(
      .onMainActor(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key on the main actor with the help of others.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      .onMainActor(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key on the main actor for the properties of one class, from
  /// the instance that asks.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, Container: AnyObject & Sendable>(
    _ key: InjectionKey<Value>, in container: Container.Type, subclasses: Bool = false, named name: PropertyName? = nil,
    scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor (Container) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainerOnMainActor { container, _ in try initializer(container) }, for: key,
      in: ClassConstraint(container, subclasses: subclasses), named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a main-actor initializer of a declared key's values by its parameters' types: each is resolved on the main
  /// actor, then it is called.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, each Dependency>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> Registration<Value> {
    add(
      .autowiringOnMainActor(initializer), for: key, named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }
}
