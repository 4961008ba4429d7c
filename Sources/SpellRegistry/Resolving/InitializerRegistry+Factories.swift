extension InitializerRegistry {
  /// Resolves an ``ArgumentFactory``, calls it with the given arguments, and returns the value.
  ///
  /// ```swift
  /// registry.register(.factory { (resolver, number: Int) in Ticket(number: number) })
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7)
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the value. For an Optional type, the result is nil if no registered factory makes the
  ///     wrapped type, whatever the arguments.
  ///   - argument: The arguments. Their static types have to be those of a registered factory's arguments: for a factory
  ///     that takes `any Item`, pass a variable of type `any Item`, or write `book as any Item`.
  ///   - name: The name to use in the request, like the name of a property that requests a value.
  /// - Throws: `.notRegistered` if no factory of `type` takes arguments of these types. Otherwise, the error of the
  ///   factory's call.
  @_disfavoredOverload @inlinable public func resolve<Value, each Argument>(
    _ type: Value.Type = Value.self, arguments argument: repeat each Argument, named name: String? = nil
  ) throws(InjectionError) -> Value {
    if let factory = try factory(ArgumentFactory<Value, repeat each Argument>.self, named: name) {
      return try factory(repeat each argument)
    }
    return try optionalValue(type, arguments: repeat each argument, named: name)
  }

  /// Returns the value that the factory of a declared key makes from the given arguments.
  ///
  /// ```swift
  /// static let seat = InjectionKey(.factory { (_, number: Int) in Seat(number) })
  /// let seat = try registry.resolve(.seat, arguments: 7)
  /// ```
  @inlinable public func resolve<Made, First, each Rest>(
    _ key: InjectionKey<ArgumentFactory<Made, First, repeat each Rest>>, arguments first: First,
    _ rest: repeat each Rest, named name: String? = nil
  ) throws(InjectionError) -> Made {
    let factory: ArgumentFactory<Made, First, repeat each Rest> = try resolve(key, named: name)
    return try factory(first, repeat each rest)
  }

  /// Returns the registered factory of a type, or nil if there is none.
  @inlinable
  func factory<Factory>(_ type: Factory.Type, named name: String?) throws(InjectionError) -> Factory? {
    try ValueMemory.optionalValue { memory throws(InjectionError) in
      try putFactory(of: type, in: memory, named: name)
    }
  }

  @usableFromInline func putFactory(
    of type: any Any.Type, in memory: ValueMemory, named name: String?
  ) throws(InjectionError) -> Bool {
    let request = Request(type, named: name)
    let thread = CurrentThread.current
    return try thread.resolving(memory, of: type) { () throws(InjectionError) in
      guard case .value(let match) = try putValue(memory, request, on: thread) else { return false }
      if let match { callHooks(memory, of: match, at: request.point) }
      return true
    }
  }

  /// Calls the factory of the type that the Optional `type` wraps, and returns the factory's value as an Optional.
  ///
  /// Returns nil if no registered factory makes the wrapped type.
  ///
  /// - Throws: `.notRegistered` if `type` isn't Optional, or if the wrapped type's factories take other arguments.
  @usableFromInline func optionalValue<Value, each Argument>(
    _ type: Value.Type, arguments argument: repeat each Argument, named name: String?
  ) throws(InjectionError) -> Value {
    func error<Made>(_: Made.Type) -> InjectionError {
      missing(Request(ArgumentFactory<Made, repeat each Argument>.self, named: name))
    }
    // Returns the value that a factory of `Made`, or of the type that `Made` wraps, makes; nil if neither type has one.
    func cell<Made>(_: Made.Type) throws(InjectionError) -> ValueCell? {
      if let factory = try factory(ArgumentFactory<Made, repeat each Argument>.self, named: name) {
        return try ValueCell(Made.self) { memory throws(InjectionError) in
          memory.put(try factory(repeat each argument))
        }
      }
      if let optional = Made.self as? any OptionalValue.Type { return try cell(optional.wrappedType) }
      // A factory that takes other arguments is a mistake of the call, rather than a missing service.
      let takeOthers = reachable.contains { match in
        (match.record.service.type as? any FactoryType.Type)?.madeType == Made.self && match.record.service.key == nil
      }
      if takeOthers { throw error(Made.self) }
      return nil
    }
    guard let optional = type as? any OptionalValue.Type else { throw error(type) }
    if let made = try cell(optional.wrappedType) {
      let wrapped = made.wrapped(as: type)
      return withExtendedLifetime(wrapped) { $0.memory.value() }
    }
    return ValueMemory.value { optional.putNil(in: $0) }
  }
}

extension Resolver {
  /// Returns a dependency that a registered factory makes from the given arguments.
  @_disfavoredOverload public func resolve<Value, each Argument>(
    _ type: Value.Type = Value.self, arguments argument: repeat each Argument, named name: String? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try continuing { () throws(InjectionError) in
        memory.put(try registry.resolve(type, arguments: repeat each argument, named: name))
      }
    }
  }

  /// Returns a dependency that the factory of a declared key makes from the given arguments.
  @inlinable public func resolve<Made, First, each Rest>(
    _ key: InjectionKey<ArgumentFactory<Made, First, repeat each Rest>>, arguments first: First,
    _ rest: repeat each Rest, named name: String? = nil
  ) throws(InjectionError) -> Made {
    try ValueMemory.value { memory throws(InjectionError) in
      try continuing { () throws(InjectionError) in
        memory.put(try registry.resolve(key, arguments: first, repeat each rest, named: name))
      }
    }
  }
}
