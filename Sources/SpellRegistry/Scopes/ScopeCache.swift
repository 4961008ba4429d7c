internal import Locking

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

  private struct WeakRecord: Sendable {
    weak let record: RegistrationRecord?
  }
  private let records = Lock<[ObjectIdentifier: WeakRecord]>([:])

  /// An empty cache.
  public init(_ name: String) { self.name = name }

  /// Drops every value that was cached here; the next to ask get new ones.
  ///
  /// A value that is being made at this moment is not kept: it goes at most to those who asked before.
  public func reset() {
    for record in records.withLock({ $0.values.compactMap(\.record) }) { record.shared.reset() }
  }

  func add(_ record: RegistrationRecord) {
    records.withLock { $0[ObjectIdentifier(record)] = WeakRecord(record: record) }
  }

  func remove(_ id: ObjectIdentifier) {
    records.withLock { $0[id] = nil }
  }
}
