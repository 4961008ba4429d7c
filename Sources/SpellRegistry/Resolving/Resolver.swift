/// An initializer's access to its dependencies, and to the injection point of the new value.
///
/// ```swift
/// registry.register(Network.self) { resolver in
///   Network(clock: try resolver.resolve(), name: resolver.point.propertyName)
/// }
/// ```
///
/// A resolver is valid while the initializer runs. All requests of the resolver count as part of the outermost request
/// for which the initializer runs, even after an `await`.
public struct Resolver {
  /// The destination of the value: the requesting property, if there is one, and the property's container.
  public let point: InjectionPoint
  /// The registry that provides the dependencies.
  ///
  /// If the registration keeps the new value, this is the registry that contains the registration. Otherwise, it is the
  /// registry that received the request.
  public let registry: InitializerRegistry
  let run: AsyncRun?

  init(point: InjectionPoint, registry: InitializerRegistry, run: AsyncRun? = nil) {
    (self.point, self.registry, self.run) = (point, registry, run)
  }

  @usableFromInline init(_ request: borrowing Request, _ registry: InitializerRegistry) {
    self.init(point: request.point, registry: registry)
  }

  /// Returns a copy for a main-actor initializer, without the container of the injection point.
  func onMainActor() -> Resolver { Resolver(point: point.withoutContainer(), registry: registry, run: run) }

  /// Returns the value of a dependency, which the registry resolves for the initializer.
  @inlinable public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try resolve(into: memory, Value.self, nil, named: name, in: container)
    }
  }

  /// Returns the value of a declared key, which the registry resolves for the initializer.
  @inlinable public func resolve<Value>(
    _ key: InjectionKey<Value>, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try resolve(into: memory, Value.self, key, named: name, in: container)
    }
  }

  @usableFromInline func resolve(
    into memory: ValueMemory, _ type: any Any.Type, _ key: InjectionKeys?, named name: String?, in container: AnyObject?
  ) throws(InjectionError) {
    // The closure would copy the resolver if it captured `self` (benchmark: "Resolve a graph of five").
    guard let run else { return try registry.resolve(into: memory, type, key, named: name, in: container) }
    try run.continuing { [registry] () throws(InjectionError) in
      try registry.resolve(into: memory, type, key, named: name, in: container)
    }
  }

  /// Returns one value from each registration of a type, in the order of registration.
  public func resolveAll<Value>(_ type: Value.Type = Value.self) throws(InjectionError) -> [Value] {
    var values: [Value] = []
    try continuing { () throws(InjectionError) in values = try registry.resolveAll(type) }
    return values
  }

  /// Runs `body` as part of the resolution that this resolver belongs to.
  @usableFromInline func continuing(_ body: () throws(InjectionError) -> Void) throws(InjectionError) {
    if let run { try run.continuing(body) } else { try body() }
  }
}

extension Resolver {
  /// Unavailable, because only a registry or an instance of `Resolver` resolves services.
  @available(*, unavailable, message: "Ask a registry for it, with try resolve(Clock.self).")
  public static func resolve<Value>(_ type: Value.Type = Value.self) -> Value { fatalError() }

  /// Unavailable, because `resolve` also accepts an Optional type.
  @available(
    *, unavailable, message: "Ask a registry for Clock?, with try resolve(Clock?.self)."
  )
  public static func optional<Value>(_ type: Value.Type = Value.self) -> Value? { fatalError() }
}
