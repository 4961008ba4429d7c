internal import Support
internal import Synchronization

/// A table of the objects that are services of a box, and whose properties therefore ask the box's registry first.
package enum Adoptions {
  private static let adopters = Lock<[ObjectIdentifier: [WeakReference]]>([:])
  private static let wereUsed = Atomic(false)

  /// Whether any object has ever been a service of a box; if none has, no lookup is needed.
  static var areUsed: Bool { wereUsed.load(ordering: .relaxed) }

  /// Returns the registry of the box that last added the object as a service, or nil if no box has it.
  static func registry(of object: AnyObject) -> InitializerRegistry? {
    adopters.withLock { $0[ObjectIdentifier(object)]?.last?.object as? InitializerRegistry }
  }

  /// Makes the properties of an object ask a box's registry before their own.
  ///
  /// - Precondition: The caller keeps the object alive until it ends the adoption.
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
