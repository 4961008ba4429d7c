/// An ``Initializer``, with the type of its values erased.
@usableFromInline struct ErasedInitializer: Sendable {
  /// A closure that puts a new value in memory.
  @usableFromInline typealias Body = @Sendable (ValueMemory, borrowing Request, InitializerRegistry) throws -> Void

  /// The way in which an initializer makes its values.
  enum Kind: Sendable {
    /// The ``body`` makes a new value each time.
    case closure
    /// The ``body`` makes a new value each time, from the value of what the registration hides.
    case wrapping
    /// The ``body`` makes a new value each time on the main actor, and throws elsewhere.
    case mainActorClosure
    /// The closure copies an existing value to memory.
    case instance(@Sendable (ValueMemory) -> Void)
    /// The closure makes a new value asynchronously each time.
    case async(AsyncRun.Initializer)
    /// The closure puts a factory in memory, which needs no dependencies until it is called.
    ///
    /// The lifetime and the expiry are those of the values that the factory makes.
    indirect case factory(@Sendable (ValueMemory, consuming FactorySource) -> Void, ScopeLifetime, expiry: Duration?)
  }

  let kind: Kind
  /// The closure of an initializer that makes a new value each time.
  ///
  /// It isn't part of ``Kind``, because a switch over the kind would retain the closure at each call (benchmark: "unique
  /// object by declared key"). An initializer of another kind has none, and this is then a closure that must not be called.
  let body: Body
  /// The types of an autowired initializer's parameters; empty for any other initializer.
  let dependencies: [any Any.Type]
  /// Whether the initializer gets a resolver, with which it may ask for other services.
  let takesResolver: Bool
  /// The class of containers that the initializer is for; nil for any container.
  var container: ClassConstraint?
  /// The types of the requests that get the instance, for an initializer of the kind `.instance`.
  var match = InstanceMatch.itsType

  /// Creates an initializer that isn't a closure, or one whose `body` makes a new value each time.
  init(
    _ kind: Kind, dependencies: [any Any.Type] = [], takesResolver: Bool = false,
    body: @escaping Body = { _, _, _ in preconditionFailure("The initializer has no closure.") }
  ) {
    (self.kind, self.body) = (kind, body)
    (self.dependencies, self.takesResolver) = (dependencies, takesResolver)
  }

  @usableFromInline init(
    dependencies: [any Any.Type] = [], takesResolver: Bool = false, _ body: @escaping Body
  ) {
    self.init(.closure, dependencies: dependencies, takesResolver: takesResolver, body: body)
  }

  /// Whether the initializer makes its value of others: it is autowired or gets a resolver.
  var asksForOthers: Bool { takesResolver || !dependencies.isEmpty }
  var wraps: Bool { if case .wrapping = kind { true } else { false } }

  /// Whether the calling thread can't run the initializer, because only an async run or the main actor can.
  var isOutOfReach: Bool {
    switch kind {
    case .closure, .wrapping, .instance, .factory: false
    case .async: true
    case .mainActorClosure: !isOnMainActor()
    }
  }
  var isInstance: Bool { if case .instance = kind { true } else { false } }
  var isFactory: Bool { if case .factory = kind { true } else { false } }
  /// The scope of the values that a factory makes; nil if the kind isn't `.factory`.
  var factoryScope: (lifetime: ScopeLifetime, expiry: Duration?)? {
    if case .factory(_, let lifetime, let expiry) = kind { (lifetime, expiry) } else { nil }
  }
  var async: AsyncRun.Initializer? { if case .async(let initializer) = kind { initializer } else { nil } }

  // The `register` overloads for closures call `independent` and `resolving` directly. The compiler therefore knows the
  // closure when it inlines the call.

  @inlinable
  static func independent<Value>(_ make: @escaping @Sendable () throws -> Value) -> ErasedInitializer {
    ErasedInitializer { memory, _, _ in memory.put(try make()) }
  }

  @inlinable static func resolving<Value>(
    _ make: @escaping @Sendable (Resolver) throws -> Value
  ) -> ErasedInitializer {
    ErasedInitializer(takesResolver: true) { memory, request, registry in
      memory.put(try make(Resolver(request, registry)))
    }
  }

  /// Stops the program if a registration can't have this initializer.
  ///
  /// - Parameters:
  ///   - type: The type of the registration's values.
  ///   - key: The declared key that the registration is for; nil if the registration is for `type`.
  ///   - scope: The scope that the registration specifies; nil for none.
  ///   - place: The place of the registration or declaration, for the message.
  func check(for type: any Any.Type, key: InjectionKeys?, scope: ScopeLifetime?, at place: SourcePlace) {
    if let container, case .async = kind {
      trap(
        """
        An async initializer of \(TypeName.of(type)) is for the class \(TypeName.of(container.type)) only, but resolveAsync knows no \
        container. Leave out `.in(…)`.
        """, at: place)
    }
    if key != nil, match == .anySupertype {
      trap(
        """
        An instance for a key of type \(TypeName.of(type)) serves that key alone, and can't serve its supertypes. Leave out \
        `as: .anySupertype`, or register the instance for its type.
        """, at: place)
    }
    guard let factoryScope, let factory = type as? any FactoryType.Type else { return }
    factoryScope.lifetime.check(for: factory.madeType, at: place)
    if let scope, !scope.isUnique {
      trap(
        """
        A factory of type \(TypeName.of(type)) has a scope, but a factory keeps nothing itself. For the values that it makes, write \
        .factory(scope: …) { resolver, argument in … }.
        """, at: place)
    }
  }
}

/// Returns the types of a parameter pack as an array, in the order of the pack.
@usableFromInline func types<each Element>(_ type: repeat (each Element).Type) -> [any Any.Type] {
  var types: [any Any.Type] = []
  repeat types.append(each type)
  return types
}
