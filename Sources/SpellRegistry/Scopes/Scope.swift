/// How long a registry keeps what an initializer made, and who shares it.
///
/// | scope | one value for |
/// |---|---|
/// | ``unique`` | each property, each call of `resolve` |
/// | ``graph`` | one resolution: everything that is made on the way to the value asked for |
/// | ``singleton`` | the registration |
/// | ``weak`` | the registration, for as long as anybody else holds it |
/// | ``cached(in:)`` | the registration, until the cache is reset |
///
/// The last three hand one value to any thread, so they exist for `Sendable` values only, and making one of another
/// type with them does not compile.
public struct Scope<Value>: Sendable {
  let lifetime: ScopeLifetime
  let expiry: Duration?

  init(_ lifetime: ScopeLifetime, expiry: Duration? = nil) {
    self.lifetime = lifetime
    self.expiry = expiry
  }

  /// A new value each time.
  public static var unique: Scope { Scope(.unique) }

  /// One value for each resolution: two initializers that run for the same outermost `resolve`, or for the same first
  /// read of a property, get the same one.
  public static var graph: Scope { Scope(.graph) }
}

extension Scope where Value: Sendable {
  /// One value, made when it is first asked for and kept until the registration is withdrawn or replaced.
  ///
  /// Made exactly once, however many threads ask: those that come while it is being made wait for it.
  public static var singleton: Scope { Scope(.singleton) }

  /// One value for as long as somebody else holds it, made anew after that.
  ///
  /// - Precondition: `Value` is a class, or a protocol that only classes conform to.
  public static var weak: Scope { Scope(.weak) }

  /// One value until `cache` is reset.
  public static func cached(in cache: ScopeCache) -> Scope { Scope(.cached(cache)) }

  /// The same scope, with values that are made anew when they are older than `age`.
  ///
  /// Looked at when the value is asked for, on the clock of the registry that it is registered in: an expired value
  /// stays in memory until then. A ``unique`` or ``graph`` value is never kept long enough to expire.
  public func expiring(after age: Duration) -> Scope { Scope(lifetime, expiry: age) }
}

enum ScopeLifetime: Sendable {
  case unique
  case graph
  case singleton
  case weak
  case cached(ScopeCache)

  /// Whether the registration keeps one value for everybody.
  var isShared: Bool {
    switch self {
    case .unique, .graph: false
    case .singleton, .weak, .cached: true
    }
  }
}

extension AnyRegistrationEntry {
  /// The scope as a person would say it: `singleton`, `cached in session, expiring after 5.0 seconds`.
  var scopeName: String { lifetime.description + (expiry.map { ", expiring after \($0)" } ?? "") }
}

extension ScopeLifetime: CustomStringConvertible {
  var description: String {
    switch self {
    case .unique: "unique"
    case .graph: "graph"
    case .singleton: "singleton"
    case .weak: "weak"
    case .cached(let cache): "cached in \(cache.name)"
    }
  }
}
