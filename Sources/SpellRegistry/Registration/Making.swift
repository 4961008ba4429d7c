/// What makes the values of a registration, and what is known of its dependencies before it runs.
///
/// One of the closures is there. Each has a field of its own: to copy an enum of them, the runtime would have to look up the
/// enum's type for each value and each registration (benchmark: "a request's registry").
@usableFromInline struct Making<Value>: Sendable {
  /// Gives an instance that was there before.
  @usableFromInline var instance: (@Sendable () -> Value)?
  /// Needs nothing but itself.
  @usableFromInline var independent: (@Sendable () throws -> Value)?
  @usableFromInline var resolving: (@Sendable (Resolver) throws -> Value)?
  var special: SpecialInitializer?
  var dependencies: [any Any.Type] = []

  /// The special form, if it has one.
  var form: TypedSpecialInitializer<Value>.Form? { (special as? TypedSpecialInitializer<Value>)?.form }

  static func independent(_ initializer: @escaping @Sendable () throws -> Value) -> Self {
    Self(independent: initializer)
  }

  static func resolving(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> Self {
    Self(resolving: initializer)
  }

  private static func special(
    _ form: TypedSpecialInitializer<Value>.Form, dependencies: [any Any.Type] = []
  ) -> Self {
    Self(special: TypedSpecialInitializer(form), dependencies: dependencies)
  }

  /// A closure that takes the object whose property asks.
  static func inContainer<Container: AnyObject>(
    _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Self {
    Self(resolving: { resolver in try initializer(resolver.container(), resolver) })
  }

  static func autowiring<each Dependency>(
    _ initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Self {
    var dependencies: [any Any.Type] = []
    repeat dependencies.append((each Dependency).self)
    return Self(
      resolving: { resolver in
        try initializer(repeat try resolver.registry.resolve(Service((each Dependency).self), from: nil))
      }, dependencies: dependencies)
  }

  /// A closure that takes arguments.
  ///
  /// - Parameter identity: What two requests have in common that get the same value of the scope.
  static func withArguments<Arguments>(
    identity: (@Sendable (Arguments) -> AnyHashable)? = nil,
    _ initializer: @escaping @Sendable (Resolver, Arguments) throws -> Value
  ) -> Self {
    @Sendable func typed(_ arguments: Any) -> Arguments {
      guard let arguments = arguments as? Arguments else {
        trap("An initializer with \(Arguments.self) got other arguments; please report this.")
      }
      return arguments
    }
    return .special(
      .withArguments(
        { resolver, arguments in try initializer(resolver, typed(arguments)) },
        kept: identity.map { identity in ArgumentVariants { identity(typed($0)) } }))
  }
}

/// The less frequent ways to make a value, of any type: an Optional of a generic class would have to be looked up too.
///
/// `@unchecked Sendable`: a class that isn't final can't be checked. It has nothing stored.
class SpecialInitializer: @unchecked Sendable {}

/// The less frequent ways to make a value.
///
/// `@unchecked Sendable`: its superclass can't be checked, and has nothing stored; its one property is a constant of a
/// `Sendable` type.
final class TypedSpecialInitializer<Value>: SpecialInitializer, @unchecked Sendable {
  enum Form: Sendable {
    /// Takes arguments, and keeps a value for each of them if its scope says so.
    case withArguments(@Sendable (Resolver, Any) throws -> Value, kept: ArgumentVariants<Value>?)
    case onMainActor(@MainActor (Resolver) throws -> Value)
    case async(any AsyncInitializer<Value>)
  }
  let form: Form

  init(_ form: Form) { self.form = form }
}

extension Making where Value: Sendable {
  static func instance(_ instance: Value) -> Self { Self(instance: { instance }) }

  static func async(_ initializer: @escaping @Sendable (Resolver) async throws -> Value) -> Self {
    .special(.async(AsyncValue(initializer)))
  }

  static func onMainActor(_ initializer: @escaping @MainActor () throws -> Value) -> Self {
    .special(.onMainActor { _ in try initializer() })
  }

  static func onMainActor(_ initializer: @escaping @MainActor (Resolver) throws -> Value) -> Self {
    .special(.onMainActor(initializer))
  }

  static func inContainerOnMainActor<Container: AnyObject & Sendable>(
    _ initializer: @escaping @MainActor (Container, Resolver) throws -> Value
  ) -> Self {
    .special(.onMainActor { resolver in try initializer(resolver.container(), resolver) })
  }

  static func autowiringOnMainActor<each Dependency>(
    _ initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> Self {
    var dependencies: [any Any.Type] = []
    repeat dependencies.append((each Dependency).self)
    return .special(
      .onMainActor { resolver in
        try initializer(repeat try resolver.registry.resolve(Service((each Dependency).self), from: nil))
      }, dependencies: dependencies)
  }

  static func withArgumentsOnMainActor<Arguments: Sendable>(
    _ initializer: @escaping @MainActor (Resolver, Arguments) throws -> Value
  ) -> Self {
    .withArguments { resolver, arguments in
      let call = "registry.resolve(\(TypeName.source(of: Value.self)), arguments: …)"
      return try MainActorCall(
        { resolver in try initializer(resolver, arguments) }, resolver,
        advice: "Ask for it on the main actor: try await MainActor.run { try \(call) }."
      ).run()
    }
  }
}

extension RegistrationStorage {
  /// Runs the initializer of a registration whose values are of a type that the caller knows, and puts its value in place,
  /// for a registry and the object whose property asks.
  @usableFromInline typealias Initialize = (RegistrationStorage, InitializerRegistry, AnyObject?) throws -> Void

  /// The instance of a registration whose values have a type, or what its initializer makes, which takes nothing or a resolver.
  @inlinable func newValue<Value>(of: Value.Type, with resolver: () -> Resolver) throws -> Value {
    // The table has it under `Value`, which is what every request is made with.
    let registration = unsafeDowncast(self, to: TypedRegistration<Value>.self)
    if let initializer = registration.making.independent { return try initializer() }
    if let instance = registration.making.instance { return instance() }
    guard let initializer = registration.making.resolving else { misused() }
    return try initializer(resolver())
  }

  @usableFromInline func misused() -> Never {
    trap("A registration's initializer was asked for that it doesn't have; please report this.", at: place)
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
