internal import Support

/// A group of cached values that can be dropped together, such as all values that belong to a session.
///
/// ```swift
/// let session = ScopeCache("session")
/// registry.register(Basket.self, scope: .cached(in: session)) { Basket() }
/// session.reset()  // at log-out: the next basket is a new one
/// ```
///
/// Any number of registrations in any registries can share a cache. It is safe to use from any thread.
public final class ScopeCache: Sendable {
  /// The cache's name, shown in error messages, descriptions of registries, and diagrams of the dependency graph.
  let name: String

  /// The registrations whose scope is `.cached(in:)` with this cache, each with its registry, as weak references.
  private let records = Lock<[ObjectIdentifier: (record: WeakReference, registry: WeakReference)]>([:])

  /// Creates an empty cache with a name.
  ///
  /// The name is shown in error messages, descriptions of registries, and diagrams of the dependency graph.
  public init(_ name: String) { self.name = name }

  /// Drops every value in the cache, the newest first, and makes later requests get new values.
  ///
  /// A value that is being made during the reset isn't kept. Only callers that have already requested the value get it.
  public func reset() {
    let entries = records.withLock { $0.values.map { ($0.record.object, $0.registry.object) } }
    var values: [DroppedValue] = []
    for case (let record as RegistrationRecord, let registry as InitializerRegistry) in entries {
      for var value in registry.takeKeptValues(of: [record]) {
        value.registry = registry
        values.append(value)
      }
    }
    values.sortByCreation()
    while let value = values.popLast() { value.registry?.drop(value) }
  }

  func add(_ record: RegistrationRecord, in registry: InitializerRegistry) {
    let entry = (WeakReference(record), WeakReference(registry))
    records.withLock { $0[ObjectIdentifier(record)] = entry }
  }

  func remove(_ id: ObjectIdentifier) { records.withLock { $0[id] = nil } }
}
