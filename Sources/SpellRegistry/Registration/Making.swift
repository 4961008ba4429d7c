/// What makes the values of a registration, and what is known of its dependencies before it runs.
///
/// Only the closures know the values' type: the runtime would have to look up a type that depends on it for each registration
/// (benchmark: "register 10,000 again").
@usableFromInline struct Making: Sendable {
  /// Puts a new value in memory for one, and asks for the resolver if it takes it.
  @usableFromInline typealias Initializer = @Sendable (ValueMemory, () -> Resolver) throws -> Void

  enum Kind: Sendable {
    /// Gives an instance that was there before.
    case instance
    case initializer
    case onMainActor
    /// Takes arguments, and keeps a value for each of them if its scope says so.
    case withArguments(@Sendable (ValueMemory, Resolver, Any) throws -> Void, kept: ArgumentVariants?)
    case async(any AsyncInitializer)
  }

  /// One that is async or takes arguments is in `kind`.
  let initializer: Initializer
  let kind: Kind
  let dependencies: [any Any.Type]

  /// Whether the initializer runs on any thread, and takes nothing but a resolver.
  var isPlain: Bool { if case .initializer = kind { true } else { isInstance } }
  /// Whether it gives an instance that was there before.
  var isInstance: Bool { if case .instance = kind { true } else { false } }

  private init(
    _ kind: Kind, dependencies: [any Any.Type] = [],
    _ initializer: @escaping Initializer = { _, _ in
      trap("An initializer that is async or takes arguments was run without; please report this.")
    }
  ) {
    self.kind = kind
    self.dependencies = dependencies
    self.initializer = initializer
  }

  @usableFromInline init(
    isInstance: Bool = false, dependencies: [any Any.Type] = [], initializer: @escaping Initializer
  ) {
    self.init(isInstance ? .instance : .initializer, dependencies: dependencies, initializer)
  }

  /// A closure that needs nothing but itself.
  @inlinable static func independent<Value>(_ initializer: @escaping @Sendable () throws -> Value) -> Self {
    Self { memory, _ in memory.put(try initializer()) }
  }

  @inlinable static func resolving<Value>(
    dependencies: [any Any.Type] = [], _ initializer: @escaping @Sendable (Resolver) throws -> Value
  ) -> Self {
    Self(dependencies: dependencies) { $0.put(try initializer($1())) }
  }

  @inlinable static func instance<Value: Sendable>(_ instance: Value) -> Self {
    Self(isInstance: true) { memory, _ in memory.put(instance) }
  }

  /// A closure that takes the object whose property asks.
  static func inContainer<Value, Container: AnyObject>(
    _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Self {
    .resolving { resolver in try initializer(resolver.container(), resolver) }
  }

  static func autowiring<Value, each Dependency>(
    _ initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Self {
    .resolving(dependencies: types(repeat (each Dependency).self)) { resolver in
      try initializer(repeat try resolver.registry.resolve(Service((each Dependency).self), from: nil))
    }
  }

  private static func types<each Dependency>(_ type: repeat (each Dependency).Type) -> [any Any.Type] {
    var types: [any Any.Type] = []
    repeat types.append(each type)
    return types
  }

  /// A closure that takes arguments.
  ///
  /// - Parameter identity: What two requests have in common that get the same value of the scope.
  static func withArguments<Value, Arguments>(
    identity: (@Sendable (Arguments) -> AnyHashable)? = nil,
    _ initializer: @escaping @Sendable (Resolver, Arguments) throws -> Value
  ) -> Self {
    @Sendable func typed(_ arguments: Any) -> Arguments {
      guard let arguments = arguments as? Arguments else {
        trap("An initializer with \(Arguments.self) got other arguments; please report this.")
      }
      return arguments
    }
    let kind = Kind.withArguments(
      { $0.put(try initializer($1, typed($2))) },
      kept: identity.map { identity in ArgumentVariants { identity(typed($0)) } })
    return Self(kind)
  }

  static func async<Value: Sendable>(_ initializer: @escaping @Sendable (Resolver) async throws -> Value) -> Self {
    Self(.async(AsyncValue(initializer)))
  }

  static func onMainActor<Value: Sendable>(_ initializer: @escaping @MainActor () throws -> Value) -> Self {
    .onMainActor { (_: Resolver) in try initializer() }
  }

  static func onMainActor<Value: Sendable>(
    dependencies: [any Any.Type] = [], _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Self {
    Self(.onMainActor, dependencies: dependencies) {
      $0.put(try callOnMainActor($1(), initializer))
    }
  }

  static func inContainerOnMainActor<Value: Sendable, Container: AnyObject & Sendable>(
    _ initializer: @escaping @MainActor (Container, Resolver) throws -> Value
  ) -> Self {
    .onMainActor { resolver in try initializer(resolver.container(), resolver) }
  }

  static func autowiringOnMainActor<Value: Sendable, each Dependency>(
    _ initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> Self {
    .onMainActor(dependencies: types(repeat (each Dependency).self)) { resolver in
      try initializer(repeat try resolver.registry.resolve(Service((each Dependency).self), from: nil))
    }
  }

  static func withArgumentsOnMainActor<Value: Sendable, Arguments: Sendable>(
    _ initializer: @escaping @MainActor (Resolver, Arguments) throws -> Value
  ) -> Self {
    .withArguments { resolver, arguments in
      let call = "registry.resolve(\(TypeName.source(of: Value.self)), arguments: …)"
      try requireMainActor(orElse: "Ask for it on the main actor: try await MainActor.run { try \(call) }.")
      return try callOnMainActor(resolver) { try initializer($0, arguments) }
    }
  }
}

extension RegistrationStorage {
  /// The instance, or what the initializer makes.
  ///
  /// - Precondition: `type` is the registration's.
  func newValue<Value>(of type: Value.Type, with resolver: () -> Resolver) throws -> Value {
    if type != self.type { misused(for: type) }
    return try ValueMemory.value(of: type) { memory throws in try initialize(memory, with: resolver) }
  }

  /// Puts the instance, or what the initializer makes, in memory for a value of the registration's type.
  func initialize(_ memory: ValueMemory, with resolver: () -> Resolver) throws {
    switch making.kind {
    case .instance, .initializer, .withArguments: break
    case .onMainActor:
      try requireMainActor(orElse: "Ask for it on the main actor, or await it: \(callThatAwaits).")
    case .async:
      // What is ready is kept by the scope, and was found there.
      throw InjectionError(.notReady, through: [], advice: adviceToAwait)
    }
    try making.initializer(memory, resolver)
  }

  /// The instance as one of its supertypes; nil for a registration that makes its values.
  func instance<Supertype>(as: Supertype.Type) -> Supertype? {
    // Not by way of an `Any?`: an Optional has supertypes of its own.
    func instance<Value>(of type: Value.Type) -> Supertype? {
      guard let value = try? newValue(of: type, with: { misused(for: type) }), let cast = value as? Supertype else {
        return nil
      }
      // A cast may also convert: a struct to an object that holds it, an array to one of another element, a number to
      // Foundation's.
      return dynamicType(of: cast) == dynamicType(of: value) ? cast : nil
    }
    return isInstance ? instance(of: service.type) : nil
  }

  /// The type of a value, whatever it is declared as; of an Optional, that of its content.
  private func dynamicType(of value: Any) -> any Any.Type {
    (value as? any OptionalValue)?.content.map { dynamicType(of: $0) } ?? Swift.type(of: value)
  }

  func misused(for type: any Any.Type) -> Never {
    trap("A registration of \(self.type) was asked to make a \(type) without arguments; please report this.", at: place)
  }

  /// What to do about a value that isn't there as its initializer is async.
  var adviceToAwait: String {
    if lifetime.isShared { return "Await it first: \(callThatAwaits)." }
    return """
      Its scope is .\(scopeName), which keeps no value: await it wherever you need one, with \(callThatAwaits). To read it after it \
      was awaited once, register it with a scope that keeps it, such as .singleton.
      """
  }

  var callThatAwaits: String {
    "try await registry.resolveAsync(\(service.key == nil ? TypeName.source(of: type) : "the key"))"
  }
}

extension Resolver {
  /// The object whose property asks, which a registration for its class was found by.
  fileprivate func container<Container: AnyObject>() -> Container {
    guard let container = point.container as? Container else {
      trap("A registration in \(Container.self) ran for another container; please report this.")
    }
    return container
  }
}
