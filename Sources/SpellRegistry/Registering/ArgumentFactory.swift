/// A factory that makes values from arguments known only at run time.
///
/// A factory is a service, which a registration or a declared key provides and a property can have:
///
/// ```swift
/// registry.register(.factory { (resolver, number: Int) in
///   Ticket(number: number, time: try resolver.resolve(.time).now)
/// })
///
/// final class Counter {
///   @Injected var makeTicket: ArgumentFactory<Ticket, Int>  // try makeTicket(7)
/// }
/// let ticket = try registry.resolve(Ticket.self, arguments: 7)  // the same in one call
/// ```
///
/// A call runs on the calling thread, and resolves dependencies from the registry that provided the factory; for values
/// that the factory keeps, from the registry that has the registration. A factory that an object has got doesn't change
/// when another one is registered. The hooks and completions of a factory's registration get each value that the
/// factory makes, and so do the hooks of its registry.
public struct ArgumentFactory<Value, each Argument>: Sendable {
  @usableFromInline let source: FactorySource
  /// Puts a value in memory, made from the arguments or kept for them.
  @usableFromInline let put: @Sendable (FactorySource, ValueMemory, repeat each Argument) throws(InjectionError) -> Void

  @inlinable init(
    _ source: FactorySource,
    _ put: @escaping @Sendable (FactorySource, ValueMemory, repeat each Argument) throws(InjectionError) -> Void
  ) {
    (self.source, self.put) = (source, put)
  }

  /// Returns a value made from the arguments, or the value that the factory keeps for them.
  ///
  /// - Throws: `.initializerFailed` if the closure throws, `.wrongIsolation` if it belongs to the main actor and the
  ///   caller doesn't, `.cycle` if it calls itself without end, and the errors of what it resolves.
  @inlinable public func callAsFunction(_ argument: repeat each Argument) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in try put(source, memory, repeat each argument) }
  }
}

/// A type of factories, for code that knows it only at run time.
protocol FactoryType {
  static var madeType: any Any.Type { get }
  static var argumentTypes: [any Any.Type] { get }
}

extension ArgumentFactory: FactoryType {
  static var madeType: any Any.Type { Value.self }
  static var argumentTypes: [any Any.Type] { types(repeat (each Argument).self) }
}
