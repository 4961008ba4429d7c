/// A factory that makes values from arguments known only at run time.
///
/// A factory is a service like any other: a registration or a declared key provides it, and a property can hold it.
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
/// that the factory keeps, from the registry that has the registration. An object's factory doesn't change when another
/// one is registered. The hooks and completions of a factory's registration get each value that the factory makes, and
/// so do the hooks of its registry.
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

extension Initializer {
  /// Returns an initializer of factories that make a new value from the arguments of each call.
  ///
  /// ```swift
  /// registry.register(.factory { (resolver, number: Int) in Ticket(number: number) })
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7)
  /// ```
  @inlinable public static func factory<Made, each Argument>(
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Made
  ) -> Initializer where Value == ArgumentFactory<Made, repeat each Argument> {
    factory(of: Made.self, scope: nil) { memory, source in
      memory.put(
        ArgumentFactory<Made, repeat each Argument>(source) {
          (source, memory, argument: repeat each Argument) throws(InjectionError) in
          try source.put(in: memory, Made.self) { resolver in memory.put(try make(resolver, repeat each argument)) }
        })
    }
  }

  /// Returns an initializer of factories that keep one value for equal arguments, for as long as the scope says.
  ///
  /// ```swift
  /// registry.register(.factory(scope: .singleton) { (_, name: String) in Room(name: name) })
  /// ```
  ///
  /// The arguments of a dropped value are released with the value or by a later call. Arguments that aren't equal to
  /// themselves, such as `Double.nan`, get a new value each time.
  ///
  /// - Parameters:
  ///   - scope: How long a value is kept, and who shares it.
  ///   - make: Creates a value for arguments without one, on the calling thread, with no lock held.
  public static func factory<Made: Sendable, each Argument: Hashable & Sendable>(
    scope: Scope<Made>, _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Made
  ) -> Initializer where Value == ArgumentFactory<Made, repeat each Argument> {
    factory(of: Made.self, scope: scope) { memory, source in
      memory.put(
        ArgumentFactory<Made, repeat each Argument>(source) {
          (source, memory, argument: repeat each Argument) throws(InjectionError) in
          var (arguments, areEqualToThemselves) = ([AnyHashable](), true)
          for argument in repeat each argument {
            arguments.append(AnyHashable(argument))
            if argument != argument { areEqualToThemselves = false }
          }
          let kept = areEqualToThemselves ? AnyHashable(arguments) : nil
          try source.putKept(in: memory, Made.self, for: kept) { resolver in
            memory.put(try make(resolver, repeat each argument))
          }
        })
    }
  }

  /// Returns an initializer from a closure that puts a factory in memory.
  ///
  /// - Parameter scope: How long the factory keeps a value for equal arguments; nil if it keeps none.
  @usableFromInline static func factory<Made>(
    of type: Made.Type, scope: Scope<Made>?, _ put: @escaping @Sendable (ValueMemory, FactorySource) -> Void
  ) -> Initializer {
    Initializer(ErasedInitializer(.factory(put, ErasedInitializer.FactoryScope(scope ?? .unique))))
  }
}

extension Initializer where Value: Sendable {
  /// Returns an initializer of factories that make values on the main actor; a call elsewhere throws an error of code
  /// `.wrongIsolation`.
  ///
  /// ```swift
  /// static let cart = InjectionKey(.factoryOnMainActor { (_, item: String, count: Int) in Cart(item, count) })
  /// ```
  ///
  /// The resolver's point has no container.
  public static func factoryOnMainActor<Made: Sendable, each Argument: Sendable>(
    _ make: @escaping @MainActor (Resolver, repeat each Argument) throws -> Made
  ) -> Initializer where Value == ArgumentFactory<Made, repeat each Argument> {
    .factory { (resolver, argument: repeat each Argument) in
      let call = "try registry.resolve(\(TypeName.source(of: Made.self)), arguments: …)"
      try requireMainActor(
        orElse: """
          Make the value on the main actor: try await MainActor.run { \(call) }, or, with a factory that you have, \
          { try factory(…) }.
          """)
      return try callOnMainActor(resolver) { try make($0, repeat each argument) }
    }
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
