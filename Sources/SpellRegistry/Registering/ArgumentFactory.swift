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
/// A call of a factory runs on the calling thread. The new value gets its dependencies from the registry that provided
/// the factory. A factory that keeps its values for longer than a resolution is an exception: its values get their
/// dependencies from the registry that has the registration. An object that has a factory keeps that factory even if
/// another factory is registered later. After each call, the hooks of the factory's registration, and of the registry
/// that provided the factory, get the value. The registration's completion hooks get each new value.
public struct ArgumentFactory<Value, each Argument>: Sendable {
  @usableFromInline let source: FactorySource
  /// The closure that puts a value in memory: a new value, or the value that the factory keeps for equal arguments.
  @usableFromInline let call:
    @Sendable (FactorySource, ValueMemory, repeat each Argument) throws(InjectionError) -> Void

  @inlinable init(
    _ source: consuming FactorySource,
    _ call: @escaping @Sendable (FactorySource, ValueMemory, repeat each Argument) throws(InjectionError) -> Void
  ) {
    (self.source, self.call) = (source, call)
  }

  /// Returns a value made from the arguments, or the value that the factory keeps for them.
  ///
  /// - Throws: `.initializerFailed` if the factory's closure throws. `.wrongIsolation` if the closure belongs to the
  ///   main actor, and the call is made outside of the main actor. `.cycle` if a call needs its own result. `.cycle`
  ///   also if calls cause each other without end, or if completion hooks do. `.stackExhausted` if too little of the
  ///   thread's stack is left. `.notRegistered` if the registry that provided the factory no longer exists. Otherwise,
  ///   the error of a dependency.
  @inlinable public func callAsFunction(_ argument: repeat each Argument) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in try call(source, memory, repeat each argument) }
  }
}

extension Initializer {
  /// Returns an initializer for factories that make a new value from the arguments of each call.
  ///
  /// ```swift
  /// registry.register(.factory { (resolver, number: Int) in Ticket(number: number) })
  /// let ticket = try registry.resolve(Ticket.self, arguments: 7)
  /// ```
  @inlinable public static func factory<Made, each Argument>(
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Made
  ) -> Initializer where Value == ArgumentFactory<Made, repeat each Argument> {
    factory(of: Scope<Made>.unique) { memory, source in
      memory.put(
        ArgumentFactory<Made, repeat each Argument>(source) {
          (source, memory, argument: repeat each Argument) throws(InjectionError) in
          try source.putValue(in: memory, Made.self) { resolver in
            memory.put(try make(resolver, repeat each argument))
          }
        })
    }
  }

  /// Returns an initializer for factories that keep one value for equal arguments, for as long as the scope specifies.
  ///
  /// ```swift
  /// registry.register(.factory(scope: .singleton) { (_, name: String) in Room(name: name) })
  /// ```
  ///
  /// The arguments of a dropped value are released with the value or by a later call. Arguments that aren't equal to
  /// themselves, such as `Double.nan`, get a new value each time.
  ///
  /// - Parameters:
  ///   - scope: How long a value is kept, and which requests share it.
  ///   - make: Creates a value for arguments that have no kept value, on the calling thread, with no lock held.
  public static func factory<Made: Sendable, each Argument: Hashable & Sendable>(
    scope: Scope<Made>, _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Made
  ) -> Initializer where Value == ArgumentFactory<Made, repeat each Argument> {
    factory(of: scope) { memory, source in
      memory.put(
        ArgumentFactory<Made, repeat each Argument>(source) {
          (source, memory, argument: repeat each Argument) throws(InjectionError) in
          var (arguments, areEqualToThemselves) = ([AnyHashable](), true)
          for argument in repeat each argument {
            arguments.append(AnyHashable(argument))
            if argument != argument { areEqualToThemselves = false }
          }
          try source.putValue(in: memory, Made.self, for: areEqualToThemselves ? arguments : nil) { resolver in
            memory.put(try make(resolver, repeat each argument))
          }
        })
    }
  }

  /// Returns an initializer from a closure that puts a factory in memory.
  ///
  /// - Parameter scope: How long the factory keeps a value for equal arguments.
  @usableFromInline static func factory<Made>(
    of scope: Scope<Made>, _ put: @escaping @Sendable (ValueMemory, consuming FactorySource) -> Void
  ) -> Initializer {
    Initializer(ErasedInitializer(.factory(put, scope.lifetime, expiry: scope.expiry)))
  }
}

extension Initializer where Value: Sendable {
  /// Returns an initializer for factories that make values on the main actor.
  ///
  /// ```swift
  /// static let cart = InjectionKey(.factoryOnMainActor { (_, item: String, count: Int) in Cart(item, count) })
  /// ```
  ///
  /// A call outside of the main actor throws an error of code `.wrongIsolation`. The closure's ``Resolver`` has a
  /// ``Resolver/point`` without a container. The arguments have to be `Sendable`, because code that belongs to no actor
  /// can call a factory, and could go on using an argument that the main actor keeps. For other arguments, declare a key
  /// whose value is a function: `InjectionKey<@MainActor (Draft) -> Editor> { { Editor(draft: $0) } }`.
  public static func factoryOnMainActor<Made: Sendable, each Argument: Sendable>(
    _ make: @escaping @MainActor (Resolver, repeat each Argument) throws -> Made
  ) -> Initializer where Value == ArgumentFactory<Made, repeat each Argument> {
    .factory { (resolver, argument: repeat each Argument) in
      try requireMainActor(toCallFactoryOf: Made.self)
      return try callOnMainActor(resolver) { try make($0, repeat each argument) }
    }
  }
}

private func requireMainActor(toCallFactoryOf type: any Any.Type) throws {
  let call = "try registry.resolve(\(TypeName.source(of: type)), arguments: …)"
  try requireMainActor(
    orElse: """
      Make the value on the main actor: try await MainActor.run { \(call) }, or, with a factory that you have, \
      { try factory(…) }.
      """)
}

/// A protocol to which only ``ArgumentFactory`` conforms, for code that doesn't know the factory's generic arguments.
package protocol FactoryType {
  static var madeType: any Any.Type { get }
  static var argumentTypes: [any Any.Type] { get }
}

extension ArgumentFactory: FactoryType {
  package static var madeType: any Any.Type { Value.self }
  package static var argumentTypes: [any Any.Type] { types(repeat (each Argument).self) }
}
