internal import Support

/// The namespace of an app's declared keys, which extensions add as static constants; see ``InjectionKey``.
///
/// `@unchecked Sendable`: the compiler can't check a class that isn't final. This class and its one subclass have only
/// constants of `Sendable` types.
public class InjectionKeys: @unchecked Sendable {
  /// The place of the key's declaration.
  package let place: SourcePlace
  /// The initializer for every context that `others` has no initializer for.
  fileprivate let live: Making
  fileprivate let others: [InjectionContext: Making]
  private let lifetime: ScopeLifetime
  private let expiry: Duration?

  fileprivate init<Value>(
    _ scope: Scope<Value>, at place: SourcePlace, live: Making, others: [InjectionContext: Making]
  ) {
    (self.place, self.live, self.others) = (place, live, others)
    (lifetime, expiry) = (scope.lifetime, scope.expiry)
  }

  /// The type of the key's value, for code that knows the key's type only at run time.
  package class var valueType: any Any.Type { Never.self }

  /// Returns the default registration, which makes the key's value where nothing is registered for the key.
  func makeRecord(for service: Service, in context: InjectionContext, of registry: InitializerRegistry)
    -> RegistrationRecord
  {
    RegistrationRecord(
      RegistrationRecord.Key(service: service), others[context] ?? live, lifetime, expiry, in: registry,
      isDefault: true, at: place)
  }

  /// Returns whether the key has an initializer for exactly this context; it always has one for `.live`.
  package func hasInitializer(for context: InjectionContext) -> Bool { context == .live || others[context] != nil }
}

/// A service that is declared with a type, a scope, and the initializer to use if nothing is registered for the key.
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
/// The compiler reports a key that isn't declared, and a key works without any registration. A registration for the key
/// takes the place of the key's own initializer, wherever the key is used:
///
/// ```swift
/// registry.register(.time) { FixedTime(now: 9) }
/// ```
///
/// A key is a service of its own: registrations for its type or for another key of the type don't serve it. A kept
/// value of its own initializer belongs to the outermost registry with the same ``InitializerRegistry/context`` among
/// the one asked and its parents. The context also chooses the initializer. Separate test registries share no values.
///
/// Declare a key as a static constant, or as another constant that lives as long as the program, because a registry
/// tells keys apart by their identity. A function that creates keys needs the parameters `fileID`, `line` and `column`
/// of this type's initializers, and passes them on, because a second key at one place stops the program.
public final class InjectionKey<Value>: InjectionKeys, @unchecked Sendable {
  /// The scope of the key's value.
  let scope: Scope<Value>

  init(_ scope: Scope<Value>, at place: SourcePlace, live: Making, others: [InjectionContext: Making] = [:]) {
    scope.check(at: place)
    self.scope = scope
    super.init(scope, at: place, live: live, others: others)
  }

  /// Creates a key with a closure that creates its values.
  ///
  /// The parameters have the same meaning in all forms.
  ///
  /// - Parameters:
  ///   - scope: How long the value is kept, and who shares it.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes keys on the same line.
  ///   - initializer: Creates a value each time the scope needs one, on the requesting thread, with no lock held.
  public convenience init(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @Sendable () throws -> Value
  ) { self.init(scope, at: .declared(fileID, line, column), live: .independent(initializer)) }

  /// Creates a key with a closure that creates its values from other services.
  ///
  /// ```swift
  /// static let ticket = InjectionKey { try Ticket(time: $0.resolve(.time)) }
  /// ```
  public convenience init(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @Sendable (Resolver) throws -> Value
  ) { self.init(scope, at: .declared(fileID, line, column), live: .resolving(initializer)) }

  /// Creates a key with an initializer that creates its values; each of its parameters is resolved by type.
  public convenience init<each Dependency>(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    autowire initializer: @escaping @Sendable (repeat each Dependency) throws -> Value
  ) { self.init(scope, at: .declared(fileID, line, column), live: .autowiring(initializer)) }

  /// Creates a key for a factory, which makes values from arguments that are known only at run time.
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

  /// Returns a copy of the key with an initializer for one context; the copy is declared in place of this key.
  private func adding(_ making: Making, for context: InjectionContext) -> InjectionKey {
    InjectionKey(scope, at: place, live: live, others: others.merging([context: making]) { $1 })
  }

  /// Returns a copy of the key with an initializer for registries whose context is `.test`.
  ///
  /// ```swift
  /// static let backend = InjectionKey { Backend.live }.test { Backend.fake }
  /// ```
  ///
  /// - Returns: The key to declare in place of this one.
  public func test(_ initializer: @escaping @Sendable () throws -> Value) -> InjectionKey {
    adding(.independent(initializer), for: .test)
  }

  /// Returns a copy of the key with an initializer for `.test` registries, which makes the value from other services.
  public func test(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> InjectionKey {
    adding(.resolving(initializer), for: .test)
  }

  /// Returns a copy of the key with an initializer for registries whose context is `.preview`.
  ///
  /// - Returns: The key to declare in place of this one.
  public func preview(_ initializer: @escaping @Sendable () throws -> Value) -> InjectionKey {
    adding(.independent(initializer), for: .preview)
  }

  /// Returns a copy of the key with an initializer for `.preview` registries, which uses other services.
  public func preview(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> InjectionKey {
    adding(.resolving(initializer), for: .preview)
  }
}

extension InjectionKey where Value: Sendable {
  /// Creates a key with a closure that creates its values on the main actor.
  ///
  /// ```swift
  /// static let loader = InjectionKey.onMainActor(scope: .singleton) { Loader() }
  /// ```
  ///
  /// A request from elsewhere throws an error of code `.wrongIsolation`, unless a kept value already exists.
  /// `resolveAsync` makes the value on the main actor.
  public static func onMainActor(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @MainActor () throws -> Value
  ) -> InjectionKey {
    InjectionKey(scope, at: .declared(fileID, line, column), live: .onMainActor { _ in try initializer() })
  }

  /// Creates a key with a closure that creates its values on the main actor from other services.
  public static func onMainActor(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> InjectionKey { InjectionKey(scope, at: .declared(fileID, line, column), live: .onMainActor(initializer)) }

  /// Creates a key with a main-actor initializer that creates its values; each of its parameters is resolved by type.
  public static func onMainActor<each Dependency>(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    autowire initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> InjectionKey {
    InjectionKey(scope, at: .declared(fileID, line, column), live: .autowiringOnMainActor(initializer))
  }

  /// Creates a key for a main-actor factory; a call elsewhere throws an error of code `.wrongIsolation`.
  public static func onMainActor<Made: Sendable, First: Sendable, each Rest: Sendable>(
    arguments first: First.Type, _ rest: repeat (each Rest).Type, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column, _ initializer: @escaping @MainActor (Resolver, First, repeat each Rest) throws -> Made
  ) -> InjectionKey where Value == ArgumentFactory<Made, First, repeat each Rest> {
    InjectionKey(.unique, at: .declared(fileID, line, column), live: .factoryOnMainActor(initializer))
  }

  /// Creates a key with an async closure that creates its values.
  ///
  /// Until `resolveAsync` of the key has returned, `resolve` throws an error of code `.notReady`, and a property stops
  /// the program. After that, both have the value for as long as the scope keeps it.
  public static func async(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> InjectionKey { InjectionKey(scope, at: .declared(fileID, line, column), live: .async(initializer)) }

  /// Returns a copy of the key with a main-actor initializer for registries whose context is `.test`.
  public func testOnMainActor(_ initializer: @escaping @MainActor () throws -> Value) -> InjectionKey {
    adding(.onMainActor { _ in try initializer() }, for: .test)
  }

  /// Returns a copy of the key with a main-actor initializer for registries whose context is `.preview`.
  public func previewOnMainActor(_ initializer: @escaping @MainActor () throws -> Value) -> InjectionKey {
    adding(.onMainActor { _ in try initializer() }, for: .preview)
  }
}

extension SourcePlace {
  private static let declared = Lock<Set<SourcePlace>>([])

  /// Returns the place of a new key.
  ///
  /// Stops the program if another key was declared there. A computed property would make another key at each use, so a
  /// registration for one key wouldn't serve the next.
  fileprivate static func declared(_ fileID: StaticString, _ line: UInt, _ column: UInt) -> SourcePlace {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    if declared.withLock({ $0.insert(place).inserted }) { return place }
    trap(
      """
      A declared key is made a second time at \(place), so what is registered for the first isn't used for the second. \
      Declare it as a constant that is made once: static let name = InjectionKey { … }. A function that makes keys \
      takes the parameters fileID, line and column, with #fileID, #line and #column as defaults, and passes them on.
      """, at: place)
  }
}
