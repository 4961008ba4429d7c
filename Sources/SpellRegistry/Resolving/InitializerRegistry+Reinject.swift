internal import Support
internal import Synchronization

extension InitializerRegistry {
  /// Gives live `@Injected` properties of a type, and Optionals of it, the value that is registered now.
  ///
  /// Each property takes it at its next read, in its own isolation, with hooks and all. It reaches the properties of objects
  /// made under this registry or one below it, those of a protocol's or superclass's type too if an instance of the type
  /// serves them. What was assigned stays, and so does a value for which nothing is registered any more. An
  /// `@Injected(.weak)` property asks again after its `$property.reset()`. Later reads of a replaced value take a lock.
  ///
  /// - Complexity: O(1), and one more look at the next read of every injected property of the process.
  public func reinject<Value>(_ type: Value.Type) { reinject(Service(type)) }

  /// Gives live `@Injected` properties of a declared key the value that is registered for it now.
  public func reinject<Value>(_ key: InjectionKey<Value>) { reinject(Service(Value.self, key: key)) }

  /// Begins an epoch in which older values of this service are outdated, here and below.
  private func reinject(_ service: Service) {
    reinjections.withLock { $0[service.id] = Epoch.current.advance() }
  }

  /// Whether a value of one of these services that was made here or below, in the epoch of a state, is outdated.
  func wasReinjected(_ services: [ObjectIdentifier], after state: UInt) -> Bool {
    lineage.contains { registry in
      registry.reinjections.withLock { epochs in
        services.contains { service in epochs[service].map { $0 > state } ?? false }
      }
    }
  }

  /// Whether a registration here or in a parent is for one class of containers.
  var hasContainers: Bool { isForContainers.load(ordering: .relaxed) || parent?.hasContainers ?? false }
}
