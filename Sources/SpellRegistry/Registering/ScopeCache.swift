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
  /// The purpose of the cache; shown in drawings of the graph.
  public let name: String

  /// Those whose values are kept here.
  private let records = Lock<[ObjectIdentifier: WeakReference]>([:])

  /// An empty cache.
  public init(_ name: String) { self.name = name }

  /// Drops every value that was cached here; the next to ask get new ones.
  ///
  /// A value that is being made at this moment isn't kept: only the callers that have asked already get it.
  public func reset() {
    for record in records.withLock({ $0.values.compactMap { $0.object as? RegistrationRecord } }) {
      record.kept?.reset()
      record.variants?.removeAll()
    }
  }

  func add(_ record: RegistrationRecord) { records.withLock { $0[ObjectIdentifier(record)] = WeakReference(record) } }

  func remove(_ id: ObjectIdentifier) { records.withLock { $0[id] = nil } }
}
