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
  @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @Sendable () throws -> Value
  ) -> Registration<Value> {
    add(nil, name, scope, SourcePlace(fileID: fileID, line: line), .independent(initializer))
  }

  /// Registers a closure that creates a value with the help of others.
  ///
  /// ```swift
  /// registry.register(Network.self) { Network(clock: try $0.resolve()) }
  /// ```
  @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(nil, name, scope, SourcePlace(fileID: fileID, line: line), .resolving(initializer))
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
    let limit = ClassConstraint(container, subclasses: subclasses)
    return add(
      limit, name, scope, SourcePlace(fileID: fileID, line: line),
      .resolving { resolver in
        guard let container = resolver.point.container as? Container else {
          trap("A registration in \(Container.self) ran for another container; please report this.")
        }
        return try initializer(container, resolver)
      })
  }

  /// Registers an initializer by its parameters' types: each is resolved, then it is called.
  ///
  /// ```swift
  /// registry.register(Checkout.self, autowire: Checkout.init)  // init(network: Network, clock: Clock)
  /// ```
  ///
  /// What it needs is known before it runs, so `validate()` and `graph()` can check and draw it.
  @discardableResult
  public func register<Value, each Dependency>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Registration<Value> {
    var dependencies: [any Any.Type] = []
    repeat dependencies.append((each Dependency).self)
    return add(
      nil, name, scope, SourcePlace(fileID: fileID, line: line), dependencies: dependencies,
      .resolving { resolver in
        try initializer(repeat try resolver.registry.resolve((each Dependency).self, named: nil, in: nil, from: nil))
      })
  }

  /// Registers a closure that creates a value from arguments that are known only at run time.
  ///
  /// ```swift
  /// registry.register(Ticket.self, arguments: Int.self) { _, number in Ticket(number: number) }
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7)
  /// ```
  ///
  /// Found only by ``resolve(_:arguments:)`` with arguments of the same type; properties never get it. Several
  /// arguments are a tuple or a struct.
  @discardableResult
  public func register<Value, Arguments>(
    _ type: Value.Type = Value.self, arguments: Arguments.Type, fileID: StaticString = #fileID,
    line: UInt = #line, _ initializer: @escaping @Sendable (Resolver, Arguments) throws -> Value
  ) -> Registration<Value> {
    add(
      nil, nil, .unique, SourcePlace(fileID: fileID, line: line), arguments: arguments,
      .withArguments { resolver, arguments in
        guard let arguments = arguments as? Arguments else {
          trap("An initializer with \(Arguments.self) got other arguments; please report this.")
        }
        return try initializer(resolver, arguments)
      })
  }

  /// Registers an instance that exists already, and holds it until the registration is withdrawn.
  ///
  /// `match` tells whether it serves properties of its type only, or of any superclass and protocol that it has.
  @discardableResult
  public func register<Value: Sendable>(
    instance: Value, as match: InstanceMatch = .itsType, named name: PropertyName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    if type(of: instance) is any AnyObject.Type { loosenCurrentReference() }
    return add(nil, name, .unique, SourcePlace(fileID: fileID, line: line), match: match, .instance { instance })
  }

  /// Registers an instance that exists already for the properties of one class.
  @discardableResult
  public func register<Value: Sendable, Container: AnyObject>(
    instance: Value, as match: InstanceMatch = .itsType, in container: Container.Type,
    subclasses: Bool = false,
    named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    if type(of: instance) is any AnyObject.Type { loosenCurrentReference() }
    return add(
      ClassConstraint(container, subclasses: subclasses), name, .unique,
      SourcePlace(fileID: fileID, line: line), match: match, .instance { instance })
  }

  /// Registers an instance in place of the registration with the same key, which comes back when this one is withdrawn.
  ///
  /// If another instance was registered in place of this one meanwhile, withdrawing this one leaves that in force.
  @discardableResult
  package func substitute<Value: Sendable>(
    instance: Value, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    if type(of: instance) is any AnyObject.Type { loosenCurrentReference() }
    return add(
      nil, nil, .unique, SourcePlace(fileID: fileID, line: line), standsIn: true, .instance { instance })
  }

  /// Registers a closure that creates a value on the main actor.
  ///
  /// Asking for it anywhere else throws an ``InjectionError`` of code `.wrongIsolation`; ``resolveAsync(_:named:)`` goes to
  /// the main actor for it.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor () throws -> Value
  ) -> Registration<Value> {
    add(nil, name, scope, SourcePlace(fileID: fileID, line: line), .onMainActor { _ in try initializer() })
  }

  /// Registers a closure that creates a value on the main actor with the help of others.
  @discardableResult
  public func registerOnMainActor<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(nil, name, scope, SourcePlace(fileID: fileID, line: line), .onMainActor(initializer))
  }

  /// Registers an instance, and returns the registration that it replaces instead of dropping it.
  ///
  /// For a caller that holds a lock: what an instance does when it is released must not happen there.
  package func replace<Value: Sendable>(
    with instance: Value, as match: InstanceMatch, named name: PropertyName, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> (registration: Registration<Value>, replaced: (any Sendable)?) {
    if type(of: instance) is any AnyObject.Type { loosenCurrentReference() }
    let new = registration(
      nil, name, .unique, SourcePlace(fileID: fileID, line: line), match: match, .instance { instance })
    let replaced = ThreadState.write { table.insert(new) }
    return (Registration(storage: new, registry: self), replaced)
  }

  /// Where every form of `register` ends.
  func add<Value>(
    _ container: ClassConstraint?, _ name: PropertyName?, _ scope: Scope<Value>, _ place: SourcePlace,
    match: InstanceMatch = .itsType, arguments: (any Any.Type)? = nil, dependencies: [any Any.Type] = [],
    standsIn: Bool = false, _ initializer: TypedRegistration<Value>.Initializer
  ) -> Registration<Value> {
    scope.check(at: place)
    let registration = registration(
      container, name, scope, place, match: match, arguments: arguments, dependencies: dependencies, initializer)
    if standsIn { substitute(registration) } else { insert(registration) }
    return Registration(storage: registration, registry: self)
  }

  private func registration<Value>(
    _ container: ClassConstraint?, _ name: PropertyName?, _ scope: Scope<Value>, _ place: SourcePlace,
    match: InstanceMatch = .itsType, arguments: (any Any.Type)? = nil, dependencies: [any Any.Type] = [],
    _ initializer: TypedRegistration<Value>.Initializer
  ) -> TypedRegistration<Value> {
    let key = RegistrationKey(
      type: ObjectIdentifier(Value.self), container: container, name: name,
      servesSupertypes: match == .anySupertype, arguments: arguments.map { ObjectIdentifier($0) })
    return TypedRegistration(
      key: key, scope: scope, clock: clock, place: place, dependencies: dependencies, initializer: initializer)
  }
}
