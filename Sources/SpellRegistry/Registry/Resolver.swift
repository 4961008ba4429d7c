/// The access of an initializer to its dependencies: the registry, and the point that the value is for.
///
/// ```swift
/// registry.register(Network.self) { resolver in
///   Network(clock: try resolver.resolve(), name: resolver.point.propertyName)
/// }
/// ```
///
/// It is valid while the initializer runs.
public struct Resolver {
  /// The property that the value will go to, and its container.
  public let point: InjectionPoint
  /// The registry that answers: the one that was asked, except for a value that an outer registry keeps and shares,
  /// whose dependencies come from there.
  public let registry: InitializerRegistry

  /// Returns a dependency, as ``InitializerRegistry/resolve(_:named:in:)`` does.
  @inlinable public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try registry.resolve(type, named: name, in: container)
  }

  /// Returns the value of a declared key, as ``InitializerRegistry/resolve(_:named:in:)`` of a key does.
  @inlinable public func resolve<Value>(
    _ key: InjectionKey<Value>, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try registry.resolve(key, named: name, in: container)
  }

  /// Returns one value from each registration of a type, as ``InitializerRegistry/resolveAll(_:)`` does.
  public func resolveAll<Value>(_ type: Value.Type = Value.self) throws(InjectionError) -> [Value] {
    try registry.resolveAll(type)
  }
}
