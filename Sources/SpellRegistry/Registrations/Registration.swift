/// One registration: add hooks to it, or withdraw it.
///
/// ```swift
/// let registration = registry.register(Network.self) { Network() }
///   .onInjection { network, point in network.label = point.propertyName }
/// registration.unregister()
/// ```
public struct Registration<Value>: Sendable {
  let entry: RegistrationEntry<Value>
  let registry: InitializerRegistry

  /// Calls `hook` after each injection of a value that this registration gave: a property's first read, or a call of
  /// `resolve`.
  ///
  /// Hooks run in the order in which they were added, before the property's own, with no lock held, on the thread that
  /// asked. The value is stored before they run. What a hook causes to be injected is not told to the hooks that are
  /// running, so a hook may resolve even what it hears of.
  @discardableResult
  public func onInjection(_ hook: @escaping @Sendable (Value, InjectionPoint) -> Void) -> Registration {
    entry.hooks.add { value, point in
      if let value = value as? Value { hook(value, point) }
    }
    return self
  }

  /// Withdraws the registration and drops what it cached; properties that got their value keep it.
  ///
  /// Does nothing where the registration was replaced or withdrawn before. What it had replaced does not come back.
  public func unregister() { registry.giveUp(entry) }
}
