internal import Support

/// A strong or weak reference to a registry, shared by objects whose properties request values from the registry.
final class RegistryReference: Sendable {
  private struct State: Sendable {
    /// The registry that this reference keeps alive; nil if it holds its registry weakly.
    var strong: InitializerRegistry?
    var weak = WeakReference(nil)
    /// The registry that answers while the one in `weak` ends.
    var successor: InitializerRegistry?
    /// The weak reference to use, once this reference has become weak.
    var other: RegistryReference?
  }
  private let state: Lock<State>
  /// The registry's reporter, which this reference keeps even when the registry no longer exists.
  let reporter: RegistryReporter?

  init(to registry: InitializerRegistry, isWeak: Bool) {
    reporter = registry.reporter
    state = Lock(
      isWeak ? State(weak: WeakReference(registry)) : State(strong: registry))
  }

  /// The registry, and whether this reference holds it weakly; nil if the registry no longer exists.
  var target: (registry: InitializerRegistry, isWeak: Bool)? {
    if let strong = state.withLock(\.strong) { return (strong, false) }
    let (registry, other) = state.withLock { state in
      (state.successor ?? state.weak.object as? InitializerRegistry, state.other)
    }
    return other?.target ?? registry.map { ($0, true) }
  }

  var isWeak: Bool { state.withLock { $0.strong == nil } }

  func weaken() {
    guard let registry = state.withLock(\.strong) else { return }
    let other = registry.weakReference
    // The registry is released with no lock held.
    let released = state.withLock { state -> InitializerRegistry? in
      state.other = other
      return state.strong.take()
    }
    withExtendedLifetime(released) {}
  }

  /// Makes this weak reference refer to a registry that answers in place of one that ends, or to none.
  func replaceTarget(with registry: InitializerRegistry?) {
    let former = state.withLock { state in
      let former = state.successor
      (state.successor, state.weak) = (registry, WeakReference(nil))
      return former
    }
    withExtendedLifetime(former) {}
  }
}
