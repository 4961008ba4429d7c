internal import Support
public import Synchronization

/// How the properties of an object refer to the registry that was current when the object was made.
///
/// An object that a registry keeps must not keep the registry, or neither would ever go: what is made for a registry's
/// singletons refers to it weakly. All other objects keep their registry alive.
@usableFromInline final class RegistryReference: Sendable {
  enum State: Sendable {
    case strong(InitializerRegistry)
    case weak(WeakReference)
  }
  private let state: Lock<State>
  /// The epochs that properties compare theirs with at each read; they outlive the registry with this.
  let epochs: ReinjectionEpochs

  init(to registry: InitializerRegistry, isWeak: Bool) {
    state = Lock(isWeak ? .weak(WeakReference(registry)) : .strong(registry))
    epochs = registry.epochs
  }

  /// The registry, if it is still there.
  var registry: InitializerRegistry? {
    state.withLock { state in
      switch state {
      case .strong(let registry): registry
      case .weak(let reference): reference.object as? InitializerRegistry
      }
    }
  }

  var isWeak: Bool { state.withLock { if case .weak = $0 { true } else { false } } }

  /// Lets go of the registry, which the caller holds.
  func weaken() {
    state.withLock { state in
      if case .strong(let registry) = state { state = .weak(WeakReference(registry)) }
    }
  }

  /// The reference for what is made now; nil if the shared registry is current.
  @usableFromInline static var current: RegistryReference? { InitializerRegistry.override?.reference }

  /// The epoch that current values of properties have.
  @usableFromInline static func epoch(of reference: RegistryReference?) -> UnsafePointer<Atomic<UInt>> {
    // Apart, since one of the two as a value would be retained.
    if let reference { return reference.epochs.current }
    return InitializerRegistry.shared.epochs.current
  }
}
