// Registrations that meet at one property with nothing but their age to tell them apart.

extension InitializerRegistry {
  /// The registrations here that can never win, and pairs of them of equal rank.
  func overlaps() -> [InjectionError] { overlappingNames() + overlappingInstances() }

  /// Only two names that are contained can overlap at equal rank: what else is equal is the same key.
  private func overlappingNames() -> [InjectionError] {
    let groups = Dictionary(grouping: entries.filter { $0.part != nil }) { entry in
      NameGroup(
        type: entry.key.type, container: entry.key.container?.key, servesSupertypes: entry.key.servesSupertypes)
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
    let type: ObjectIdentifier
    let container: ContainerLimit.Key?
    let servesSupertypes: Bool
  }

  /// Instances of any supertype overlap where a dependency that is known is served by two of them.
  private func overlappingInstances() -> [InjectionError] {
    let instances = entries.filter { $0.key.servesSupertypes && $0.key.container == nil && $0.key.name == nil }
    guard instances.count > 1 else { return [] }
    var seen: Set<ObjectIdentifier> = []
    let needed = entries.flatMap(\.dependencies).filter { seen.insert(ObjectIdentifier($0)).inserted }
    return needed.compactMap { type in
      guard let provider = provider(of: type)?.entry, provider.key.servesSupertypes,
        provider.key.type != ObjectIdentifier(type)
      else { return nil }
      let fitting = instances.filter { $0.serves(type) }
      guard fitting.count > 1 else { return nil }
      return ambiguityError(fitting[fitting.count - 2], fitting[fitting.count - 1], for: TypeName.of(type))
    }
  }

  private func pairs(
    of entries: [any AnyRegistrationEntry]
  ) -> [(older: any AnyRegistrationEntry, newer: any AnyRegistrationEntry)] {
    entries.indices.flatMap { index in entries[(index + 1)...].map { (entries[index], $0) } }
  }

  private func shadowedError(_ older: any AnyRegistrationEntry, by newer: any AnyRegistrationEntry) -> InjectionError {
    InjectionError(
      .shadowed, through: [InjectionStep(older.type, registration: older.place.description)],
      notes: [
        """
        The registration of \(older.summary), at \(older.place), can never win: \(newer.summary), at \(newer.place), is \
        newer and fits every name that it fits. Register the more special one last, or remove it.
        """
      ])
  }

  private func ambiguityError(
    _ older: any AnyRegistrationEntry, _ newer: any AnyRegistrationEntry, for property: String
  ) -> InjectionError {
    InjectionError(
      .ambiguous, through: [InjectionStep(newer.type, registration: newer.place.description)],
      notes: [
        """
        Two registrations are of equal rank for \(property): \(older.summary), at \(older.place), and \(newer.summary), \
        at \(newer.place). The newer one wins; name one of them, or limit it to a container, to say so.
        """
      ])
  }
}

extension AnyRegistrationEntry {
  /// The part of a name that this one is for, in lower case.
  fileprivate var part: String? {
    if case .containing(let part)? = key.name { part.lowercased() } else { nil }
  }
}
