internal import Support
internal import Synchronization

/// A table that makes the properties of each object in a `ServiceBox` ask the box's registry before any other registry.
enum Adoptions {
  fileprivate struct Adopter {
    let adoption: ObjectIdentifier
    let registry: WeakReference
  }

  fileprivate static let adopters = Lock<[ObjectIdentifier: [Adopter]]>([:])
  fileprivate static let wereUsed = Atomic(false)

  /// Whether an object has ever been added to a `ServiceBox`; if false, a lookup in the table finds no registry.
  static var areUsed: Bool { wereUsed.load(ordering: .relaxed) }

  /// Returns the registry of the `ServiceBox` that contains the object, or nil if no box contains it.
  ///
  /// If several boxes contain the object, the function returns the registry of the box to which it was added last.
  static func registry(of object: AnyObject) -> InitializerRegistry? {
    adopters.withLock { $0[ObjectIdentifier(object)]?.last?.registry.object as? InitializerRegistry }
  }
}

/// The stay of a service in a `ServiceBox`, which lasts for as long as the service's registration.
///
/// Meanwhile, the properties of a service that is an object ask the box's registry before any other registry.
final class Adoption: Sendable {
  /// The service, which stays alive because the table identifies it by its address.
  let service: any Sendable
  /// The identity of the box.
  let box: ObjectIdentifier

  init(of service: any Sendable, in box: ObjectIdentifier, by registry: InitializerRegistry) {
    (self.service, self.box) = (service, box)
    guard let object else { return }
    let adopter = Adoptions.Adopter(adoption: ObjectIdentifier(self), registry: WeakReference(registry))
    Adoptions.wereUsed.store(true, ordering: .relaxed)
    Adoptions.adopters.withLock { $0[ObjectIdentifier(object), default: []].append(adopter) }
  }

  deinit {
    guard let object else { return }
    Adoptions.adopters.withLock { adopters in
      let rest = adopters[ObjectIdentifier(object), default: []].filter { $0.adoption != ObjectIdentifier(self) }
      adopters[ObjectIdentifier(object)] = rest.isEmpty ? nil : rest
    }
  }

  /// The service as an object; nil if the service isn't an object.
  private var object: AnyObject? { type(of: service) is any AnyObject.Type ? service as AnyObject : nil }
}
