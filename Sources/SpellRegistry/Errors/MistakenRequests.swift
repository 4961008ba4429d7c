/// A type with the methods `resolve`, for the messages of the compiler about calls that don't compile.
///
/// The methods below are unavailable. Each has a message for a call that the compiler would otherwise reject without a
/// reason that helps.
public protocol _MistakenRequests {}

extension InitializerRegistry: _MistakenRequests {}
extension Resolver: _MistakenRequests {}

extension _MistakenRequests {
  /// Unavailable, because the type of the value has to be known.
  @available(
    *, unavailable, message: "Say which type: 'try resolve(Clock.self)', or 'let clock: Clock = try resolve()'."
  )
  @_disfavoredOverload
  public func resolve<each Argument>(
    arguments argument: repeat each Argument, named name: String? = nil
  ) throws(InjectionError) { fatalError() }

  /// Unavailable, because the value of a key is of the key's type.
  @available(
    *, unavailable,
    message: "The key's value has another type. For what the key's factory makes, write resolve(.key, arguments: …)."
  )
  @_disfavoredOverload
  public func resolve<Value, Other>(
    _ key: InjectionKey<Value>, named name: String? = nil
  ) throws(InjectionError) -> Other { fatalError() }

  /// Unavailable, because the factory of a key makes values of one type.
  @available(*, unavailable, message: "The key's factory makes values of another type than the one expected here.")
  @_disfavoredOverload
  public func resolve<Made, Other, First, each Rest>(
    _ key: InjectionKey<ArgumentFactory<Made, First, repeat each Rest>>, arguments first: First,
    _ rest: repeat each Rest, named name: String? = nil
  ) throws(InjectionError) -> Other { fatalError() }

  /// Unavailable, because only a key whose value is a factory takes arguments.
  @available(*, unavailable, message: "The key has no factory, so it takes no arguments: write resolve(.key).")
  @_disfavoredOverload
  public func resolve<Value>(
    _ key: InjectionKey<Value>, arguments: Never..., named name: String? = nil
  ) throws(InjectionError) -> Value { fatalError() }

  /// Unavailable, because the arguments of a factory and the name of a request have labels.
  @available(*, unavailable, message: "Write the label: resolve(Ticket.self, arguments: 7), or named: \"main\".")
  @_disfavoredOverload
  public func resolve<Value, First, each Rest>(
    _ type: Value.Type, _ first: First, _ rest: repeat each Rest
  ) throws(InjectionError) -> Value { fatalError() }

  /// Unavailable, because the arguments of a factory and the name of a request have labels.
  @available(*, unavailable, message: "Write the label: resolve(.seat, arguments: 7), or named: \"main\".")
  @_disfavoredOverload
  public func resolve<Value, First, each Rest>(
    _ key: InjectionKey<Value>, _ first: First, _ rest: repeat each Rest
  ) throws(InjectionError) -> Value { fatalError() }

  /// Unavailable, because the arguments of a factory and the name of a request have labels.
  @available(*, unavailable, message: "Write the label: resolve(.seat, arguments: 7), or named: \"main\".")
  @_disfavoredOverload
  public func resolve<Made, each Parameter, First, each Rest>(
    _ key: InjectionKey<ArgumentFactory<Made, repeat each Parameter>>, _ first: First, _ rest: repeat each Rest
  ) throws(InjectionError) -> Made { fatalError() }

  /// Unavailable, because the value of a key is of the key's type.
  @available(*, unavailable, message: "The key's value has another type than the one expected here.")
  @_disfavoredOverload
  public func resolveAsync<Value, Other>(
    _ key: InjectionKey<Value>, named name: String? = nil
  ) async throws(InjectionError) -> Other { fatalError() }

  /// Unavailable, because a request has a type or a declared key.
  @available(*, unavailable, message: "Pass a type, resolve(Clock.self), or a key, resolve(.time). A name has a label.")
  @_disfavoredOverload
  public func resolve<Other>(_ value: Any) throws(InjectionError) -> Other { fatalError() }

  /// Unavailable, because a request has a type or a declared key.
  @available(*, unavailable, message: "Pass a type, resolve(Clock.self), or a key, resolve(.time). A name has a label.")
  @_disfavoredOverload
  public func resolve(_ value: Any) throws(InjectionError) -> Never { fatalError() }

  /// Unavailable, because a declared key is written with a dot, not as a key path.
  @available(*, unavailable, message: "A declared key isn't a key path: write a dot, as in resolve(.time).")
  @_disfavoredOverload
  public func resolve<Value, each Argument>(
    _ path: KeyPath<InjectionKeys.Type, InjectionKey<Value>>, arguments argument: repeat each Argument,
    named name: String? = nil
  ) throws(InjectionError) -> Value { fatalError() }
}
