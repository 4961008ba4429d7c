// Every form of `register` comes down to one registration in the table. The parameters that they share are documented at the
// first form; `fileID` and `line` tell messages where the registration is written.

extension InitializerRegistry {
  /// Registers a closure that creates values of a type.
  ///
  /// ```swift
  /// registry.register { Clock() }
  /// registry.register((any Tracker).self, named: "backup", scope: .singleton) { FileTracker() }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value. A protocol is a type: `(any Tracker).self`.
  ///   - name: The properties that get it, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it.
  ///   - initializer: Creates the value, each time the scope needs one, on the thread that asks, with no lock held.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @inlinable @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @Sendable () throws -> Value
  ) -> Registration<Value> {
    register(.independent(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
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
    register(.resolving(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates a value for the properties of one class, from the instance that asks.
  ///
  /// `subclasses` tells whether it is for the properties of subclasses too. A value that the scope keeps is shared by all
  /// instances.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID,
    line: UInt = #line, _ initializer: @escaping @Sendable (Container) throws -> Value
  ) -> Registration<Value> {
    register(
      type, in: container, subclasses: subclasses, named: name, scope: scope, fileID: fileID, line: line
    ) { container, _ in try initializer(container) }
  }

  /// Registers a closure that creates a value for the properties of one class, from the instance that asks and with the
  /// help of others.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID,
    line: UInt = #line, _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainer(initializer), in: ClassConstraint(container, subclasses: subclasses), named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an instance that exists already, and holds it until the registration is withdrawn; a ``Registration`` that you
  /// keep holds it, too.
  ///
  /// `match` tells whether it serves properties of its type only, or of any superclass and protocol that it has.
  @inlinable @discardableResult
  public func register<Value: Sendable>(
    instance: Value, as match: InstanceMatch = .itsType, named name: PropertyName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    register(held(instance), named: name, scope: .unique, at: SourcePlace(fileID: fileID, line: line), match: match)
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
    register(instance: instance, named: name, fileID: fileID, line: line)
  }

  /// Registers an instance that exists already for the properties of one class.
  @discardableResult
  public func register<Value: Sendable, Container: AnyObject>(
    instance: Value, as match: InstanceMatch = .itsType, in container: Container.Type,
    subclasses: Bool = false,
    named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    add(
      held(instance), in: ClassConstraint(container, subclasses: subclasses), named: name, scope: .unique,
      at: SourcePlace(fileID: fileID, line: line), match: match)
  }

  /// Registers an instance in place of the registration with the same key, which comes back when this one is withdrawn.
  ///
  /// If another instance was registered in place of this one meanwhile, withdrawing this one leaves that in force.
  @discardableResult
  package func substitute<Value: Sendable>(
    instance: Value, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    add(held(instance), scope: .unique, at: SourcePlace(fileID: fileID, line: line), by: substitute)
  }

  /// Registers an instance, and returns the registration that it replaces instead of dropping it.
  ///
  /// For a caller that holds a lock: what an instance does when it is released must not happen there.
  package func replace<Value: Sendable>(
    with instance: Value, as match: InstanceMatch, named name: PropertyName, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> (registration: Registration<Value>, replaced: (any Sendable)?) {
    var replaced: RegistrationStorage?
    let registration: Registration<Value> = add(
      held(instance), named: name, scope: .unique, at: SourcePlace(fileID: fileID, line: line), match: match
    ) { new in replaced = ThreadState.write { self.table.insert(new) } }
    return (registration, replaced)
  }

  /// An instance to register, which this registry holds from now on.
  @inlinable func held<Value: Sendable>(_ instance: Value) -> Making {
    if type(of: instance) is any AnyObject.Type { loosenCurrentReference() }
    return .instance(instance)
  }

  /// Calls `add`, for forms that are inlined into other modules, so that the compiler knows the closure there (benchmark:
  /// "resolve a unique").
  @usableFromInline func register<Value>(
    _ making: consuming Making, named name: PropertyName?, scope: Scope<Value>, at place: SourcePlace,
    match: InstanceMatch = .itsType
  ) -> Registration<Value> {
    add(making, named: name, scope: scope, at: place, match: match)
  }

  /// Where every form of `register` ends.
  ///
  /// - Parameters:
  ///   - key: The declared key that the values are for; nil for their type.
  ///   - scope: How long a value is kept; nil for the key's own scope.
  func add<Value>(
    _ making: consuming Making, for key: InjectionKey<Value>? = nil, in container: ClassConstraint? = nil,
    named name: PropertyName? = nil, scope: Scope<Value>?, at place: SourcePlace, match: InstanceMatch = .itsType,
    arguments: (any Any.Type)? = nil, by insert: ((RegistrationStorage) -> Void)? = nil
  ) -> Registration<Value> {
    let scope = scope ?? key?.scope ?? .unique
    scope.check(at: place)
    let registrationKey = RegistrationKey(
      service: Service(Value.self, key: key), container: container, name: name,
      servesSupertypes: match == .anySupertype, arguments: arguments.map { ObjectIdentifier($0) })
    let registration = RegistrationStorage(
      key: registrationKey, lifetime: scope.lifetime, expiry: scope.expiry, clock: clock, place: place, making)
    if let insert { insert(registration) } else { self.insert(registration) }
    return Registration(storage: registration, registry: self)
  }

  // Initializers that run on the main actor. Asking for their values anywhere else throws an error of code `.wrongIsolation`,
  // unless the value is kept and there already; `resolveAsync` goes to the main actor for it.

  /// Registers a closure that creates values of a type on the main actor.
  ///
  /// ```swift
  /// registry.registerOnMainActor(scope: .singleton) { Loader() }
  /// ```
  ///
  /// The parameters are those of the other forms of `register`.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor () throws -> Value
  ) -> Registration<Value> {
    add(.onMainActor(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates a value on the main actor with the help of others.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(.onMainActor(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates a value on the main actor for the properties of one class, from the instance that
  /// asks.
  ///
  /// `subclasses` says whether it is for the properties of subclasses too.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, Container: AnyObject & Sendable>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID,
    line: UInt = #line, _ initializer: @escaping @MainActor (Container) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainerOnMainActor { container, _ in try initializer(container) },
      in: ClassConstraint(container, subclasses: subclasses), named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a closure that creates a value on the main actor for the properties of one class, from the instance that
  /// asks and with the help of others.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, Container: AnyObject & Sendable>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID,
    line: UInt = #line, _ initializer: @escaping @MainActor (Container, Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      .inContainerOnMainActor(initializer), in: ClassConstraint(container, subclasses: subclasses), named: name,
      scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers a main-actor initializer by its parameters' types: each is resolved on the main actor, then it is called.
  ///
  /// ```swift
  /// registry.registerOnMainActor(autowire: Store.init)  // init(loader: Loader) of a main-actor class
  /// ```
  @discardableResult
  public func registerOnMainActor<Value: Sendable, each Dependency>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> Registration<Value> {
    add(.autowiringOnMainActor(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }
}
