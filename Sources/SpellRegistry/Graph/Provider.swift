/// A registration, and the registry that its initializer's dependencies come from.
struct Provider: Identifiable {
  struct ID: Hashable {
    let entry: ObjectIdentifier
    let registry: ObjectIdentifier
  }

  let entry: any AnyRegistrationEntry
  let registry: InitializerRegistry

  /// - Parameters:
  ///   - entry: A registration of `owner`.
  ///   - owner: The registry that it is in.
  ///   - asked: The registry that is asked for the value; what `owner` keeps for everybody, it makes from its own.
  init(_ entry: any AnyRegistrationEntry, of owner: InitializerRegistry, asked: InitializerRegistry) {
    self.entry = entry
    registry = entry.lifetime.isShared ? owner : asked
  }

  var id: ID { ID(entry: ObjectIdentifier(entry), registry: ObjectIdentifier(registry)) }
  var typeName: String { TypeName.of(entry.type) }
  var step: InjectionStep { InjectionStep(entry.type, registration: entry.place.description) }
  var dependencies: [Provider] { entry.dependencies.compactMap { registry.provider(of: $0) } }
}

extension InitializerRegistry {
  /// The registration that serves a dependency, which asks by type alone.
  func provider(of type: any Any.Type) -> Provider? {
    let point = InjectionPoint(type, in: nil, .unnamed)
    let wrapped = (type as? any OptionalValue.Type)?.wrappedType
    for registry in lineage {
      if let entry = registry.winner(for: type, at: point, exactly: wrapped != nil)
        ?? wrapped.flatMap({ registry.winner(for: $0, at: point) })
      {
        return Provider(entry, of: registry, asked: self)
      }
    }
    return nil
  }

  /// The registrations of this registry and its parents, without those that are overridden, in order.
  var reachableProviders: [Provider] {
    var keys: Set<RegistrationKey> = []
    return lineage.flatMap { owner in owner.entries.map { Provider($0, of: owner, asked: self) } }
      .filter { keys.insert($0.entry.key).inserted }
      .sorted { $0.entry.age < $1.entry.age }
  }

  /// The types of all registrations, with where they are, for other modules' diagnoses.
  package var registeredTypes: [(type: any Any.Type, place: SourcePlace)] {
    reachableProviders.map { ($0.entry.type, $0.entry.place) }
  }
}
