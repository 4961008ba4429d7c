/// A factory that makes values from arguments known only at run time; a declared key can provide one.
///
/// A call runs on the calling thread. A key's own factory resolves dependencies from the registry that provided it.
public struct ArgumentFactory<Value, each Argument>: Sendable {
  private let initializer: @Sendable (repeat each Argument) throws -> Value

  /// Creates a factory from a closure, for a registration of a key.
  public init(_ body: @escaping @Sendable (repeat each Argument) throws -> Value) { initializer = body }

  /// Returns a new value made from the arguments.
  ///
  /// - Throws: An `InjectionError`; for a factory created from a closure, the closure's error.
  public func callAsFunction(_ argument: repeat each Argument) throws -> Value { try initializer(repeat each argument) }
}
