internal import Support
internal import Synchronization

/// The namespace of an app's declared keys, which extensions add as static constants; see ``InjectionKey``.
///
/// `@unchecked Sendable`: the compiler can't check a class that isn't final. All stored properties of this class and of
/// its one subclass are constants of `Sendable` types.
public class InjectionKeys: @unchecked Sendable {
  /// The place in the source code at which the key is declared.
  package let place: SourcePlace
  /// The initializer for all contexts that aren't in `others`.
  fileprivate let live: ErasedInitializer
  /// The initializers for other contexts; a later one replaces an earlier one for the same context.
  fileprivate let others: [(context: InjectionContext, initializer: ErasedInitializer)]
  fileprivate let lifetime: ScopeLifetime
  fileprivate let expiry: Duration?
  /// Whether a warning was written because a test ran the live initializer.
  ///
  /// Relaxed ordering suffices, because no other memory depends on the flag.
  private let isKnownToRunLive = Atomic(false)

  fileprivate init<Value>(
    _ scope: Scope<Value>, at place: SourcePlace, live: ErasedInitializer,
    others: [(context: InjectionContext, initializer: ErasedInitializer)]
  ) {
    (self.place, self.live, self.others) = (place, live, others)
    (lifetime, expiry) = (scope.lifetime, scope.expiry)
  }

  /// The type of the key's value, for code that knows the key's type only at run time.
  package class var valueType: any Any.Type { Never.self }

  /// Returns a new default registration, which makes the key's value if no other registration matches a request.
  func makeRecord(in context: InjectionContext, of registry: InitializerRegistry) -> RegistrationRecord {
    RegistrationRecord(
      for: Service(type(of: self).valueType, key: self), initializer(for: context) ?? live, lifetime, expiry,
      in: registry, isDefault: true, at: place)
  }

  /// Returns whether the key has its own initializer for a context, which is always true for `.live`.
  package func hasInitializer(for context: InjectionContext) -> Bool { initializer(for: context) != nil }

  private func initializer(for context: InjectionContext) -> ErasedInitializer? {
    context == .live ? live : others.last { $0.context == context }?.initializer
  }

  /// Records that a test runs the key's live initializer, and returns true only for the first call on this key.
  func isFirstLiveUseInTests() -> Bool { !isKnownToRunLive.exchange(true, ordering: .relaxed) }
}

/// A key for a service, declared with a type, a scope, and an initializer to use if nothing is registered for the key.
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
/// The compiler reports a key that isn't declared, and a declared key works without any registration. A registration
/// for the key replaces the key's own initializer, wherever the key is used:
///
/// ```swift
/// registry.register(.time) { FixedTime(now: 9) }
/// ```
///
/// Registrations for the key's type, or for another key of that type, have no effect on the key. The registry's
/// ``InitializerRegistry/context`` selects one of the key's own initializers. The requested registry keeps this
/// initializer's values if the registry has no parent, or if its parent has another context. Otherwise, the same rule
/// applies to the parent. Test registries without a common parent therefore share no values.
///
/// Declare a key as a static constant, or as another constant that lives as long as the program, because a registry
/// tells keys apart by their identity. Creating a second key at one place in the source code stops the program. A
/// function that creates keys therefore takes the parameters `fileID`, `line` and `column`, and passes them to the
/// key's initializer.
public final class InjectionKey<Value>: InjectionKeys, @unchecked Sendable {
  /// The scope of the key's values, unless a registration for the key has another scope.
  var scope: Scope<Value> { Scope(lifetime: lifetime, expiry: expiry) }

  init(
    _ scope: Scope<Value>, at place: SourcePlace, live: ErasedInitializer,
    others: [(context: InjectionContext, initializer: ErasedInitializer)] = []
  ) {
    scope.lifetime.check(for: Value.self, at: place)
    super.init(scope, at: place, live: live, others: others)
  }

  /// Creates a key with a closure that creates the key's values.
  ///
  /// The parameters have the same meaning in all initializers of this type.
  ///
  /// - Parameters:
  ///   - scope: How long a value is kept, and which requests share it.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes keys on the same line.
  ///   - make: Creates a value each time the scope needs one, on the requesting thread, with no lock held.
  public convenience init(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ make: @escaping @Sendable () throws -> Value
  ) { self.init(scope, at: .declared(fileID, line, column), live: .independent(make)) }

  /// Creates a key with a closure that creates the key's values from other services.
  ///
  /// ```swift
  /// static let ticket = InjectionKey { try Ticket(time: $0.resolve(.time)) }
  /// ```
  public convenience init(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ make: @escaping @Sendable (Resolver) throws -> Value
  ) { self.init(scope, at: .declared(fileID, line, column), live: .resolving(make)) }

  /// Creates a key with an ``Initializer``, for values that don't come from a plain closure.
  ///
  /// ```swift
  /// static let loader = InjectionKey(scope: .singleton, .onMainActor { Loader() })
  /// static let seat = InjectionKey(.factory { (_, number: Int) in Seat(number) })
  ///
  /// @Injected(.seat) var makeSeat  // try makeSeat(7)
  /// ```
  ///
  /// - Precondition: `initializer` must not be limited to objects of one class, as with `.in`. An `.instance(_:as:)`
  ///   must not have `as: .anySupertype`. If `initializer` makes factories, `scope` must be `.unique`, because
  ///   `.factory(scope:)` specifies the scope of the factory's values.
  public convenience init(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ initializer: Initializer<Value>
  ) {
    let place = SourcePlace.declared(fileID, line, column)
    self.init(scope, at: place, live: initializer.erased)
    check(initializer.erased, scope: scope.lifetime)
  }

  /// Stops the program if a key can't be declared with this initializer.
  private func check(_ initializer: ErasedInitializer, scope: ScopeLifetime? = nil) {
    if let container = initializer.container {
      trap(
        """
        A key of type \(TypeName.of(Value.self)) is declared with an initializer for the class \
        \(TypeName.of(container.type)) only, but a key's own initializer makes all of its values. Leave out `.in(…)` \
        here, and register the other one: registry.register(.key, .in(\(TypeName.source(of: container.type))) { … }).
        """, at: place)
    }
    initializer.check(for: Value.self, key: self, scope: scope, at: place)
  }

  override package class var valueType: any Any.Type { Value.self }

  /// Returns a copy of this key with an initializer for one context.
  ///
  /// The program declares the copy in place of this key.
  private func adding(_ initializer: ErasedInitializer, for context: InjectionContext) -> InjectionKey {
    check(initializer)
    return InjectionKey(scope, at: place, live: live, others: others + [(context, initializer)])
  }

  /// Returns a copy of the key with an initializer for registries whose context is `.test`.
  ///
  /// ```swift
  /// static let backend = InjectionKey { Backend.live }.test { Backend.fake }
  /// ```
  ///
  /// - Returns: The key to declare in place of this one.
  public func test(_ make: @escaping @Sendable () throws -> Value) -> InjectionKey {
    adding(.independent(make), for: .test)
  }

  /// Returns a copy of the key whose initializer for `.test` registries makes the value from other services.
  public func test(_ make: @escaping @Sendable (Resolver) throws -> Value) -> InjectionKey {
    adding(.resolving(make), for: .test)
  }

  /// Returns a copy of the key with an ``Initializer`` for registries whose context is `.test`.
  ///
  /// ```swift
  /// static let loader = InjectionKey(.onMainActor { Loader() }).test(.onMainActor { Loader(title: "fake") })
  /// ```
  ///
  /// - Precondition: `initializer` must not be limited to objects of one class, as with `.in`. An `.instance(_:as:)`
  ///   must not have `as: .anySupertype`.
  public func test(_ initializer: Initializer<Value>) -> InjectionKey {
    adding(initializer.erased, for: .test)
  }

  /// Returns a copy of the key whose live initializer also runs in tests.
  ///
  /// ```swift
  /// static let formatter = InjectionKey { AmountFormatter() }.liveInTests()
  /// ```
  ///
  /// Use it for a value that affects nothing outside of the program. Without `liveInTests()`, a test also runs the live
  /// initializer of a key that has no `test` initializer, but a warning on standard error then names the key. With the
  /// trait `.registry(.strict)`, the test gets an issue instead of the warning. A key whose initializer is autowired or
  /// takes a resolver causes no warning, because most such initializers only wire other keys; the keys that it asks for
  /// do. If it also does something itself, declare its `test` initializer all the same.
  ///
  /// - Returns: The key to declare in place of this one.
  public func liveInTests() -> InjectionKey { adding(live, for: .test) }

  /// Returns a copy of the key with an initializer for registries whose context is `.preview`.
  ///
  /// - Returns: The key to declare in place of this one.
  public func preview(_ make: @escaping @Sendable () throws -> Value) -> InjectionKey {
    adding(.independent(make), for: .preview)
  }

  /// Returns a copy of the key whose initializer for `.preview` registries makes the value from other services.
  public func preview(_ make: @escaping @Sendable (Resolver) throws -> Value) -> InjectionKey {
    adding(.resolving(make), for: .preview)
  }

  /// Returns a copy of the key with an ``Initializer`` for registries whose context is `.preview`.
  ///
  /// - Precondition: `initializer` must not be limited to objects of one class, as with `.in`. An `.instance(_:as:)`
  ///   must not have `as: .anySupertype`.
  public func preview(_ initializer: Initializer<Value>) -> InjectionKey {
    adding(initializer.erased, for: .preview)
  }
}
