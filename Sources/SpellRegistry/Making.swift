/// How the values of a registration are made, and what is known of its dependencies before it runs.
@usableFromInline struct Making: Sendable {
  /// Puts a new value in memory.
  @usableFromInline typealias Initializer =
    @Sendable (ValueMemory, borrowing Request, InitializerRegistry) throws -> Void

  enum Kind: Sendable {
    /// An instance that was there before.
    case instance
    case initializer
    case onMainActor
    /// The identity tells which arguments share a value that the scope keeps.
    case withArguments((@Sendable (Any) -> AnyHashable)?, @Sendable (ValueMemory, Resolver, Any) throws -> Void)
    case async(AsyncRun.Initializer)
  }

  let kind: Kind
  let dependencies: [any Any.Type]
  let initializer: Initializer

  init(_ kind: Kind, dependencies: [any Any.Type] = [], _ initializer: @escaping Initializer) {
    (self.kind, self.dependencies, self.initializer) = (kind, dependencies, initializer)
  }

  @usableFromInline init(dependencies: [any Any.Type] = [], _ initializer: @escaping Initializer) {
    self.init(.initializer, dependencies: dependencies, initializer)
  }

  @inlinable static func independent<Value>(_ initializer: @escaping @Sendable () throws -> Value) -> Making {
    Making { memory, _, _ in memory.put(try initializer()) }
  }

  @inlinable static func resolving<Value>(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> Making {
    Making { memory, request, registry in
      memory.put(try initializer(Resolver(request, registry)))
    }
  }

  /// A closure that only asks the registry, for dependencies that are known.
  @inlinable static func resolving<Value>(
    dependencies: [any Any.Type], _ initializer: @escaping @Sendable (InitializerRegistry) throws -> Value
  ) -> Making {
    Making(dependencies: dependencies) { memory, _, registry in memory.put(try initializer(registry)) }
  }

  @inlinable static func autowiring<Value, each Dependency>(
    _ initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) -> Making {
    Making(dependencies: types(repeat (each Dependency).self)) { memory, _, registry in
      memory.put(try initializer(repeat try registry.resolve((each Dependency).self)))
    }
  }

  static func inContainer<Value, Container: AnyObject>(
    _ initializer: @escaping @Sendable (Container, Resolver) throws -> Value
  ) -> Making {
    .resolving { resolver in try initializer(resolver.container(), resolver) }
  }

  static func instance<Value: Sendable>(_ instance: Value) -> Making {
    Making(.instance) { memory, _, _ in memory.put(instance) }
  }

  /// On the main actor, with a resolver whose point has no container.
  static func onMainActor<Value: Sendable>(
    dependencies: [any Any.Type] = [], _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> Making {
    Making(.onMainActor, dependencies: dependencies) { memory, request, registry in
      let resolver = Resolver(point: request.point.withoutContainer(), registry: registry)
      memory.put(try callOnMainActor(resolver, initializer))
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
    Making(.onMainActor) { memory, request, registry in
      let resolver = Resolver(point: request.point.withoutContainer(), registry: registry)
      let container: Container = Resolver(request, registry).container()
      memory.put(try callOnMainActor(resolver) { try initializer(container, $0) })
    }
  }

  static func async<Value: Sendable>(_ initializer: @escaping @Sendable (Resolver) async throws -> Value) -> Making {
    Making(.async { memory, resolver in memory.put(try await initializer(resolver)) }) { _, _, _ in
      trap("An async initializer ran without being awaited; please report this.")
    }
  }
}

/// The types in a list.
@usableFromInline func types<each Element>(_ type: repeat (each Element).Type) -> [any Any.Type] {
  var types: [any Any.Type] = []
  repeat types.append(each type)
  return types
}

extension Resolver {
  /// The object whose property asks, for which a registration for its class was found.
  fileprivate func container<Container: AnyObject>() -> Container {
    guard let container = point.container as? Container else {
      trap("A registration in \(Container.self) ran for another container; please report this.")
    }
    return container
  }
}
