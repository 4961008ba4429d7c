internal import Support
internal import Synchronization

extension InitializerRegistry {
  /// Gives existing `@Injected` properties of a type, and of Optionals of it, the value that is registered now.
  ///
  /// Each property takes the new value at its next read, in its own isolation, and calls its hooks. So this call keeps
  /// no object alive, and touches no property of an actor or a main-actor object from outside. It reaches the
  /// properties of objects made under this registry or a child, including those of a supertype that an instance of the
  /// type serves. Assigned values stay, and so do values for which nothing is registered now. An `@Injected(.weak)`
  /// property asks again only after a call of its `$property.reset()`. Later reads of a replaced value take a lock.
  ///
  /// - Complexity: O(1), and one more check at the next read of every injected property in the process.
  public func reinject<Value>(_ type: Value.Type) { reinject(Service(type)) }

  /// Gives existing `@Injected` properties of a declared key the value that is registered for the key now.
  public func reinject<Value>(_ key: InjectionKey<Value>) { reinject(Service(Value.self, key: key)) }

  /// Begins an epoch: older values of this service, made under this registry or a child, are outdated.
  private func reinject(_ service: Service) {
    reinjections.withLock { $0[service.id] = Epoch.current.advance() }
  }

  /// Returns whether any of these services was re-injected, by this registry or a parent, after the epoch of a gate's
  /// state.
  func wasReinjected(_ services: [ObjectIdentifier], after state: UInt) -> Bool {
    lineage.contains { registry in
      registry.reinjections.withLock { epochs in
        services.contains { service in epochs[service].map { $0 > state } ?? false }
      }
    }
  }

  var hasContainers: Bool { isForContainers.load(ordering: .relaxed) || parent?.hasContainers ?? false }
}
