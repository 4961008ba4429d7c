// These values are made from arguments that are known only at run time. All arguments are passed on as one list.

extension InitializerRegistry {
  /// Registers a closure that creates a value from arguments that are known only at run time.
  ///
  /// ```swift
  /// registry.register(Ticket.self, arguments: Int.self) { Ticket(number: $1) }
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7)
  /// ```
  ///
  /// Only `resolve` with arguments of these types uses this registration, never a property. Each request makes a value.
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

  /// Registers a closure that creates a value from arguments, and keeps a value for equal arguments as the scope says.
  ///
  /// ```swift
  /// registry.register(Room.self, arguments: String.self, scope: .singleton) { _, name in Room(name: name) }
  /// ```
  ///
  /// The arguments of a value that is gone are released with the value, or by a later request.
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
  /// - Parameter identity: A closure that returns equal results for arguments that share a kept value.
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

  /// Returns a value made from arguments, or the value that the scope keeps for them.
  ///
  /// - Parameters:
  ///   - type: The type of the value. For an Optional type the result is nil if nothing makes it from any arguments.
  ///   - first: The first argument for the initializer. The static types of all arguments have to match a registration.
  ///   - rest: The other arguments.
  ///   - name: The name to ask with, as a property asks with its own name.
  /// - Throws: `.notRegistered` if no initializer of `type` takes arguments of these types, else the same errors as
  ///   ``resolve(_:named:in:)-(Value.Type,_,_)``.
  public func resolve<Value, First, each Rest>(
    _ type: Value.Type = Value.self, arguments first: First, _ rest: repeat each Rest, named name: String? = nil
  ) throws(InjectionError) -> Value {
    let list = ArgumentList(first: first, rest: (repeat each rest))
    let search = Search(arguments: ErasedType(ArgumentList<First, repeat each Rest>.self))
    return try ValueMemory.value { memory throws(InjectionError) in
      let request = Request(Value.self, named: name.map { Alias($0) })
      if case .match(let record, let owner) = find(request, search) {
        return try fulfill(
          request, in: memory, from: Match(record: record, owner: owner.object), with: ArgumentBox(list))
      }
      let optional = Value.self as? any OptionalValue.Type
      let service = Service(optional?.wrappedType ?? Value.self)
      if let optional, !reachable.contains(where: { $0.record.hasArguments && $0.record.service == service }) {
        return optional.putNil(in: memory)
      }
      let types = ArgumentList<First, repeat each Rest>.types
      let sources = types.map { TypeName.source(of: $0) }.joined(separator: ", ")
      let names = types.indices.map { "argument\($0 + 1)" }.joined(separator: ", ")
      let call = "registry.register(\(TypeName.source(of: service.type)), arguments: \(sources))"
      throw missing(
        service, asked: request.step(), named: name,
        advice: "Register it for these arguments: \(call) { resolver, \(names) in … }")
    }
  }

  /// Puts the kept value for a list of arguments in memory, and makes the value first if there is none yet.
  @inline(never) func supplyVariant(
    _ memory: ValueMemory, _ request: borrowing Request, _ record: RegistrationRecord, of variants: KeptVariants?,
    _ arguments: ArgumentBox, on thread: CurrentThread
  ) throws(InjectionError) {
    guard let variants, let identity = record.making.identity else {
      trap("A registration with arguments has no place for its values. \(reportThis)", at: record.place)
    }
    let make = { KeptValue(record.service, record.lifetime, expiry: record.expiry, by: self.clock) }
    try variants.with(identity(arguments.list), make: make) { kept throws(InjectionError) in
      try supplyKeptValue(memory, record, kept, request, arguments: arguments, on: thread)
    }
  }
}

extension Resolver {
  /// Returns a dependency that is made from arguments, as the registry's `resolve` does.
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

/// A list of arguments in a box, so that the many requests without arguments pass only nil.
@usableFromInline final class ArgumentBox {
  let list: Any

  init(_ list: Any) { self.list = list }
}

/// The arguments of one request.
private struct ArgumentList<First, each Rest>: Arguments {
  let first: First
  let rest: (repeat each Rest)

  static var types: [any Any.Type] { SpellRegistry.types(First.self, repeat (each Rest).self) }
}

/// A list of arguments, as far as messages name it.
protocol Arguments {
  static var types: [any Any.Type] { get }
}
