// Each declaration in this file is unavailable. It has a message for a mistake that the compiler would otherwise report
// without a reason that helps.

extension InitializerRegistry {
  // The next function has the parameter `closure` only for better error messages: no trailing closure fits its type.
  // Without this parameter, the compiler could match a trailing closure that contains an error with `value`. The
  // compiler would then report the type of the key instead of the error in the closure.
  /// Unavailable, because `register` takes a closure or an ``Initializer``, not a value.
  @available(*, unavailable, message: "Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ value: Value, _ closure: ((inout Never) -> Never)? = nil
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because `register` takes a closure or an ``Initializer``, not a value.
  @available(*, unavailable, message: "Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ type: Value.Type, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ value: Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because `register` takes a closure or an ``Initializer``, not a value.
  @available(*, unavailable, message: "Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ value: Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because a value for a key must have the key's type.
  @available(*, unavailable, message: "The value has another type than the key. Return a value of the key's type.")
  @_disfavoredOverload @discardableResult
  public func register<Value, Other>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: () throws -> Other
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because a value for a key must have the key's type.
  @available(*, unavailable, message: "The value has another type than the key. Return a value of the key's type.")
  @_disfavoredOverload @discardableResult
  public func register<Value, Other>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: (Resolver) throws -> Other
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because `register` takes a closure that makes a value, not a closure that changes one.
  ///
  /// Use ``override(_:fileID:line:_:)`` to change an existing value.
  @available(
    *, unavailable,
    message: "Return a value of the key's type, or change its value: try override(.key) { $0.member = … }."
  )
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ change: (inout Value) throws -> Void
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because the closure has to return a value, not a function such as `T.init`.
  @available(
    *, unavailable,
    message:
      "The closure returns a function, and not what it makes: call it, as in { T() }, or write .autowire(T.init)."
  )
  @_disfavoredOverload @discardableResult
  public func register<Value, each Argument>(
    _ type: Value.Type, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: () throws -> (repeat each Argument) throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because a declared key is written with a dot, as in `.time`, and not as a key path.
  @available(*, unavailable, message: "A declared key isn't a key path: write a dot, as in register(.time) { … }.")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ path: KeyPath<InjectionKeys.Type, InjectionKey<Value>>, named name: PropertyName? = nil,
    scope: Scope<Value>? = nil, fileID: StaticString = #fileID, line: UInt = #line, _ make: () throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because a value for a key must have the key's type.
  @available(*, unavailable, message: "The value has another type than the key. Use an initializer of the key's type.")
  @_disfavoredOverload @discardableResult
  public func register<Value, Other>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, _ initializer: Initializer<Other>
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because its name is ambiguous.
  ///
  /// To withdraw the registrations, use ``removeAll()``. To drop only values, use ``ScopeCache/reset()``.
  @available(*, unavailable, message: "removeAll() withdraws registrations, and reset() of a ScopeCache drops values.")
  public func reset() {}

  /// Unavailable, because the scope has a label.
  @available(*, unavailable, message: "Write the label: register((any Tracker).self, scope: .singleton) { … }.")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ type: Value.Type, _ scope: Scope<Value>, fileID: StaticString = #fileID, line: UInt = #line,
    _ make: () throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because the scope has a label.
  @available(*, unavailable, message: "Write the label: register(scope: .singleton) { … }.")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ scope: Scope<Value>, fileID: StaticString = #fileID, line: UInt = #line, _ make: () throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because the scope has a label.
  @available(*, unavailable, message: "Write the label: register(.key, scope: .singleton) { … }.")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ key: InjectionKey<Value>, _ scope: Scope<Value>, fileID: StaticString = #fileID, line: UInt = #line,
    _ make: () throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because the name has a label.
  @available(*, unavailable, message: "Write the label: register(Clock.self, named: \"main\") { … }.")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ type: Value.Type, _ name: PropertyName, fileID: StaticString = #fileID, line: UInt = #line,
    _ make: () throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because the type to register for is the first argument.
  @available(*, unavailable, message: "Register for the protocol: register((any Tracker).self) { FileTracker() }.")
  @_disfavoredOverload @discardableResult
  public func register<Value, Other>(
    _ value: Value, as other: Other.Type, scope: Scope<Other> = .unique, fileID: StaticString = #fileID,
    line: UInt = #line, _ make: (() throws -> Other)? = nil
  ) -> Registration<Other> { fatalError() }

  /// Unavailable, because the type to register for is the first argument.
  @available(*, unavailable, message: "Register for the protocol: register((any Tracker).self) { FileTracker() }.")
  @_disfavoredOverload @discardableResult
  public func register<Other>(
    as other: Other.Type, scope: Scope<Other> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    _ make: () throws -> Other
  ) -> Registration<Other> { fatalError() }

  /// Unavailable, because a value that takes arguments comes from a factory.
  @available(
    *, unavailable,
    message: "A value that takes arguments comes from a factory: register(.factory { (resolver, number: Int) in … })."
  )
  @_disfavoredOverload @discardableResult
  public func register<Value, Argument>(
    _ type: Value.Type, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: (Argument) throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because a value that takes arguments comes from a factory.
  @available(
    *, unavailable,
    message: "A value that takes arguments comes from a factory: register(.factory { (resolver, number: Int) in … })."
  )
  @_disfavoredOverload @discardableResult
  public func register<Value, First, each Rest>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: (Resolver, First, repeat each Rest) throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because the label is `named`.
  @available(*, unavailable, message: "The label is named:, as in register(Clock.self, named: \"main\") { … }.")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, name: PropertyName, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: () throws -> Value
  ) -> Registration<Value> { fatalError() }

  /// Unavailable, because the label is `named`.
  @available(*, unavailable, message: "The label is named:, as in register(Clock.self, named: \"main\") { … }.")
  @_disfavoredOverload @discardableResult
  public func register<Value>(
    _ type: Value.Type = Value.self, name: PropertyName, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line, _ make: (Resolver) throws -> Value
  ) -> Registration<Value> { fatalError() }
}

extension Registration {
  /// Unavailable, because the type to register for is the first argument of `register`.
  @available(*, unavailable, message: "Register for the protocol: register((any Tracker).self) { FileTracker() }.")
  @discardableResult
  public func `as`<Other>(_ type: Other.Type) -> Registration<Other> { fatalError() }
}

extension InjectionKey {
  /// Unavailable, because a key takes a closure or an ``Initializer``, not a value.
  @available(*, unavailable, message: "Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).")
  @_disfavoredOverload
  public convenience init(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ value: Value
  ) { fatalError() }

  /// Unavailable, because the scope has a label.
  @available(*, unavailable, message: "Write the label: InjectionKey(scope: .singleton) { … }.")
  @_disfavoredOverload
  public convenience init(_ scope: Scope<Value>, _ make: () throws -> Value) { fatalError() }
}

extension Initializer {
  /// Unavailable, because the closure of a factory gets a resolver first.
  @available(
    *, unavailable,
    message: "The closure of a factory gets a resolver first: .factory { (resolver, number: Int) in … }."
  )
  @_disfavoredOverload
  public static func factory<Made, each Argument>(
    scope: Scope<Made>? = nil, _ make: (repeat each Argument) throws -> Made
  ) -> Initializer where Value == ArgumentFactory<Made, repeat each Argument> { fatalError() }
}
