/// The lifetime of the values that an initializer makes, and the requests that share them.
///
/// | scope | one value for |
/// |---|---|
/// | ``unique`` | each property, each call of `resolve` |
/// | ``graph`` | one resolution: everything that is made on the way to the requested value |
/// | ``singleton`` | the registration |
/// | ``weak`` | the registration, for as long as something other than the registry holds the value |
/// | ``cached(in:)`` | the registration, until the cache is reset |
///
/// Every scope in the table except ``unique`` may give one value to several threads. These scopes therefore exist only
/// for `Sendable` types. If the type isn't `Sendable`, a registration with one of these scopes doesn't compile. The
/// scope ``unsafeGraph`` exists for any type.
public struct Scope<Value>: Sendable {
  let lifetime: ScopeLifetime
  var expiry: Duration?

  /// A new value for each request.
  public static var unique: Scope { Scope(lifetime: .unique) }

  /// The scope ``graph`` for values that aren't `Sendable`.
  ///
  /// You must make sure that no two threads use a value of the resolution at the same time. Every initializer of the
  /// resolution, and every object that keeps the value, has to stay in one isolation domain.
  @unsafe public static var unsafeGraph: Scope { Scope(lifetime: .graph) }
}

extension Scope where Value: Sendable {
  /// One value for each resolution.
  ///
  /// All initializers that run for an outermost call of `resolve`, or for the first read of a property, share this
  /// value. If a resolution asks several registries for the value, such as a child and its parent, each registry makes
  /// its own value.
  public static var graph: Scope { Scope(lifetime: .graph) }

  /// One value, made at the first request and kept until the registration is withdrawn or replaced.
  ///
  /// The initializer runs once, however many threads request the value. A thread that requests the value while the
  /// initializer runs waits for the result. But if the initializer throws or returns nil, the registry keeps nothing,
  /// and a later request runs the initializer again.
  public static var singleton: Scope { Scope(lifetime: .singleton) }

  /// One value for as long as something other than the registry holds it.
  ///
  /// Once the value is gone, the next request makes another one.
  ///
  /// - Precondition: `Value` must be a class, a protocol that only classes conform to, or an Optional of a class or of
  ///   this kind of protocol. A composition of more than two protocols, one of them with generic arguments, isn't
  ///   possible. The check happens at registration.
  public static var weak: Scope { Scope(lifetime: .weak) }

  /// Returns a scope of one value for each registration, kept until `cache` is reset.
  public static func cached(in cache: ScopeCache) -> Scope { Scope(lifetime: .cached(cache)) }

  /// Returns a copy of the scope whose values expire, and are replaced, once they have reached `age`.
  ///
  /// Each request checks the age with the clock of the registry that has the registration. An expired value may stay in
  /// memory until the next request. Values of scope ``unique`` or ``graph`` never expire.
  public func expiring(after age: Duration) -> Scope { Scope(lifetime: lifetime, expiry: age) }
}

extension Scope {
  /// Unavailable, because this scope has another name in this package.
  @available(*, unavailable, renamed: "singleton") public static var container: Scope { fatalError() }
  /// Unavailable, because this scope has another name in this package.
  @available(*, unavailable, renamed: "unique") public static var transient: Scope { fatalError() }
  /// Unavailable, because libraries mean different scopes by this name.
  @available(*, unavailable, message: "Write .singleton or, for as long as something holds the value, .weak.")
  public static var shared: Scope { fatalError() }
}

package enum ScopeLifetime: Sendable {
  case unique
  case graph
  case singleton
  case weak
  case cached(ScopeCache)

  var isUnique: Bool { if case .unique = self { true } else { false } }
  var isWeak: Bool { if case .weak = self { true } else { false } }
  var isGraph: Bool { if case .graph = self { true } else { false } }

  /// Whether a registration of this scope keeps one value for all requests.
  package var isShared: Bool { !isUnique && !isGraph }
}

extension ScopeLifetime {
  /// Stops the program if the scope is `.weak`, unless values of `type` are known to be objects.
  ///
  /// For an Optional type, the check applies to the wrapped type.
  func check(for type: any Any.Type, at place: SourcePlace) {
    guard isWeak else { return }
    if TypeName.isHeldByReference((type as? any OptionalValue.Type)?.wrappedType ?? type) { return }
    trap(
      """
      \(TypeName.of(type)) is registered with scope .weak, which is for classes, protocols that only classes \
      conform to, and Optionals of them. Choose .singleton or .cached(in:), or register a class.
      """, at: place)
  }
}

extension ScopeLifetime: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unique: "unique"
    case .graph: "graph"
    case .singleton: "singleton"
    case .weak: "weak"
    case .cached(let cache): "cached in \(cache.name)"
    }
  }
}
