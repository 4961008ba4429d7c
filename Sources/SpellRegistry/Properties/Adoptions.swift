internal import Support
internal import Synchronization

/// The objects that are services of a box, whose properties ask the box first.
package enum Adoptions {
  private static let adopters = Lock<[ObjectIdentifier: [WeakReference]]>([:])
  private static let isUsed = Atomic(false)

  /// The registry of the box that has an object as a service.
  static func registry(of object: AnyObject) -> InitializerRegistry? {
    guard isUsed.load(ordering: .relaxed) else { return nil }
    return adopters.withLock { $0[ObjectIdentifier(object)]?.last?.object as? InitializerRegistry }
  }

  /// Lets an object's properties ask a registry first.
  ///
  /// - Precondition: The caller holds the object until it ends the adoption.
  package static func begin(_ object: AnyObject, by registry: InitializerRegistry) {
    isUsed.store(true, ordering: .relaxed)
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
