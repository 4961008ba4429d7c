// These initializers run on the main actor. A request for their values from elsewhere throws an error of code
// `.wrongIsolation`, unless a kept value already exists; `resolveAsync` makes the value on the main actor. The points
// of their resolvers have no container, because the container may belong to another actor.

extension InitializerRegistry {
  /// Registers a closure that creates values of a type on the main actor.
  ///
  /// ```swift
  /// registry.registerOnMainActor(scope: .singleton) { Loader() }
  /// ```
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor () throws -> Value
  ) -> Registration<Value> {
    add(.onMainActor { _ in try initializer() }, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates values of a type on the main actor from other services.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(.onMainActor(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates values of a type on the main actor for the properties of one class, from the
  /// object that asks.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, Container: AnyObject & Sendable>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @MainActor (Container) throws -> Value
  ) -> Registration<Value> {
    registerOnMainActor(
      type, in: container, subclasses: subclasses, named: name, scope: scope, fileID: fileID, line: line
    ) { container, _ in try initializer(container) }
  }

  /// Registers a closure that creates values of a type on the main actor for the properties of one class, from the
  /// object that asks and other services.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, Container: AnyObject & Sendable>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @MainActor (Container, Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainerOnMainActor(initializer), in: ClassConstraint(container, subclasses: subclasses), named: name,
      scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a main-actor initializer for a type; each of its parameters is resolved by type, on the main actor.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, each Dependency>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> Registration<Value> {
    add(.autowiringOnMainActor(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key on the main actor.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor () throws -> Value
  ) -> Registration<Value> {
    add(
      .onMainActor { _ in try initializer() }, for: key, named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key on the main actor from other services.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(.onMainActor(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates the values of a declared key on the main actor for the properties of one class,
  /// from the object that asks.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, Container: AnyObject & Sendable>(
    _ key: InjectionKey<Value>, in container: Container.Type, subclasses: Bool = false, named name: PropertyName? = nil,
    scope: Scope<Value>? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @MainActor (Container) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainerOnMainActor { container, _ in try initializer(container) }, for: key,
      in: ClassConstraint(container, subclasses: subclasses), named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a main-actor initializer for a declared key; each of its parameters is resolved by type on that actor.
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
