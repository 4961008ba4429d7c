internal import Support
internal import Synchronization

/// A table that makes the properties of each object in a `ServiceBox` ask the box's registry before any other registry.
package enum Adoptions {
  private static let adopters = Lock<[ObjectIdentifier: [WeakReference]]>([:])
  private static let wereUsed = Atomic(false)

  /// Whether an object has ever been added to a `ServiceBox`; if false, a lookup in the table finds no registry.
  static var areUsed: Bool { wereUsed.load(ordering: .relaxed) }

  /// Returns the registry of the `ServiceBox` that contains the object, or nil if no box contains it.
  ///
  /// If several boxes contain the object, the function returns the registry of the box to which it was added last.
  static func registry(of object: AnyObject) -> InitializerRegistry? {
    adopters.withLock { $0[ObjectIdentifier(object)]?.last?.object as? InitializerRegistry }
  }

  /// Makes the properties of `object` ask `registry`, the registry of a `ServiceBox`, before any other registry.
  ///
  /// The table identifies an object by its address. The caller must keep the object alive until it calls `end(_:by:)`.
  package static func begin(_ object: AnyObject, by registry: InitializerRegistry) {
    wereUsed.store(true, ordering: .relaxed)
    adopters.withLock { $0[ObjectIdentifier(object), default: []].append(WeakReference(registry)) }
  }

  package static func end(_ object: AnyObject, by registry: InitializerRegistry) {
    adopters.withLock { adopters in
      var rest = adopters[ObjectIdentifier(object), default: []]
      if let index = rest.lastIndex(where: { $0.object === registry }) { rest.remove(at: index) }
      adopters[ObjectIdentifier(object)] = rest.isEmpty ? nil : rest
    }
  }
}
