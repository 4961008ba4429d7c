// Registrations that meet at one property with nothing but their age to tell them apart.

extension InitializerRegistry {
  /// The registrations here that can never win, and pairs of them of equal rank.
  func overlaps() -> [InjectionError] { overlappingNames() + overlappingInstances() + losingInstances() }

  /// Instances of any supertype that lose to an older registration for exactly a supertype: meant to replace it, most
  /// likely.
  private func losingInstances() -> [InjectionError] {
    let plain = reachableRegistrations.map(\.storage).filter {
      $0.key.isPlain && $0.service.key == nil && !$0.isInstance
    }
    return registrations.filter { $0.key.servesSupertypes && $0.key.container == nil && $0.key.name == nil }
      .flatMap { instance in
        plain.filter { $0.age < instance.age && $0.type != instance.type && instance.serves($0.service) }.map {
          winner in
          InjectionError(
            .shadowed, through: [InjectionStep(instance.service, registration: instance.place.description)],
            advice: """
              The instance of \(instance.summary), registered at \(instance.place) for any supertype, doesn't serve \
              \(winner.summary): what is registered for exactly that type, at \(winner.place), wins. Register the instance for \
              it: registry.register(\(TypeName.source(of: winner.type)), instance: …).
              """)
        }
      }
  }

  /// Only two names that are contained can overlap at equal rank: what else is equal is the same key.
  private func overlappingNames() -> [InjectionError] {
    let groups = Dictionary(grouping: registrations.filter { $0.part != nil }) { entry in
      NameGroup(
        service: entry.key.service, container: entry.key.container, servesSupertypes: entry.key.servesSupertypes)
    }
    return groups.values.flatMap { group in
      pairs(of: group).compactMap { older, newer in
        guard let mine = older.part, let others = newer.part else { return nil }
        return mine.contains(others)
          ? shadowedError(older, by: newer)
          : others.contains(mine) ? nil : ambiguityError(older, newer, for: "a name with both parts in it")
      }
    }
  }

  private struct NameGroup: Hashable {
    let service: ObjectIdentifier
    let container: ClassConstraint?
    let servesSupertypes: Bool
  }

  /// Instances of any supertype overlap if two of them serve a dependency that is known.
  private func overlappingInstances() -> [InjectionError] {
    let instances = registrations.filter { $0.key.servesSupertypes && $0.key.container == nil && $0.key.name == nil }
    guard instances.count > 1 else { return [] }
    var seen: Set<ObjectIdentifier> = []
    let needed = registrations.flatMap(\.dependencies).filter { seen.insert(ObjectIdentifier($0)).inserted }
    return needed.compactMap { type in
      guard let provider = provider(of: type)?.storage, provider.key.servesSupertypes,
        provider.type != type
      else { return nil }
      let fitting = instances.filter { $0.serves(Service(type)) }
      guard fitting.count > 1 else { return nil }
      return ambiguityError(fitting[fitting.count - 2], fitting[fitting.count - 1], for: TypeName.of(type))
    }
  }

  private func pairs(
    of entries: [RegistrationStorage]
  ) -> [(older: RegistrationStorage, newer: RegistrationStorage)] {
    entries.indices.flatMap { index in entries[(index + 1)...].map { (entries[index], $0) } }
  }

  private func shadowedError(_ older: RegistrationStorage, by newer: RegistrationStorage) -> InjectionError {
    InjectionError(
      .shadowed, through: [InjectionStep(older.service, registration: older.place.description)],
      advice:
        """
        The registration of \(older.summary), at \(older.place), can never win: \(newer.summary), at \(newer.place), is \
        newer and fits every name that it fits. Register the more special one last, or remove it.
        """)
  }

  private func ambiguityError(
    _ older: RegistrationStorage, _ newer: RegistrationStorage, for property: String
  ) -> InjectionError {
    InjectionError(
      .ambiguous, through: [InjectionStep(newer.service, registration: newer.place.description)],
      advice:
        """
        Two registrations are of equal rank for \(property): \(older.summary), at \(older.place), and \(newer.summary), \
        at \(newer.place). The newer one wins; name one of them, or limit it to a container, to say so.
        """)
  }
}

extension RegistrationStorage {
  /// The part of a name that this one is for, in lower case.
  fileprivate var part: String? {
    if case .containing(let part)? = key.name { part.lowercased() } else { nil }
  }
}
