/// A registration's initializer, with the dependencies that are known before it runs.
@usableFromInline struct Making: Sendable {
  /// Puts a new value in memory; gets the arguments of the request, if it has any.
  @usableFromInline typealias Initializer =
    @Sendable (ValueMemory, borrowing Request, InitializerRegistry, ArgumentBox?) throws -> Void

  let dependencies: [any Any.Type]
  let initializer: Initializer
  /// Whether the value is an instance that was there before.
  var isInstance = false
  /// Makes the value instead of `initializer`, if it has to be awaited.
  var async: AsyncRun.Initializer?
  /// Tells which arguments share a value that the scope keeps.
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

  /// A closure that only asks the registry, for dependencies that are known.
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

  /// On the main actor, with a resolver whose point has no container.
  static func onMainActor<Value: Sendable>(
    dependencies: [any Any.Type] = [], _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Making {
    Making(dependencies: dependencies) { memory, request, registry, _ in
      try requireMainActor(for: Value.self, request)
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
      try requireMainActor(for: Value.self, request)
      let resolver = Resolver(request, registry)
      let container: Container = resolver.container()
      memory.put(try callOnMainActor(resolver.onMainActor()) { try initializer(container, $0) })
    }
  }

  /// A factory, which asks the registry that is current where it is made.
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
      try requireMainActor(orElse: "Make the value on the main actor: try await MainActor.run { try factory(…) }.")
      return try callOnMainActor(resolver) { try initializer($0, first, repeat each rest) }
    }
  }

  static func async<Value: Sendable>(_ initializer: @escaping @Sendable (Resolver) async throws -> Value) -> Making {
    var making = Making { _, _, _, _ in trap("An async initializer ran without being awaited. \(reportThis)") }
    making.async = { memory, resolver in memory.put(try await initializer(resolver)) }
    return making
  }
}

/// The types in a list.
@usableFromInline func types<each Element>(_ type: repeat (each Element).Type) -> [any Any.Type] {
  var types: [any Any.Type] = []
  repeat types.append(each type)
  return types
}

/// Throws an error unless the caller is on the main actor.
private func requireMainActor(for type: any Any.Type, _ request: borrowing Request) throws {
  try requireMainActor(
    orElse: "Ask for it on the main actor, or await it: \(Service(type, key: request.service.key).callThatAwaits).")
}

extension Service {
  /// The expression that awaits the value.
  var callThatAwaits: String {
    "try await registry.resolveAsync(\(key == nil ? TypeName.source(of: type) : "the key"))"
  }
}

extension Resolver {
  /// The object whose property asks, for which a registration for its class was found.
  fileprivate func container<Container: AnyObject>() -> Container {
    guard let container = point.container as? Container else {
      trap("A registration in \(Container.self) ran for another container. \(reportThis)")
    }
    return container
  }
}
