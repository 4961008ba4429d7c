internal import Support

/// A strong or weak reference to a registry, shared by objects whose properties request values from the registry.
final class RegistryReference: Sendable {
  private struct State: Sendable {
    var strong: InitializerRegistry?
    /// The weak reference to the registry; nil while `strong` holds the registry.
    var weak: WeakReference?
  }
  private let state: Lock<State>
  /// The registry's reporter, which this reference keeps even when the registry no longer exists.
  let reporter: RegistryReporter?

  init(to registry: InitializerRegistry, isWeak: Bool) {
    reporter = registry.reporter
    state = Lock(isWeak ? State(weak: WeakReference(registry)) : State(strong: registry))
  }

  /// The registry, and whether this reference holds it weakly; nil if the registry no longer exists.
  var target: (registry: InitializerRegistry, isWeak: Bool)? {
    state.withLock { state in
      if let strong = state.strong { return (strong, false) }
      return (state.weak?.object as? InitializerRegistry).map { ($0, true) }
    }
  }

  var isWeak: Bool { state.withLock { $0.strong == nil } }

  func weaken() {
    // The registry is released with no lock held.
    let released = state.withLock { state -> InitializerRegistry? in
      if let strong = state.strong { state.weak = WeakReference(strong) }
      return state.strong.take()
    }
    withExtendedLifetime(released) {}
  }
}
