internal import Support

/// The home of an app's declared keys, which extensions add as static constants; see ``InjectionKey``.
///
/// `@unchecked Sendable`: a class that isn't final can't be checked. It and its one subclass have constants of `Sendable`
/// types.
public class InjectionKeys: @unchecked Sendable {
  /// The place of the key's declaration.
  package let place: SourcePlace
  /// The initializer for every context, and those for one context each.
  fileprivate let live: Making
  fileprivate let others: [InjectionContext: Making]
  private let lifetime: ScopeLifetime
  private let expiry: Duration?

  fileprivate init<Value>(
    _ scope: Scope<Value>, at place: SourcePlace, live: Making, others: [InjectionContext: Making]
  ) {
    self.place = place
    self.live = live
    self.others = others
    (lifetime, expiry) = (scope.lifetime, scope.expiry)
  }

  /// The type of the key's value, when only the runtime knows the key.
  package class var valueType: any Any.Type { Never.self }

  /// The registration that makes the key's value in a registry where nothing is registered for it.
  func makeRecord(for service: Service, in context: InjectionContext, of registry: InitializerRegistry)
    -> RegistrationRecord
  {
    RegistrationRecord(
      RegistrationRecord.Key(service: service), others[context] ?? live, lifetime, expiry, in: registry,
      isDefault: true, at: place)
  }

  /// Whether the key says what its value is in a context.
  package func hasInitializer(for context: InjectionContext) -> Bool { context == .live || others[context] != nil }
}

/// A service that is declared with its type, its scope, and the initializer that makes it if nothing is registered.
///
/// ```swift
/// extension InjectionKeys {
///   static let time = InjectionKey<any TimeSource> { SystemTime() }
///     .test { FixedTime(now: 0) }
/// }
///
/// final class Player {
///   @Injected(.time) var time  // any TimeSource
/// }
/// ```
///
/// The compiler finds a key that isn't declared, and no function has to register anything first. What is registered for
/// the key takes the initializer's place, wherever it is asked for:
///
/// ```swift
/// registry.register(.time) { FixedTime(now: 9) }
/// ```
///
/// A key is a service of its own: a registration for its type doesn't serve it, and two keys of one type are two
/// services. The value of a scope that keeps it belongs to the outermost registry that is asked, so each test has its
/// own. A registry's ``InitializerRegistry/context`` chooses among the initializers.
///
/// Declare a key as a static constant, or as any constant that lives as long as the program: a registry knows a key by its
/// identity.
public final class InjectionKey<Value>: InjectionKeys, @unchecked Sendable {
  /// The scope of the key's value.
  public let scope: Scope<Value>

  init(_ scope: Scope<Value>, at place: SourcePlace, live: Making, others: [InjectionContext: Making] = [:]) {
    scope.check(at: place)
    self.scope = scope
    super.init(scope, at: place, live: live, others: others)
  }

  /// Creates a key whose value a closure makes.
  ///
  /// The parameters are the same in all forms.
  ///
  /// - Parameters:
  ///   - scope: How long the value is kept, and who shares it.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells keys of a line apart.
  ///   - initializer: Creates the value, each time the scope needs one, on the thread that asks, with no lock held.
  public convenience init(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @Sendable () throws -> Value
  ) { self.init(scope, at: .declared(fileID, line, column), live: .independent(initializer)) }

  /// Creates a key whose value a closure makes with the help of other services.
  ///
  /// ```swift
  /// static let ticket = InjectionKey { try Ticket(time: $0.resolve(.time)) }
  /// ```
  public convenience init(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @Sendable (Resolver) throws -> Value
  ) { self.init(scope, at: .declared(fileID, line, column), live: .resolving(initializer)) }

  /// Creates a key whose value an initializer makes from services that are found by its parameters' types.
  public convenience init<each Dependency>(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    autowire initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) { self.init(scope, at: .declared(fileID, line, column), live: .autowiring(initializer)) }

  /// Creates a key of a factory, for values that are made from what is known only at run time.
  ///
  /// ```swift
  /// static let ticket = InjectionKey(arguments: Int.self) { resolver, number in
  ///   Ticket(number: number, time: try resolver.resolve(.time).now)
  /// }
  /// @Injected(.ticket) var ticket  // try ticket(7)
  /// registry.register(.ticket) { ArgumentFactory { Ticket(number: $0) } }
  /// ```
  public convenience init<Made, First, each Rest>(
    arguments first: First.Type, _ rest: repeat (each Rest).Type, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column, _ initializer: @escaping @Sendable (Resolver, First, repeat each Rest) throws -> Made
  ) where Value == ArgumentFactory<Made, First, repeat each Rest> {
    self.init(.unique, at: .declared(fileID, line, column), live: .factory(initializer))
  }

  override package class var valueType: any Any.Type { Value.self }

  /// The same declaration with an initializer for one context: another key, which takes this one's place.
  private func adding(_ making: Making, for context: InjectionContext) -> InjectionKey {
    InjectionKey(scope, at: place, live: live, others: others.merging([context: making]) { $1 })
  }

  /// Adds the initializer to use in a registry whose context is `.test`.
  ///
  /// ```swift
  /// static let backend = InjectionKey { Backend.live }.test { Backend.fake }
  /// ```
  ///
  /// - Returns: The key to declare, in place of this one.
  public func test(_ initializer: @escaping @Sendable () throws -> Value) -> InjectionKey {
    adding(.independent(initializer), for: .test)
  }

  /// Adds the initializer to use in a registry whose context is `.test`, which gets the help of other services.
  public func test(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> InjectionKey {
    adding(.resolving(initializer), for: .test)
  }

  /// Adds the initializer to use in a registry whose context is `.preview`.
  ///
  /// - Returns: The key to declare, in place of this one.
  public func preview(_ initializer: @escaping @Sendable () throws -> Value) -> InjectionKey {
    adding(.independent(initializer), for: .preview)
  }

  /// Adds the initializer to use in a registry whose context is `.preview`, which gets the help of other services.
  public func preview(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> InjectionKey {
    adding(.resolving(initializer), for: .preview)
  }
}

extension InjectionKey where Value: Sendable {
  /// Creates a key whose value a closure makes on the main actor.
  ///
  /// ```swift
  /// static let loader = InjectionKey.onMainActor(scope: .singleton) { Loader() }
  /// ```
  ///
  /// A request from elsewhere throws an error of code `.wrongIsolation`, unless the value is kept and there already;
  /// `resolveAsync` makes it on the main actor.
  public static func onMainActor(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @MainActor () throws -> Value
  ) -> InjectionKey {
    InjectionKey(scope, at: .declared(fileID, line, column), live: .onMainActor { _ in try initializer() })
  }

  /// Creates a key whose value a closure makes on the main actor with the help of other services.
  public static func onMainActor(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> InjectionKey { InjectionKey(scope, at: .declared(fileID, line, column), live: .onMainActor(initializer)) }

  /// Creates a key whose value an initializer makes on the main actor from services that are found by its parameters'
  /// types.
  public static func onMainActor<each Dependency>(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    autowire initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> InjectionKey {
    InjectionKey(scope, at: .declared(fileID, line, column), live: .autowiringOnMainActor(initializer))
  }

  /// Creates a key of a factory of the main actor, which throws an error of code `.wrongIsolation` elsewhere.
  public static func onMainActor<Made: Sendable, First: Sendable, each Rest: Sendable>(
    arguments first: First.Type, _ rest: repeat (each Rest).Type, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column, _ initializer: @escaping @MainActor (Resolver, First, repeat each Rest) throws -> Made
  ) -> InjectionKey where Value == ArgumentFactory<Made, First, repeat each Rest> {
    InjectionKey(.unique, at: .declared(fileID, line, column), live: .factoryOnMainActor(initializer))
  }

  /// Creates a key whose value an async closure makes.
  ///
  /// A read throws an error of code `.notReady` until `resolveAsync` of the key has returned, and gets the value after
  /// that, for as long as the scope keeps it.
  public static func async(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> InjectionKey { InjectionKey(scope, at: .declared(fileID, line, column), live: .async(initializer)) }

  /// Adds the main-actor initializer to use in a registry whose context is `.test`.
  public func testOnMainActor(_ initializer: @escaping @MainActor () throws -> Value) -> InjectionKey {
    adding(.onMainActor { _ in try initializer() }, for: .test)
  }

  /// Adds the main-actor initializer to use in a registry whose context is `.preview`.
  public func previewOnMainActor(_ initializer: @escaping @MainActor () throws -> Value) -> InjectionKey {
    adding(.onMainActor { _ in try initializer() }, for: .preview)
  }
}

extension SourcePlace {
  private static let declared = Lock<Set<SourcePlace>>([])

  /// The place of a key.
  ///
  /// Stops the program if another key was made there: a computed property makes another key at each use, so what is registered
  /// for one wouldn't be used by another.
  fileprivate static func declared(_ fileID: StaticString, _ line: UInt, _ column: UInt) -> SourcePlace {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    if declared.withLock({ $0.insert(place).inserted }) { return place }
    trap(
      """
      A declared key is made a second time at \(place), so what is registered for the first isn't used for the second. \
      Declare it as a constant that is made once: static let name = InjectionKey { … }.
      """, at: place)
  }
}
