internal import Support
internal import Synchronization

extension InitializerRegistry {
  /// Gives existing `@Injected` properties of type `Value`, or of an Optional of it, the value that is registered now.
  ///
  /// Each property takes the new value at its next read, in the isolation of that read, and then calls the hooks that
  /// every injection calls. This method therefore keeps no object alive, and accesses no property of an actor or a
  /// main-actor object from outside.
  /// It affects the properties that ask this registry or a child: those of objects that were made while it was current,
  /// and those of services in its `ServiceBox`. A property whose type is a supertype of `Value` also gets the new value if
  /// its request now finds a registered instance of type `Value`.
  /// Assigned values stay, as do values for which nothing is registered now. An `@Injected(.weak)` property requests a
  /// new value only after a call of `$property.reset()`. After a property's value was replaced, each read of the
  /// property takes a lock.
  ///
  /// - Complexity: O(1), and one more check at the next read of every injected property in the process.
  public func reinject<Value>(_ type: Value.Type) { reinject(Service(type)) }

  /// Gives existing `@Injected` properties of a declared key the value that is registered for the key now.
  public func reinject<Value>(_ key: InjectionKey<Value>) { reinject(Service(Value.self, key: key)) }

  /// Starts a new epoch, in which older values of the service from this registry or a child are outdated.
  private func reinject(_ service: Service) {
    reinjections.withLock { $0[service.id] = Epoch.current.advance() }
  }

  /// Returns whether this registry or a parent has re-injected any of the services since a value was made.
  ///
  /// - Parameter state: The state of the value's `CreationGate`, which contains the epoch of the value.
  func wasReinjected(_ services: [ObjectIdentifier], after state: UInt) -> Bool {
    lineage.contains { registry in
      registry.reinjections.withLock { epochs in
        services.contains { service in epochs[service].map { $0 > state } ?? false }
      }
    }
  }

  var hasContainers: Bool { isForContainers.load(ordering: .relaxed) || parent?.hasContainers ?? false }
}
