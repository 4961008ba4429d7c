internal import Support

/// A set of cached values that can be dropped at once, such as everything that belongs to a session.
///
/// ```swift
/// let session = ScopeCache("session")
/// registry.register(Basket.self, scope: .cached(in: session)) { Basket() }
/// session.reset()  // at log-out: the next basket is a new one
/// ```
///
/// Any number of registrations, of any registries, can share one. Safe to use from any thread.
public final class ScopeCache: Sendable {
  /// What the cache is for; shown in drawings of the graph.
  public let name: String

  /// Those whose values are kept here.
  private let registrations = Lock<[ObjectIdentifier: WeakReference]>([:])

  /// An empty cache.
  public init(_ name: String) { self.name = name }

  /// Drops every value that was cached here; the next to ask get new ones.
  ///
  /// A value that is being made at this moment isn't kept: it goes only to the callers that asked before.
  public func reset() {
    for registration in registrations.withLock({ $0.values.compactMap { $0.object as? RegistrationStorage } }) {
      registration.kept.reset()
    }
  }

  func add(_ registration: RegistrationStorage) {
    registrations.withLock { $0[ObjectIdentifier(registration)] = WeakReference(registration) }
  }

  func remove(_ id: ObjectIdentifier) {
    registrations.withLock { $0[id] = nil }
  }
}
