/// A factory that makes values from arguments known only at run time; a declared key can provide one.
///
/// A call runs on the calling thread. A key's own factory resolves dependencies from the registry that provided it.
public struct ArgumentFactory<Value, each Argument>: Sendable {
  private let initializer: @Sendable (repeat each Argument) throws -> Value

  /// Creates a factory from a closure, for a registration of a key.
  public init(_ body: @escaping @Sendable (repeat each Argument) throws -> Value) { initializer = body }

  /// Returns a factory of a closure that runs on the main actor; a call elsewhere throws `.wrongIsolation`.
  ///
  /// ```swift
  /// registry.register(.cart) { .onMainActor { fruit, count in Cart(fruit, count) } }
  /// ```
  public static func onMainActor(
    _ body: @escaping @MainActor (repeat each Argument) throws -> Value
  ) -> ArgumentFactory where Value: Sendable, repeat each Argument: Sendable {
    ArgumentFactory { (argument: repeat each Argument) in
      try requireMainActorToMake()
      return try callOnMainActor(()) { _ in try body(repeat each argument) }
    }
  }

  /// Returns a new value made from the arguments.
  ///
  /// - Throws: An `InjectionError`; for a factory created from a closure, the closure's error.
  public func callAsFunction(_ argument: repeat each Argument) throws -> Value { try initializer(repeat each argument) }
}

/// Throws an error that tells how to call a factory, unless the caller is on the main actor.
func requireMainActorToMake() throws {
  try requireMainActor(orElse: "Make the value on the main actor: try await MainActor.run { try factory(…) }.")
}
