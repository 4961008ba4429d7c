/// A registration's initializer, with the dependencies that are known before it runs.
@usableFromInline struct Making: Sendable {
  /// A closure that puts a new value in memory, and gets the arguments of the request if there are any.
  @usableFromInline typealias Initializer =
    @Sendable (ValueMemory, borrowing Request, InitializerRegistry, ArgumentBox?) throws -> Void

  let dependencies: [any Any.Type]
  let initializer: Initializer
  var isInstance = false
  /// The async initializer, which makes the value in place of `initializer`.
  var async: AsyncRun.Initializer?
  /// A closure that returns equal results for arguments that share a kept value.
  var identity: (@Sendable (Any) -> AnyHashable)?

  @usableFromInline init(dependencies: [any Any.Type] = [], _ initializer: @escaping Initializer) {
    (self.dependencies, self.initializer) = (dependencies, initializer)
  }

  @inlinable static func independent<Value>(_ initializer: @escaping @Sendable () throws -> Value) -> Making {
    Making { memory, _, _, _ in memory.put(try initializer()) }
  }

  @inlinable static func resolving<Value>(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> Making {
    Making { memory, request, registry, _ in memory.put(try initializer(Resolver(request, registry))) }
  }

  /// Returns the making for a closure that only asks the registry, for dependencies that are known beforehand.
  @inlinable static func resolving<Value>(
    dependencies: [any Any.Type], _ initializer: @escaping @Sendable (InitializerRegistry) throws -> Value
  ) -> Making {
    Making(dependencies: dependencies) { memory, _, registry, _ in memory.put(try initializer(registry)) }
  }

  @inlinable static func autowiring<Value, each Dependency>(
    _ initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Making {
    Making(dependencies: types(repeat (each Dependency).self)) { memory, _, registry, _ in
      memory.put(try initializer(repeat try registry.resolve((each Dependency).self)))
    }
  }

  static func inContainer<Value, Container: AnyObject>(
    _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Making {
    .resolving { resolver in try initializer(resolver.container(), resolver) }
  }

  static func instance<Value: Sendable>(_ instance: Value) -> Making {
    var making = Making { memory, _, _, _ in memory.put(instance) }
    making.isInstance = true
    return making
  }

  /// Returns the making for a closure that runs on the main actor, with a resolver whose point has no container.
  static func onMainActor<Value: Sendable>(
    dependencies: [any Any.Type] = [], _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Making {
    Making(dependencies: dependencies) { memory, request, registry, _ in
      try requireMainActor()
      memory.put(try callOnMainActor(Resolver(request, registry).onMainActor(), initializer))
    }
  }

  static func autowiringOnMainActor<Value: Sendable, each Dependency>(
    _ initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> Making {
    .onMainActor(dependencies: types(repeat (each Dependency).self)) { resolver in
      try initializer(repeat try resolver.resolve((each Dependency).self))
    }
  }

  static func inContainerOnMainActor<Value: Sendable, Container: AnyObject & Sendable>(
    _ initializer: @escaping @MainActor (Container, Resolver) throws -> Value
  ) -> Making {
    Making { memory, request, registry, _ in
      try requireMainActor()
      let resolver = Resolver(request, registry)
      let container: Container = resolver.container()
      memory.put(try callOnMainActor(resolver.onMainActor()) { try initializer(container, $0) })
    }
  }

  /// Returns the making for a factory, which asks the registry that is current when the factory is made.
  static func factory<Value, First, each Rest>(
    _ initializer: @escaping @Sendable (Resolver, First, repeat each Rest) throws -> Value
  ) -> Making {
    Making { memory, request, _, _ in
      let (home, service) = (Home.current, Service(Value.self, key: request.service.key))
      memory.put(
        ArgumentFactory { (first: First, rest: repeat each Rest) in
          try home.resolving(service) { try initializer($0, first, repeat each rest) }
        })
    }
  }

  static func factoryOnMainActor<Value: Sendable, First: Sendable, each Rest: Sendable>(
    _ initializer: @escaping @MainActor (Resolver, First, repeat each Rest) throws -> Value
  ) -> Making {
    .factory { (resolver, first: First, rest: repeat each Rest) in
      try requireMainActorToMake()
      return try callOnMainActor(resolver) { try initializer($0, first, repeat each rest) }
    }
  }

  static func async<Value: Sendable>(_ initializer: @escaping @Sendable (Resolver) async throws -> Value) -> Making {
    var making = Making { _, _, _, _ in trap("An async initializer ran without being awaited. \(reportThis)") }
    making.async = { memory, resolver in memory.put(try await initializer(resolver)) }
    return making
  }
}

/// Returns the types as an array.
@usableFromInline func types<each Element>(_ type: repeat (each Element).Type) -> [any Any.Type] {
  var types: [any Any.Type] = []
  repeat types.append(each type)
  return types
}

extension Resolver {
  /// Returns the object whose property asks; its class is the one that the registration is for.
  fileprivate func container<Container: AnyObject>() -> Container {
    guard let container = point.container as? Container else {
      trap("A registration in \(Container.self) ran for another container. \(reportThis)")
    }
    return container
  }
}
