/// A way to make a value, such as a closure, an initializer whose parameters are resolved, or an existing instance.
///
/// Registrations, declared keys, and the methods `test` and `preview` of keys all take an initializer. Each way in the
/// table below works for all of them, but only a registration can be for the properties of one class:
///
/// ```swift
/// registry.register(Network.self, .autowire(Network.init))
/// registry.register(.loader, .onMainActor { Loader(title: "mine") })
/// static let loader = InjectionKey(scope: .singleton, .onMainActor { Loader() })
///   .test(.onMainActor { Loader(title: "fake") })
/// ```
///
/// | How the value is made | What to write |
/// |---|---|
/// | by a closure, perhaps from other services | `{ Clock() }`, `{ Network(clock: try $0.resolve()) }` |
/// | by an initializer such as `Network.init`, whose parameters are resolved | `autowire(_:)` |
/// | by a closure, for the properties of one class | `in(_:subclasses:_:)`, ``in(_:subclasses:)`` |
/// | on the main actor | `onMainActor(_:)`, `onMainActor(in:subclasses:_:)`, ``autowireOnMainActor(_:)`` |
/// | by an `async` closure | `async(_:)` |
/// | it exists already | ``instance(_:as:)`` |
/// | from arguments that are known only at run time | ``factory(_:)``, ``factory(scope:_:)``, ``factoryOnMainActor(_:)`` |
///
/// If one initializer is registered several times, each registration keeps its own values. A function can return an
/// initializer, and a constant can hold one:
///
/// ```swift
/// func fake(_ name: String) -> Initializer<any Tracker> { .init { FakeTracker(name) } }
/// ```
public struct Initializer<Value>: Sendable {
  @usableFromInline var erased: ErasedInitializer

  @usableFromInline init(_ initializer: ErasedInitializer) { erased = initializer }

  /// Creates an initializer from a closure.
  ///
  /// - Parameter make: Creates a value each time the scope needs one, on the requesting thread, with no lock held.
  @inlinable public init(_ make: @escaping @Sendable () throws -> Value) { self.init(.independent(make)) }

  /// Creates an initializer from a closure that uses other services.
  ///
  /// - Parameter make: Creates a value each time the scope needs one, on the requesting thread, with no lock held.
  @inlinable
  public init(_ make: @escaping @Sendable (Resolver) throws -> Value) { self.init(.resolving(make)) }
}

// MARK: Autowiring

extension Initializer {
  /// Returns an initializer that resolves each parameter of `make` by type, and then calls `make`.
  ///
  /// ```swift
  /// registry.register(.autowire(Checkout.init(network:clock:)))
  /// ```
  ///
  /// The dependencies are known before the initializer runs, so SpellDiagnostics can check and draw them.
  @inlinable public static func autowire<each Dependency>(
    _ make: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Initializer {
    Initializer(
      ErasedInitializer(dependencies: types(repeat (each Dependency).self)) { memory, _, registry in
        memory.put(try make(repeat try registry.resolve((each Dependency).self)))
      })
  }

  // The overloads for one to three parameters exist because the compiler doesn't specialize a parameter pack at the
  // call site (benchmark: "resolve a graph of five").

  /// Returns an initializer that resolves the one parameter of `make` by type, and then calls `make`.
  @inlinable public static func autowire<First>(
    _ make: @escaping @Sendable (First) throws -> Value
  ) -> Initializer {
    Initializer(
      ErasedInitializer(dependencies: [First.self]) { memory, _, registry in
        memory.put(try make(registry.resolve()))
      })
  }

  /// Returns an initializer that resolves the two parameters of `make` by type, and then calls `make`.
  @inlinable public static func autowire<First, Second>(
    _ make: @escaping @Sendable (First, Second) throws -> Value
  ) -> Initializer {
    Initializer(
      ErasedInitializer(dependencies: [First.self, Second.self]) { memory, _, registry in
        memory.put(try make(registry.resolve(), registry.resolve()))
      })
  }

  /// Returns an initializer that resolves the three parameters of `make` by type, and then calls `make`.
  @inlinable public static func autowire<First, Second, Third>(
    _ make: @escaping @Sendable (First, Second, Third) throws -> Value
  ) -> Initializer {
    Initializer(
      ErasedInitializer(dependencies: [First.self, Second.self, Third.self]) { memory, _, registry in
        memory.put(try make(registry.resolve(), registry.resolve(), registry.resolve()))
      })
  }
}

// MARK: For one class of containers

extension Initializer {
  /// Returns an initializer for the properties of one class, from a closure that gets the enclosing object.
  ///
  /// ```swift
  /// registry.register(.in(Page.self) { page in Network(clock: page.clock) })
  /// ```
  ///
  /// All instances of the class share a value that the scope keeps.
  ///
  /// - Parameters:
  ///   - container: The class of the object that holds the property or is passed to `resolve`.
  ///   - subclasses: Whether the initializer is also for the properties of subclasses.
  ///   - make: Creates a value for the container, on the requesting thread, with no lock held.
  public static func `in`<Container: AnyObject>(
    _ container: Container.Type, subclasses: Bool = false, _ make: @escaping @Sendable (Container) throws -> Value
  ) -> Initializer {
    .in(container, subclasses: subclasses) { container, _ in try make(container) }
  }

  /// Returns an initializer for the properties of one class, from a closure that gets the enclosing object and a
  /// resolver for other services.
  public static func `in`<Container: AnyObject>(
    _ container: Container.Type, subclasses: Bool = false,
    _ make: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Initializer {
    Initializer { resolver in try make(resolver.container(), resolver) }.in(container, subclasses: subclasses)
  }

  /// Returns a copy of this initializer that is only for the properties of one class.
  ///
  /// ```swift
  /// registry.register(.instance(tracker).in(Page.self))
  /// ```
  ///
  /// - Parameters:
  ///   - container: The class of the object that holds the property or is passed to `resolve`.
  ///   - subclasses: Whether the initializer is also for the properties of subclasses.
  /// - Precondition: If this initializer is already for a class, `container` must be that class or a subclass of it.
  public func `in`(_ container: any AnyObject.Type, subclasses: Bool = false) -> Initializer {
    let constraint = ClassConstraint(container, subclasses: subclasses)
    if let former = erased.container, !constraint.isNarrower(than: former) {
      trap(
        """
        An initializer of \(TypeName.of(Value.self)) takes a \(TypeName.of(former.type)), so it can't be for the class \
        \(TypeName.of(container)), which isn't a subclass. Write an initializer for each class.
        """)
    }
    var initializer = self
    initializer.erased.container = constraint
    return initializer
  }
}

extension Resolver {
  /// Returns the container of the injection point, cast to the class that the registration is for.
  fileprivate func container<Container: AnyObject>() -> Container {
    guard let container = point.container as? Container else {
      trap("A registration in \(Container.self) ran for another container. \(reportThis)")
    }
    return container
  }
}

// MARK: Values that threads share

extension Initializer where Value: Sendable {
  /// Returns the initializer for an existing instance.
  ///
  /// ```swift
  /// registry.register(.instance(logger))
  /// registry.register((any Tracker).self, .instance(FileTracker()))
  /// ```
  ///
  /// The registry holds the instance until the registration is withdrawn or replaced. A ``Registration`` that you keep
  /// also holds the instance. The scope of the registration has no effect.
  ///
  /// - Parameters:
  ///   - instance: The value that each request gets.
  ///   - match: Whether only requests for the registered type get the instance, or also requests for the superclasses
  ///     and protocols of the instance. For a declared key, `match` must be `.itsType`.
  public static func instance(_ instance: Value, as match: InstanceMatch = .itsType) -> Initializer {
    var erased = ErasedInitializer(.instance { memory in memory.put(instance) })
    erased.match = match
    return Initializer(erased)
  }

  /// Returns an initializer from an async closure.
  ///
  /// ```swift
  /// registry.register(scope: .singleton, .async { try await Database() })
  /// let database = try await registry.resolveAsync(Database.self)
  /// ```
  ///
  /// Until a call of `resolveAsync` has made the value, `resolve` throws an error of code `.notReady`, and reading a
  /// property stops the program. After that, `resolve` and properties return the value for as long as the scope keeps
  /// the value. Scope `.unique` doesn't keep it, and `.graph` keeps it only until the resolution ends.
  public static func async(_ make: @escaping @Sendable () async throws -> Value) -> Initializer {
    Initializer(ErasedInitializer(.async { memory, _ in memory.put(try await make()) }))
  }

  /// Returns an initializer from an async closure that uses other services.
  public static func async(_ make: @escaping @Sendable (Resolver) async throws -> Value) -> Initializer {
    Initializer(
      ErasedInitializer(.async { memory, resolver in memory.put(try await make(resolver)) }, takesResolver: true))
  }
}

// MARK: On the main actor

// The initializers below run on the main actor. A request from elsewhere throws an error of code `.wrongIsolation`,
// unless a kept value already exists. `resolveAsync` makes the value on the main actor. The injection point of the
// closure's resolver has no container, because the container may belong to another actor.

extension Initializer where Value: Sendable {
  /// Returns an initializer from a closure that runs on the main actor.
  ///
  /// ```swift
  /// registry.register(scope: .singleton, .onMainActor { Loader() })
  /// ```
  ///
  /// A request from elsewhere throws an error of code `.wrongIsolation`, unless a kept value already exists.
  /// `resolveAsync` makes the value on the main actor.
  public static func onMainActor(_ make: @escaping @MainActor () throws -> Value) -> Initializer {
    onMainActor(takesResolver: false) { _ in try make() }
  }

  /// Returns an initializer from a closure that runs on the main actor and uses other services.
  ///
  /// The ``Resolver/point`` of the closure's resolver has no container.
  public static func onMainActor(_ make: @escaping @MainActor (Resolver) throws -> Value) -> Initializer {
    onMainActor(takesResolver: true, make)
  }

  private static func onMainActor(
    dependencies: [any Any.Type] = [], takesResolver: Bool, _ make: @escaping @MainActor (Resolver) throws -> Value
  ) -> Initializer {
    Initializer(
      ErasedInitializer(.mainActorClosure, dependencies: dependencies, takesResolver: takesResolver) {
        memory, request, registry in
        try requireMainActor()
        memory.put(try callOnMainActor(Resolver(request, registry).onMainActor(), make))
      })
  }

  /// Returns an initializer that resolves each parameter of `make` by type, and calls `make`, on the main actor.
  ///
  /// ```swift
  /// registry.register(.autowireOnMainActor(Store.init))
  /// ```
  public static func autowireOnMainActor<each Dependency>(
    _ make: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> Initializer {
    onMainActor(dependencies: types(repeat (each Dependency).self), takesResolver: false) { resolver in
      try make(repeat try resolver.resolve((each Dependency).self))
    }
  }

  /// Returns a main-actor initializer for the properties of one class, from a closure that gets the enclosing object.
  ///
  /// ```swift
  /// registry.register(Loader.self, .onMainActor(in: Inbox.self) { inbox in Loader(title: inbox.title) })
  /// ```
  ///
  /// - Parameters:
  ///   - container: The class of the object that holds the property or is passed to `resolve`.
  ///   - subclasses: Whether the initializer is also for the properties of subclasses.
  ///   - make: Creates a value for the container, with no lock held.
  public static func onMainActor<Container: AnyObject & Sendable>(
    in container: Container.Type, subclasses: Bool = false, _ make: @escaping @MainActor (Container) throws -> Value
  ) -> Initializer {
    onMainActor(in: container, subclasses: subclasses) { container, _ in try make(container) }
  }

  /// Returns a main-actor initializer for the properties of one class, from a closure that gets the enclosing object
  /// and a resolver for other services.
  public static func onMainActor<Container: AnyObject & Sendable>(
    in container: Container.Type, subclasses: Bool = false,
    _ make: @escaping @MainActor (Container, Resolver) throws -> Value
  ) -> Initializer {
    Initializer(
      ErasedInitializer(.mainActorClosure) { memory, request, registry in
        try requireMainActor()
        let resolver = Resolver(request, registry)
        let container: Container = resolver.container()
        memory.put(try callOnMainActor(resolver.onMainActor()) { try make(container, $0) })
      }
    ).in(container, subclasses: subclasses)
  }
}
