// Every form of `register` comes down to one entry in the table.

extension InitializerRegistry {
  /// Registers what makes a value, wherever one of its type is asked for.
  ///
  /// ```swift
  /// registry.register { Clock() }
  /// registry.register((any Tracker).self, named: "backup", scope: .singleton) { FileTracker() }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value. A protocol is a type: `(any Tracker).self`.
  ///   - name: Which properties, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it.
  ///   - initializer: Makes the value, each time the scope asks for one, on the thread that asks, with no lock held.
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

  /// Registers what makes a value with the help of others.
  ///
  /// ```swift
  /// registry.register(Network.self) { Network(clock: try $0.resolve()) }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value.
  ///   - name: Which properties, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it.
  ///   - initializer: Makes the value from what its resolver gives.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(nil, name, scope, SourcePlace(fileID: fileID, line: line), .plain(initializer))
  }

  /// Registers what makes a value for the properties of one class, with the instance that asks.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value.
  ///   - container: The class whose properties get it.
  ///   - subclasses: Whether its subclasses' do too.
  ///   - name: Which properties, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it: one kept by the registry is shared by all containers.
  ///   - initializer: Makes the value; it gets the object that holds the property.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
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

  /// Registers what makes a value for the properties of one class, with the instance that asks and the help of others.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value.
  ///   - container: The class whose properties get it.
  ///   - subclasses: Whether its subclasses' do too.
  ///   - name: Which properties, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it: one kept by the registry is shared by all containers.
  ///   - initializer: Makes the value; it gets the object that holds the property, and a resolver.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func register<Value, Container: AnyObject>(
    _ type: Value.Type = Value.self, in container: Container.Type, subclasses: Bool = false,
    named name: PropertyName? = nil, scope: Scope<Value> = .unique, fileID: StaticString = #fileID,
    line: UInt = #line, _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Registration<Value> {
    let limit = ContainerLimit(container, subclasses: subclasses)
    return add(
      limit, name, scope, SourcePlace(fileID: fileID, line: line),
      .plain { resolver in
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
  /// What it needs is known before it runs, so `validate()` and `graph()` can tell.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value.
  ///   - name: Which properties, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it.
  ///   - initializer: Any function whose parameters are all registered.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
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
      .plain { resolver in try initializer(repeat try resolver.registry.resolveAnew((each Dependency).self)) })
  }

  /// Registers what makes a value from arguments known only at run time.
  ///
  /// ```swift
  /// registry.register(Ticket.self, arguments: Int.self) { _, number in Ticket(number: number) }
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7)
  /// ```
  ///
  /// Found only by ``resolve(_:arguments:)`` with arguments of the same type; properties never get it. Several
  /// arguments are a tuple or a struct.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - arguments: The type of the arguments.
  ///   - initializer: Makes the value, anew for each call.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
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

  /// Registers an instance that exists already.
  ///
  /// - Parameters:
  ///   - instance: The value that every asker gets; held until the registration is withdrawn.
  ///   - match: Whether it serves properties of its type only, or of any superclass and protocol it has.
  ///   - name: Which properties, by name; nil for any.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func register<Value: Sendable>(
    instance: Value, as match: InstanceMatch = .itsType, named name: PropertyName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    add(nil, name, .unique, SourcePlace(fileID: fileID, line: line), match: match, .instance { instance })
  }

  /// Registers an instance that exists already for the properties of one class.
  ///
  /// - Parameters:
  ///   - instance: The value that every asker gets; held until the registration is withdrawn.
  ///   - match: Whether it serves properties of its type only, or of any superclass and protocol it has.
  ///   - container: The class whose properties get it.
  ///   - subclasses: Whether its subclasses' do too.
  ///   - name: Which properties, by name; nil for any.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func register<Value: Sendable, Container: AnyObject>(
    instance: Value, as match: InstanceMatch = .itsType, in container: Container.Type,
    subclasses: Bool = false,
    named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Registration<Value> {
    add(
      ContainerLimit(container, subclasses: subclasses), name, .unique,
      SourcePlace(fileID: fileID, line: line),
      match: match, .instance { instance })
  }

  /// Registers what makes a value on the main actor.
  ///
  /// Asking for it anywhere else is an ``InjectionError`` of code `.wrongIsolation`, not a wait.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value.
  ///   - name: Which properties, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it.
  ///   - initializer: Makes the value, on the main actor.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func registerOnMainActor<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Registration<Value> {
    add(
      nil, name, scope, SourcePlace(fileID: fileID, line: line),
      .onMainActor(initializer))
  }

  /// Where every form of `register` ends.
  func add<Value>(
    _ container: ContainerLimit?, _ name: PropertyName?, _ scope: Scope<Value>, _ place: SourcePlace,
    match: InstanceMatch = .itsType, arguments: (any Any.Type)? = nil, dependencies: [any Any.Type] = [],
    _ initializer: RegistrationEntry<Value>.Initializer
  ) -> Registration<Value> {
    let key = RegistrationKey(
      type: ObjectIdentifier(Value.self), container: container, name: name,
      servesSupertypes: match == .anySupertype, arguments: arguments.map { ObjectIdentifier($0) })
    let entry = RegistrationEntry(
      key: key, scope: scope, clock: clock, place: place, dependencies: dependencies, initializer: initializer)
    insert(entry)
    return Registration(entry: entry, registry: self)
  }
}
