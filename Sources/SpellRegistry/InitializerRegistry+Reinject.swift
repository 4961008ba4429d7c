internal import Support
internal import Synchronization

/// Counts the re-injections of a registry, its parents and all registries below them.
///
/// Every `@Injected` property compares its state with the current epoch at each read, so a re-injection reaches each that
/// lives with no list of them, at the price of one more load.
final class ReinjectionEpochs: Sendable {
  /// The state of a value that is ready and of the latest epoch; one word.
  let current = AtomicWords(CreationGate.ready, count: 1)

  deinit { current.deallocate(count: 1) }
}

/// The epoch that began when a type or a declared key was last re-injected in one registry.
final class Reinjections: Sendable {
  let epochs = Lock<[ObjectIdentifier: UInt]>([:])
}

extension InitializerRegistry {
  /// Gives live `@Injected` properties of a type, and Optionals of it, the value that is registered now.
  ///
  /// Each property takes it at its next read, in its own isolation, with hooks and all. So this keeps nothing alive, needs
  /// no list of objects, and leaves an actor's or main-actor object's properties to that object. It reaches the properties
  /// of objects made under this registry or one below it, those of a protocol's or superclass's type too if an instance of
  /// the type serves them. What was assigned stays, and so does a value for which nothing is registered any more. An
  /// `@Injected(.weak)` property asks again after its `$property.reset()`.
  ///
  /// Costs one atomic addition here, and one more look at the first read of every injected property after it. A property
  /// whose value was replaced keeps the first two values that it had until it goes.
  public func reinject<Value>(_ type: Value.Type) { reinject(ObjectIdentifier(type)) }

  /// Gives live `@Injected` properties of a declared key the value that is registered for it now, as ``reinject(_:)`` of a
  /// type does.
  public func reinject<Value>(_ key: InjectionKey<Value>) { reinject(ObjectIdentifier(key)) }

  /// Begins an epoch in which older values of this type or declared key are outdated, here and below.
  private func reinject(_ service: ObjectIdentifier) {
    reinjections.object { Reinjections() }.epochs.withLock { reinjected in
      reinjected[service] = epochs.current.first.value.add(CreationGate.unit, ordering: .releasing).newValue
    }
  }

  /// Whether a value of one of these services that is ready in `state`, of an object made under this registry, is outdated.
  func isOutdated(_ state: UInt, _ services: [ObjectIdentifier]) -> Bool {
    lineage.contains { registry in
      registry.reinjections.object?.epochs.withLock { reinjected in
        services.contains { service in reinjected[service].map { $0 > state } ?? false }
      } ?? false
    }
  }
}
