/// A factory of values that are made from what is known only at run time, as a declared key provides it.
///
/// Each call makes a value with the registry that the factory is from, on the thread that calls.
public struct ArgumentFactory<Value, each Argument>: Sendable {
  private let initializer: @Sendable (repeat each Argument) throws -> Value

  /// Creates a factory of a closure, to be registered for a key.
  public init(_ body: @escaping @Sendable (repeat each Argument) throws -> Value) { initializer = body }

  /// Makes a value.
  ///
  /// - Throws: An `InjectionError`; what the closure throws, for a factory of your own.
  public func callAsFunction(_ argument: repeat each Argument) throws -> Value { try initializer(repeat each argument) }
}
