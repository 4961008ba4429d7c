/// A registration, and the registry in which its initializer runs, which provides the initializer's dependencies.
package struct Provider: Sendable {
  package let record: RegistrationRecord
  package let registry: InitializerRegistry

  init(_ record: RegistrationRecord, in registry: InitializerRegistry) {
    (self.record, self.registry) = (record, registry)
  }
}

extension Provider: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    left.record === right.record && left.registry === right.registry
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(record))
    hasher.combine(ObjectIdentifier(registry))
  }
}

extension Match {
  /// Returns the provider of the value that a registry gets from the registration.
  package func provider(for asked: InitializerRegistry) -> Provider {
    Provider(record, in: record.maker(for: asked, ownedBy: owner))
  }
}

extension RegistrationRecord {
  /// Returns the registry in which the initializer runs for a request to the registry `asked`.
  ///
  /// A value that is shared between resolutions is made in the registry that keeps it, so that it doesn't depend on the
  /// registry that is asked first. Any other value is made in the registry that is asked.
  func maker(
    for asked: InitializerRegistry, ownedBy owner: @autoclosure () -> InitializerRegistry
  ) -> InitializerRegistry {
    lifetime.isShared ? owner() : asked
  }
}
