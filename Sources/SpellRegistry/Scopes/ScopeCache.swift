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

  private struct WeakValue: Sendable {
    weak let value: (any ResettableValue)?
  }
  private let values = Lock<[ObjectIdentifier: WeakValue]>([:])

  /// An empty cache.
  public init(_ name: String) { self.name = name }

  /// Drops every value that was cached here; the next to ask get new ones.
  ///
  /// A value that is being made at this moment is not kept: it goes at most to those who asked before.
  public func reset() {
    for value in values.withLock({ $0.values.compactMap(\.value) }) { value.reset() }
  }

  func add(_ value: any ResettableValue) {
    values.withLock { $0[ObjectIdentifier(value)] = WeakValue(value: value) }
  }

  func remove(_ id: ObjectIdentifier) {
    values.withLock { $0[id] = nil }
  }
}

/// A value that a cache can drop.
protocol ResettableValue: AnyObject, Sendable {
  func reset()
}
