internal import Support

/// One registration, to add hooks to or to withdraw.
///
/// ```swift
/// let registration = registry.register(Network.self) { Network() }
///   .onInjection { network, point in network.label = point.propertyName }
/// registration.unregister()
/// ```
public struct Registration<Value>: Sendable {
  let record: RegistrationRecord
  let registry: InitializerRegistry

  /// Calls `hook` after each injection of a value that this registration gave: a property's first read, or a call of
  /// `resolve`.
  ///
  /// Hooks run in the order in which they were added, before the property's own, with no lock held, on the thread that
  /// asked. The value is stored before they run. What a hook injects calls no hooks, so a hook may resolve even the type
  /// that it is called for.
  @discardableResult
  public func onInjection(_ hook: @escaping @Sendable (Value, InjectionPoint) -> Void) -> Registration {
    record.hooks.add { value, point in
      if let value = value as? Value { hook(value, point) }
    }
    return self
  }

  /// Calls `hook` on the main actor after each injection of a value that this registration gave.
  ///
  /// For a registration whose values are asked for on the main actor, as those of main-actor objects are. The point has no
  /// container. Otherwise as ``onInjection(_:)``.
  ///
  /// - Precondition: The value is asked for on the main actor.
  @discardableResult
  public func onInjectionOnMainActor(
    _ hook: @escaping @MainActor (Value, InjectionPoint) -> Void
  ) -> Registration where Value: Sendable {
    let place = record.place
    return onInjection { value, point in
      guard isOnMainActor() else {
        trap(
          """
          The registration of \(TypeName.of(Value.self)) has a hook of the main actor, and its value was asked for \
          elsewhere. Ask for it on the main actor, or add the hook with onInjection.
          """, at: place)
      }
      callOnMainActor(point.withoutContainer()) { hook(value, $0) }
    }
  }

  /// Calls `hook` once for each new value, when the whole resolution in which it was made has ended.
  ///
  /// The value and all that was made with it are there by then, and what the hook resolves still shares their values of
  /// scope `.graph`, so the hook can complete a cycle, as an `initCompleted` of Swinject does. Here `child` is a
  /// `Mutex<Child?>`:
  ///
  /// ```swift
  /// registry.register(Parent.self, scope: .singleton) { Parent() }
  ///   .onCompletion { parent, resolver in
  ///     parent.child.withLock { $0 = try? resolver.resolve() }
  ///   }
  /// registry.register(Child.self, scope: .singleton, autowire: Child.init)
  /// ```
  ///
  /// It runs on the thread that asked, with no lock held, after the injection hooks. It also runs for values that were made
  /// for a failed initializer. A registered instance is never new. If completions begin each other without end, the request
  /// throws an error of code `.cycle`.
  ///
  /// - Parameter hook: Gets the value and a resolver of the registry that the value was made for.
  /// - Returns: The registration.
  @discardableResult
  public func onCompletion(_ hook: @escaping @Sendable (Value, Resolver) -> Void) -> Registration {
    record.addCompletion { memory, point, registry in
      let held = Unchecked(value: (value: memory.value(as: Value.self), point: point))
      return { hook(held.value.value, Resolver(point: held.value.point, registry: registry)) }
    }
    return self
  }

  /// Withdraws the registration and drops what it cached; properties that got their value keep it, and this
  /// ``Registration`` keeps an instance alive.
  ///
  /// Does nothing if the registration was replaced or withdrawn before. What it replaced doesn't come back.
  public func unregister() { registry.remove(record) }
}
