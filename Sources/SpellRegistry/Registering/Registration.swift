internal import Support

/// A handle to a registration, for adding hooks to the registration and for withdrawing it.
///
/// ```swift
/// let registration = registry.register(Network.self) { Network() }
///   .onInjection { network, point in network.label = point.propertyName }
/// registration.unregister()
/// ```
public struct Registration<Value>: Sendable {
  package let record: RegistrationRecord
  let registry: InitializerRegistry

  /// Calls `hook` after each injection of a value from this registration, such as a property's first read or a call of
  /// `resolve`.
  ///
  /// Hooks run in the order in which they were added, before the property's own hook, on the requesting thread, with no
  /// lock held. A property that keeps its value stores it before the hooks run. No hooks of registrations or registries
  /// run for the values that a hook itself requests. A hook may therefore even request a value of the type `Value`.
  @_disfavoredOverload @discardableResult
  public func onInjection(_ hook: @escaping @Sendable (Value, InjectionPoint) -> Void) -> Registration {
    addHook(hook)
  }

  /// Calls `hook` on the main actor after each injection of a value from this registration.
  ///
  /// Use it for values that are requested on the main actor, such as by properties of main-actor objects. The
  /// ``InjectionPoint`` that `hook` gets has no container. Otherwise, the hook behaves like a hook of
  /// ``onInjection(_:)``.
  ///
  /// - Precondition: Every injection of a value from this registration must happen on the main actor.
  @_disfavoredOverload @discardableResult
  public func onInjectionOnMainActor(
    _ hook: @escaping @MainActor (Value, InjectionPoint) -> Void
  ) -> Registration where Value: Sendable {
    addHookOnMainActor(hook)
  }

  /// Calls `hook` with each value that the registration has kept, when the registry drops the value.
  ///
  /// ```swift
  /// registry.register(scope: .singleton) { ConnectionPool() }.onRemoval { pool in pool.close() }
  /// ```
  ///
  /// A value is dropped when its registration is withdrawn or replaced, when its ``ScopeCache`` is reset, when it has
  /// expired and is asked for again, and when the registry ends. Of several values, the newest goes first, so a value
  /// can still use what it was made from. The registry still serves requests while the hook runs, with no lock held. An
  /// object may be in use elsewhere when the hook is called, and lives for as long as it is.
  ///
  /// The hook isn't called for a value that the registry doesn't keep alive: one of scope ``Scope/unique``,
  /// ``Scope/graph`` or ``Scope/weak``, and one that was still being made when its registration was withdrawn. Nor is it
  /// called for a registered instance, which the registry hasn't made.
  @_disfavoredOverload @discardableResult
  public func onRemoval(_ hook: @escaping @Sendable (Value) -> Void) -> Registration {
    addRemoval(hook)
  }

  /// Withdraws the registration and drops its kept values.
  ///
  /// A property that already has a value keeps the value. If the registration is for an existing instance, this
  /// ``Registration`` still holds the instance. If the registration was already replaced or withdrawn, the call does
  /// nothing. An older registration that this registration replaced isn't restored.
  public func unregister() { registry.remove(record) }
}

extension Registration where Value: Sendable {
  /// Calls `hook` once for each new value, at the end of the whole resolution that made the value.
  ///
  /// When the hook runs, the value and everything that was made with it exist. The hook's requests still share the
  /// resolution's values of scope `.graph`, so the hook can complete a cycle, as `initCompleted` of Swinject does. In
  /// this example, `child` is a `Mutex<Child?>`:
  ///
  /// ```swift
  /// registry.register(Parent.self, scope: .singleton) { Parent() }
  ///   .onCompletion { parent, resolver in
  ///     parent.child.withLock { $0 = try? resolver.resolve() }
  ///   }
  /// registry.register(scope: .singleton, .autowire(Child.init))
  /// ```
  ///
  /// Another thread may already be using the value, so only `Sendable` values have completion hooks. The hook runs
  /// after the injection hooks, with no lock held, on the thread on which the resolution ends. The hook also runs for
  /// values that were made as dependencies of an initializer that then failed, but never for a registered instance. If
  /// completion hooks cause each other without end, the request throws an error of code `.cycle`.
  ///
  /// - Parameter hook: Gets the value and a ``Resolver`` of the registry that made the value. The resolver's
  ///   ``InjectionPoint`` has no container.
  /// - Returns: The registration.
  @_disfavoredOverload @discardableResult
  public func onCompletion(_ hook: @escaping @Sendable (Value, Resolver) -> Void) -> Registration {
    addCompletion(hook)
  }
}

extension Registration {
  /// Unavailable, because the scope is an argument of `register`.
  @available(*, unavailable, message: "Write the scope before the closure, as in register(scope: .singleton) { … }.")
  @discardableResult public func inObjectScope(_ scope: Scope<Value>) -> Registration { fatalError() }
}

// MARK: Factories

extension Registration {
  /// Calls `hook` after each call of a factory from this registration, with the value that the factory returns.
  @discardableResult
  public func onInjection<Made, each Argument>(
    _ hook: @escaping @Sendable (Made, InjectionPoint) -> Void
  ) -> Registration where Value == ArgumentFactory<Made, repeat each Argument> { addHook(hook) }

  /// Calls `hook` on the main actor after each call of a factory from this registration, with the value that the
  /// factory returns.
  ///
  /// - Precondition: Every call of the factory must happen on the main actor.
  @discardableResult
  public func onInjectionOnMainActor<Made: Sendable, each Argument>(
    _ hook: @escaping @MainActor (Made, InjectionPoint) -> Void
  ) -> Registration where Value == ArgumentFactory<Made, repeat each Argument> { addHookOnMainActor(hook) }

  /// Calls `hook` once for each new value of a factory from this registration, at the end of the whole resolution that
  /// made the value.
  @discardableResult
  public func onCompletion<Made: Sendable, each Argument>(
    _ hook: @escaping @Sendable (Made, Resolver) -> Void
  ) -> Registration where Value == ArgumentFactory<Made, repeat each Argument> { addCompletion(hook) }

  /// Calls `hook` with each value that a factory from this registration has kept, when the registry drops the value.
  @discardableResult
  public func onRemoval<Made, each Argument>(
    _ hook: @escaping @Sendable (Made) -> Void
  ) -> Registration where Value == ArgumentFactory<Made, repeat each Argument> { addRemoval(hook) }

  /// Stops the program if a hook takes values of a type that the registration doesn't have.
  ///
  /// If the registration's initializer is a `.factory`, the hooks get the values that the factory makes, and never the
  /// factory itself. A registration that has its factory from elsewhere, such as a decoration, has only the factory.
  private func checkHook(for type: any Any.Type) {
    let takesFactory = type == Value.self
    if takesFactory != record.isFactory { return }
    trap(
      """
      The hooks of a registration of \(TypeName.of(Value.self)) get \
      \(takesFactory
        ? "the values that the factory makes, and this hook takes the factory itself. Write a hook for its values."
        : "the factory itself, because its initializer isn't `.factory`. Add the hook to the registration that is.")
      """, at: record.place)
  }

  private func addHook<Made>(_ hook: @escaping @Sendable (Made, InjectionPoint) -> Void) -> Registration {
    checkHook(for: Made.self)
    record.addHook { value, point in
      if let value = value as? Made { hook(value, point) }
    }
    return self
  }

  private func addHookOnMainActor<Made: Sendable>(
    _ hook: @escaping @MainActor (Made, InjectionPoint) -> Void
  ) -> Registration {
    let place = record.place
    return addHook { (value: Made, point) in
      Self.checkIsOnMainActor(at: place)
      callOnMainActor(point.withoutContainer()) { hook(value, $0) }
    }
  }

  private static func checkIsOnMainActor(at place: SourcePlace) {
    if isOnMainActor() { return }
    trap(
      """
      The registration of \(TypeName.of(Value.self)) has a hook of the main actor, and its value was asked for \
      elsewhere. Ask for it on the main actor, or add the hook with onInjection.
      """, at: place)
  }

  private func addRemoval<Made>(_ hook: @escaping @Sendable (Made) -> Void) -> Registration {
    checkHook(for: Made.self)
    record.addRemoval { memory in hook(memory.value()) }
    return self
  }

  private func addCompletion<Made: Sendable>(_ hook: @escaping @Sendable (Made, Resolver) -> Void) -> Registration {
    checkHook(for: Made.self)
    record.addCompletion { memory in
      let value = memory.value(as: Made.self)
      return { resolver in hook(value, resolver) }
    }
    return self
  }
}
