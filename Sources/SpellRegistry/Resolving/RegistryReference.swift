internal import Support

/// A strong or weak reference to a registry, shared by objects whose properties request values from the registry.
final class RegistryReference: Sendable {
  private struct State: Sendable {
    /// The registry that this reference keeps alive; nil if it holds its registry weakly.
    ///
    /// While the registry of a weak reference ends, this is the registry that answers in its place.
    var strong: InitializerRegistry?
    var isWeak: Bool
    var weak = WeakReference(nil)
    /// The weak reference to use, once this reference has become weak.
    var other: RegistryReference?
  }
  private let state: Lock<State>
  /// The registry's reporter, which this reference keeps even when the registry no longer exists.
  let reporter: RegistryReporter?

  init(to registry: InitializerRegistry, isWeak: Bool) {
    reporter = registry.reporter
    state = Lock(
      isWeak ? State(isWeak: true, weak: WeakReference(registry)) : State(strong: registry, isWeak: false))
  }

  /// The registry, and whether this reference holds it weakly; nil if the registry no longer exists.
  var target: (registry: InitializerRegistry, isWeak: Bool)? {
    let (registry, isWeak, other) = state.withLock { state -> (InitializerRegistry?, Bool, RegistryReference?) in
      if let strong = state.strong { return (strong, state.isWeak, nil) }
      if let other = state.other { return (nil, true, other) }
      return (state.weak.object as? InitializerRegistry, true, nil)
    }
    return other?.target ?? registry.map { ($0, isWeak) }
  }

  var isWeak: Bool { state.withLock(\.isWeak) }

  func weaken() {
    guard let registry = state.withLock({ $0.isWeak ? nil : $0.strong }) else { return }
    let other = registry.weakReference
    // The registry is released with no lock held.
    let released = state.withLock { state -> InitializerRegistry? in
      (state.isWeak, state.other) = (true, other)
      return state.strong.take()
    }
    withExtendedLifetime(released) {}
  }

  /// Makes this weak reference refer to a registry that answers in place of one that ends, or to none.
  func replaceTarget(with registry: InitializerRegistry?) {
    let former = state.withLock { state in
      let former = state.strong
      (state.strong, state.weak) = (registry, WeakReference(nil))
      return former
    }
    withExtendedLifetime(former) {}
  }
}
