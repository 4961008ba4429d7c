/// A registration whose value's type only the runtime knows.
protocol AnyRegistrationEntry: RegistrationRecord {
  var type: any Any.Type { get }
  /// Whether it makes exactly this type, or is an instance that has it for a supertype.
  func serves(_ type: any Any.Type) -> Bool
  /// The instance as one of its supertypes, for an instance that serves any.
  func instance<Supertype>(as: Supertype.Type) -> Supertype?
}

/// One registration: what it is for, what makes the value, how long that is kept, and who wants to hear of it.
///
/// `@unchecked Sendable`: it adds one constant of a `Sendable` type to ``RegistrationRecord``; what changes there is behind
/// the locks of `hooks`, `observed` and `shared`, or atomic.
final class RegistrationEntry<Value>: RegistrationRecord, AnyRegistrationEntry, @unchecked Sendable {
  enum Initializer: Sendable {
    /// Needs nothing but itself.
    case independent(@Sendable () throws -> Value)
    case plain(@Sendable (Resolver) throws -> Value)
    case withArguments(@Sendable (Resolver, Any) throws -> Value)
    case onMainActor(@MainActor (Resolver) throws -> Value)
    case async(any AsyncInitializer<Value>)
    /// Gives an instance that was there before.
    case instance(@Sendable () -> Value)
  }

  let initializer: Initializer

  init(
    key: RegistrationKey, scope: Scope<Value>, clock: ElapsedClock, place: SourcePlace,
    dependencies: [any Any.Type] = [], initializer: Initializer
  ) {
    self.initializer = initializer
    super.init(
      key: key, shared: SharedValue(lifetime: scope.lifetime, expiry: scope.expiry, clock: clock), place: place,
      dependencies: dependencies)
  }

  var type: any Any.Type { Value.self }

  func serves(_ type: any Any.Type) -> Bool {
    func isInstance<Supertype>(of _: Supertype.Type) -> Bool { instance(as: Supertype.self) != nil }
    return ObjectIdentifier(type) == key.type || isInstance(of: type)
  }

  func instance<Supertype>(as: Supertype.Type) -> Supertype? {
    guard case .instance(let instance) = initializer else { return nil }
    return instance() as? Supertype
  }
}
