internal import Support

// Values that are made from arguments which are known only at run time.

extension InitializerRegistry {
  /// Registers a closure that creates a value from arguments that are known only at run time.
  ///
  /// ```swift
  /// registry.register(Ticket.self, arguments: Int.self) { _, number in Ticket(number: number) }
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7)
  /// ```
  ///
  /// Found only by a `resolve` with arguments of the same types; properties never get it. Each request makes a value.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - arguments: The type of the argument.
  ///   - name: The name to ask with; nil for any.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - initializer: Creates the value.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func register<Value, Arguments>(
    _ type: Value.Type = Value.self, arguments: Arguments.Type, named name: PropertyName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver, Arguments) throws -> Value
  ) -> Registration<Value> {
    add(
      .withArguments(initializer), named: name, scope: .unique, at: SourcePlace(fileID: fileID, line: line),
      arguments: arguments)
  }

  /// Registers a closure that creates a value from an argument, and keeps one value for each argument as a scope says.
  ///
  /// ```swift
  /// registry.register(Room.self, arguments: String.self, scope: .singleton) { _, name in Room(name: name) }
  /// ```
  ///
  /// A value stays, with its argument, until the registration is withdrawn or the scope lets it go.
  @discardableResult
  public func register<Value: Sendable, Arguments: Hashable & Sendable>(
    _ type: Value.Type = Value.self, arguments: Arguments.Type, named name: PropertyName? = nil, scope: Scope<Value>,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver, Arguments) throws -> Value
  ) -> Registration<Value> {
    add(
      .withArguments(identity: { AnyHashable($0) }, initializer), named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line), arguments: arguments)
  }

  /// Registers a closure that creates a value from several arguments.
  ///
  /// ```swift
  /// registry.register(Ticket.self, arguments: Int.self, String.self) { _, number, name in Ticket(number, name) }
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7, "Ada")
  /// ```
  @discardableResult
  public func register<Value, First, Second, each Rest>(
    _ type: Value.Type = Value.self, arguments first: First.Type, _ second: Second.Type,
    _ rest: repeat (each Rest).Type, named name: PropertyName? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line, _ initializer: @escaping @Sendable (Resolver, First, Second, repeat each Rest) throws -> Value
  ) -> Registration<Value> {
    register(
      type, arguments: ArgumentList<First, Second, repeat each Rest>.self, named: name, fileID: fileID, line: line
    ) { resolver, arguments in
      try initializer(resolver, arguments.first, arguments.second, repeat each arguments.rest)
    }
  }

  /// Registers a closure that creates a value from several arguments, and keeps one value for each set of them as a scope
  /// says.
  @discardableResult
  public func register<
    Value: Sendable, First: Hashable & Sendable, Second: Hashable & Sendable, each Rest: Hashable & Sendable
  >(
    _ type: Value.Type = Value.self, arguments first: First.Type, _ second: Second.Type,
    _ rest: repeat (each Rest).Type, named name: PropertyName? = nil,
    scope: Scope<Value>,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver, First, Second, repeat each Rest) throws -> Value
  ) -> Registration<Value> {
    typealias Arguments = ArgumentList<First, Second, repeat each Rest>
    let identity: @Sendable (Arguments) -> AnyHashable = { arguments in
      var list: [AnyHashable] = [AnyHashable(arguments.first), AnyHashable(arguments.second)]
      repeat list.append(AnyHashable(each arguments.rest))
      return AnyHashable(list)
    }
    let making = Making.withArguments(identity: identity) { (resolver, arguments: Arguments) in
      try initializer(resolver, arguments.first, arguments.second, repeat each arguments.rest)
    }
    return add(
      making, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line), arguments: Arguments.self)
  }

  /// Registers a closure that creates a value on the main actor from an argument that is known only at run time.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, Arguments: Sendable>(
    _ type: Value.Type = Value.self, arguments: Arguments.Type, named name: PropertyName? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @MainActor (Resolver, Arguments) throws -> Value
  ) -> Registration<Value> {
    add(
      .withArgumentsOnMainActor(initializer), named: name, scope: .unique,
      at: SourcePlace(fileID: fileID, line: line), arguments: arguments)
  }

  /// Makes a value from an argument.
  ///
  /// - Parameters:
  ///   - type: The type of the value. For an Optional type the result is nil if nothing takes this argument.
  ///   - arguments: What the initializer gets. Its static type is part of the key.
  ///   - name: The name to ask with.
  /// - Throws: `.notRegistered` if no initializer of `type` takes an argument of this type, else as
  ///   ``resolve(_:named:in:)``.
  public func resolve<Value, Arguments>(
    _ type: Value.Type = Value.self, arguments: Arguments, named name: String? = nil
  ) throws(InjectionError) -> Value {
    let point = InjectionPoint(Service(Value.self), named: name, in: nil)
    if let value: Value = try made(with: arguments, at: point) { return value }
    if let optional = Value.self as? any OptionalValue.Type {
      func made<Content: OptionalValue>(as _: Content.Type) throws(InjectionError) -> Value? {
        let wrapped: Content.Wrapped? = try self.made(with: arguments, at: point)
        return wrapped.flatMap { Content($0) as? Value }
      }
      if let value = try made(as: optional) { return value }
    }
    return try nilOrThrow(
      at: point,
      advice:
        "Register it: registry.register(\(TypeName.source(of: Value.self)), arguments: \(argumentTypes(of: Arguments.self))) { resolver, arguments in … }"
    )
  }

  /// Makes a value from several arguments.
  public func resolve<Value, First, Second, each Rest>(
    _ type: Value.Type = Value.self, arguments first: First, _ second: Second,
    _ rest: repeat each Rest,
    named name: String? = nil
  ) throws(InjectionError) -> Value {
    try resolve(type, arguments: ArgumentList(first: first, second: second, rest: (repeat each rest)), named: name)
  }

  /// The value that an initializer makes with arguments; nil if none takes them.
  func made<Value, Arguments>(
    with arguments: Arguments, at point: InjectionPoint
  ) throws(InjectionError) -> Value? {
    let thread = ThreadState.current
    for owner in lineage {
      let found = thread.read {
        owner.table.taking(
          ObjectIdentifier(Arguments.self), for: ObjectIdentifier(Value.self), named: point.propertyName)
      }
      guard let registration = found, case .withArguments(let initializer, let variants) = registration.making.kind
      else { continue }
      let value: Value
      if let variants {
        // The forms of `register` that keep values demand `Sendable` arguments.
        let arguments = Unchecked(value: arguments)
        let variant = variants.variant(for: arguments.value) {
          registration.variant(clock: owner.clock) { try initializer($0, $1(), arguments.value) }
        }
        value = try self.value(of: Match(variant, .exact, of: owner), asker: .init(), on: thread, at: { point })
      } else {
        thread.observeDependency(on: Service(Value.self))
        value = try runInitializer(of: registration, asker: .init(hasArguments: true), on: thread, at: { point }) {
          try finishedValue(of: registration, on: thread, at: { point }) {
            try ValueMemory.value(of: Value.self) {
              try initializer($0, Resolver(point: point, registry: self), arguments)
            }
          }
        }
      }
      registration.hooks.callAll(value, at: point)
      hooks.callAll(value, at: point)
      thread.completeResolution()
      return value
    }
    return nil
  }
}

extension Resolver {
  /// Returns a dependency that takes an argument, as `resolve(_:arguments:named:)` of the registry does.
  public func resolve<Value, Arguments>(
    _ type: Value.Type = Value.self, arguments: Arguments, named name: String? = nil
  ) throws(InjectionError) -> Value {
    try registry.resolve(type, arguments: arguments, named: name)
  }

  /// Returns a dependency that takes several arguments.
  public func resolve<Value, First, Second, each Rest>(
    _ type: Value.Type = Value.self, arguments first: First, _ second: Second,
    _ rest: repeat each Rest,
    named name: String? = nil
  ) throws(InjectionError) -> Value {
    try registry.resolve(
      type, arguments: ArgumentList(first: first, second: second, rest: (repeat each rest)), named: name)
  }
}

extension RegistrationStorage {
  /// A registration that keeps the value for one set of arguments as this one's scope says.
  fileprivate func variant(clock: ElapsedClock, _ initializer: @escaping Making.Initializer) -> RegistrationStorage {
    let variant = RegistrationStorage(
      key: key, lifetime: lifetime, expiry: kept.expiry, clock: clock, place: place, Making(initializer: initializer))
    variant.followAdditions(of: self)
    return variant
  }
}

/// Several arguments, as one.
private struct ArgumentList<First, Second, each Rest>: SeveralArguments {
  let first: First
  let second: Second
  let rest: (repeat each Rest)

  static var types: [any Any.Type] {
    var types: [any Any.Type] = [First.self, Second.self]
    repeat types.append((each Rest).self)
    return types
  }
}

private protocol SeveralArguments {
  static var types: [any Any.Type] { get }
}

/// The types of one argument or of several, as they are written in source.
private func argumentTypes(of type: any Any.Type) -> String {
  ((type as? any SeveralArguments.Type)?.types ?? [type]).map { TypeName.source(of: $0) }.joined(separator: ", ")
}

/// The values that a registration keeps for each set of arguments, as a registration for each.
final class ArgumentVariants: Sendable {
  /// What is kept for one set of arguments.
  ///
  /// `@unchecked Sendable`: the forms of `register` that keep values demand `Sendable` arguments.
  private struct Variant: @unchecked Sendable {
    let arguments: AnyHashable
    let registration: RegistrationStorage
  }

  private let identity: @Sendable (Any) -> AnyHashable
  /// By the arguments' hash: their own code, which may ask for anything, runs with no lock held.
  private let variants = Lock<[Int: [Variant]]>([:])

  init(identity: @escaping @Sendable (Any) -> AnyHashable) { self.identity = identity }

  /// The registration for one set of arguments, made when they are first asked with.
  func variant(for arguments: Any, _ make: () -> RegistrationStorage) -> RegistrationStorage {
    let arguments = identity(arguments)
    let hash = arguments.hashValue
    var made: Variant?
    while true {
      let known = variants.withLock { $0[hash, default: []] }
      if let variant = known.first(where: { $0.arguments == arguments }) { return variant.registration }
      let new = made ?? Variant(arguments: arguments, registration: make())
      made = new
      let isAdded = variants.withLock { variants in
        let isUnchanged = variants[hash, default: []].elementsEqual(known) { $0.registration === $1.registration }
        if isUnchanged { variants[hash] = known + [new] }
        return isUnchanged
      }
      if isAdded { return new.registration }
    }
  }

  /// Lets go of what is kept, with no lock held.
  func retire() {
    let dropped = variants.withLock { variants in
      defer { variants = [:] }
      return variants
    }
    for variant in dropped.values.joined() { variant.registration.retire() }
  }
}
