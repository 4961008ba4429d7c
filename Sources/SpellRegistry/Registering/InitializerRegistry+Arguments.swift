// Values that are made from arguments which are known only at run time. Several arguments are one value: a list of them.

extension InitializerRegistry {
  /// Registers a closure that creates a value from arguments that are known only at run time.
  ///
  /// ```swift
  /// registry.register(Ticket.self, arguments: Int.self) { Ticket(number: $1) }
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7)
  /// ```
  ///
  /// Found only by a `resolve` with arguments of the same types; properties never get it. Each request makes a value.
  @discardableResult
  public func register<Value, First, each Rest>(
    _ type: Value.Type = Value.self, arguments first: First.Type, _ rest: repeat (each Rest).Type,
    named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver, First, repeat each Rest) throws -> Value
  ) -> Registration<Value> {
    addList(
      ArgumentList<First, repeat each Rest>.self, named: name, scope: .unique,
      at: SourcePlace(fileID: fileID, line: line)
    ) { memory, resolver, list in
      memory.put(try initializer(resolver, list.first, repeat each list.rest))
    }
  }

  /// Registers a closure that creates a value from arguments, and keeps one value for each set of them as a scope says.
  ///
  /// ```swift
  /// registry.register(Room.self, arguments: String.self, scope: .singleton) { _, name in Room(name: name) }
  /// ```
  ///
  /// A value's arguments are let go with it.
  @discardableResult
  public func register<Value: Sendable, First: Hashable & Sendable, each Rest: Hashable & Sendable>(
    _ type: Value.Type = Value.self, arguments first: First.Type, _ rest: repeat (each Rest).Type,
    named name: PropertyName? = nil, scope: Scope<Value>, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver, First, repeat each Rest) throws -> Value
  ) -> Registration<Value> {
    addList(
      ArgumentList<First, repeat each Rest>.self, named: name, scope: scope,
      at: SourcePlace(fileID: fileID, line: line),
      identity: { list in
        var values = [AnyHashable(list.first)]
        repeat values.append(AnyHashable(each list.rest))
        return AnyHashable(values)
      }
    ) { memory, resolver, list in
      memory.put(try initializer(resolver, list.first, repeat each list.rest))
    }
  }

  /// Registers a closure that creates a value on the main actor from arguments that are known only at run time.
  @discardableResult
  public func registerOnMainActor<Value: Sendable, First: Sendable, each Rest: Sendable>(
    _ type: Value.Type = Value.self, arguments first: First.Type, _ rest: repeat (each Rest).Type,
    named name: PropertyName? = nil, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @MainActor (Resolver, First, repeat each Rest) throws -> Value
  ) -> Registration<Value> {
    register(type, arguments: first, repeat each rest, named: name, fileID: fileID, line: line) {
      (resolver, first: First, rest: repeat each Rest) in
      let call = "registry.resolve(\(TypeName.source(of: Value.self)), arguments: …)"
      try requireMainActor(orElse: "Ask for it on the main actor: try await MainActor.run { try \(call) }.")
      return try callOnMainActor(resolver.onMainActor()) { try initializer($0, first, repeat each rest) }
    }
  }

  /// Adds a registration whose initializer takes a list of arguments.
  ///
  /// - Parameter identity: What two requests have in common that get the same value of the scope.
  private func addList<Value, Arguments>(
    _ arguments: Arguments.Type, named name: PropertyName?, scope: Scope<Value>, at place: SourcePlace,
    identity: (@Sendable (Arguments) -> AnyHashable)? = nil,
    _ initializer: @escaping @Sendable (ValueMemory, Resolver, Arguments) throws -> Void
  ) -> Registration<Value> {
    @Sendable func typed(_ arguments: Any?) -> Arguments {
      guard let arguments = arguments as? Arguments else {
        trap("An initializer with \(Arguments.self) got other arguments. \(reportThis)")
      }
      return arguments
    }
    var making = Making { memory, request, registry, arguments in
      try initializer(memory, Resolver(request, registry), typed(arguments?.list))
    }
    if let identity { making.identity = { identity(typed($0)) } }
    return add(making, named: name, scope: scope, arguments: arguments, at: place)
  }

  /// Makes a value from arguments.
  ///
  /// - Parameters:
  ///   - type: The type of the value. For an Optional type the result is nil if nothing takes these arguments.
  ///   - first: The first argument that the initializer gets. Its static type is part of the key, as those of the others.
  ///   - rest: The other arguments.
  ///   - name: The name to ask with.
  /// - Throws: `.notRegistered` if no initializer of `type` takes arguments of these types, else as
  ///   ``resolve(_:named:in:)-(Value.Type,_,_)``.
  public func resolve<Value, First, each Rest>(
    _ type: Value.Type = Value.self, arguments first: First, _ rest: repeat each Rest, named name: String? = nil
  ) throws(InjectionError) -> Value {
    let list = ArgumentList(first: first, rest: (repeat each rest))
    let search = Search(arguments: ObjectIdentifier(ArgumentList<First, repeat each Rest>.self))
    return try ValueMemory.value { memory throws(InjectionError) in
      let request = Request(Value.self, named: name.map { Alias($0) })
      if case .match(let record, let owner) = find(request, search) {
        return try fulfill(
          request, in: memory, from: Match(record: record, owner: owner.object), with: ArgumentBox(list))
      }
      if let type = Value.self as? any OptionalValue.Type { return type.putNil(in: memory) }
      let types = types(First.self, repeat (each Rest).self).map { TypeName.source(of: $0) }.joined(separator: ", ")
      let call = "registry.register(\(TypeName.source(of: Value.self)), arguments: \(types))"
      throw missing(request, advice: "Register it: \(call) { resolver, arguments in … }")
    }
  }

  /// Puts the value that a registration keeps for the arguments in memory.
  @inline(never) func supplyVariant(
    _ memory: ValueMemory, _ request: borrowing Request, _ record: RegistrationRecord, _ arguments: ArgumentBox,
    on thread: CurrentThread
  ) throws(InjectionError) {
    guard let variants = record.variants, let identity = record.making.identity else {
      trap("A registration with arguments has no place for its values. \(reportThis)", at: record.place)
    }
    let make = { KeptValue(record.service.type, record.lifetime, expiry: record.expiry, in: self) }
    try variants.with(identity(arguments.list), make: make) { kept throws(InjectionError) in
      try supplyKeptValue(memory, record, kept, request, arguments: arguments, on: thread)
    }
  }
}

extension Resolver {
  /// Returns a dependency that takes arguments, as the registry's `resolve` does.
  public func resolve<Value, First, each Rest>(
    _ type: Value.Type = Value.self, arguments first: First, _ rest: repeat each Rest, named name: String? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try continuing { () throws(InjectionError) in
        memory.put(try registry.resolve(type, arguments: first, repeat each rest, named: name))
      }
    }
  }
}

/// A list of arguments behind a reference, since most requests have none.
@usableFromInline final class ArgumentBox {
  let list: Any

  init(_ list: Any) { self.list = list }
}

/// The arguments of one request.
private struct ArgumentList<First, each Rest> {
  let first: First
  let rest: (repeat each Rest)
}
