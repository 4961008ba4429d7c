/// One registration, to add hooks to or to withdraw.
///
/// ```swift
/// let registration = registry.register(Network.self) { Network() }
///   .onInjection { network, point in network.label = point.propertyName }
/// registration.unregister()
/// ```
public struct Registration<Value>: Sendable {
  let storage: TypedRegistration<Value>
  let registry: InitializerRegistry

  /// Calls `hook` after each injection of a value that this registration gave: a property's first read, or a call of
  /// `resolve`.
  ///
  /// Hooks run in the order in which they were added, before the property's own, with no lock held, on the thread that
  /// asked. The value is stored before they run. What a hook causes to be injected isn't reported to the hooks that are
  /// running, so a hook may resolve even the type that it hears of.
  @discardableResult
  public func onInjection(_ hook: @escaping @Sendable (Value, InjectionPoint) -> Void) -> Registration {
    storage.hooks.add { value, point in
      if let value = value as? Value { hook(value, point) }
    }
    return self
  }

  /// Calls `hook` on the main actor after each injection of a value that this registration gave.
  ///
  /// For a registration whose values are asked for on the main actor, as those of main-actor objects are. Otherwise as
  /// ``onInjection(_:)``.
  ///
  /// - Precondition: The value is asked for on the main actor.
  @discardableResult
  public func onInjectionOnMainActor(
    _ hook: @escaping @MainActor (Value, InjectionPoint) -> Void
  ) -> Registration where Value: Sendable {
    let place = storage.place
    return onInjection { value, point in
      guard isOnMainActor() else {
        trap(
          """
          The registration of \(TypeName.of(Value.self)) has a hook of the main actor, and its value was asked for \
          elsewhere. Ask for it on the main actor, or add the hook with onInjection.
          """, at: place)
      }
      MainActorHook(hook: hook, value: value, point: point).run()
    }
  }

  /// Withdraws the registration and drops what it cached; properties that got their value keep it.
  ///
  /// Does nothing if the registration was replaced or withdrawn before. What it replaced doesn't come back.
  public func unregister() { registry.remove(storage) }
}

/// `@unchecked Sendable`: it is made and run on one thread, which has the main actor.
private struct MainActorHook<Value>: @unchecked Sendable {
  let hook: @MainActor (Value, InjectionPoint) -> Void
  let value: Value
  let point: InjectionPoint

  func run() { MainActor.assumeIsolated { hook(value, point) } }
}
