internal import SpellRegistry
internal import Support

// This file finds registrations that compete for the same requests. One of them may have no effect.

extension InitializerRegistry {
  /// Returns an error for each conflict between registrations of this registry.
  ///
  /// A registration is in conflict if it replaced another registration, is never chosen, isn't chosen for one of its
  /// supertypes, or has the same rank as another registration.
  func overlaps() -> [InjectionError] {
    let registrations = registrations
    return replacements(among: registrations) + overlappingNames(among: registrations)
      + overlappingInstances(among: registrations) + losingInstances(among: registrations)
  }

  /// Returns an error for each registration that replaced a registration from another place in the source code.
  ///
  /// Tests and previews replace registrations intentionally, so only a registry for context `.live` is checked.
  private func replacements(among registrations: [RegistrationRecord]) -> [InjectionError] {
    guard context == .live else { return [] }
    return registrations.compactMap { record in
      guard let place = record.replaced, "\(place)" != "\(record.place)" else { return nil }
      return InjectionError(
        .shadowed, through: [record.step],
        advice: """
          \(record.summary) is registered twice: the registration at \(place) was replaced by that at \(record.place). \
          Remove one of them, or override the first in a child registry: registry.child { $0.register(…) }.
          """)
    }
  }

  /// Returns an error for each pair of registrations with `.containing` names, unless the newer name is more specific.
  ///
  /// Only registrations of the same service for the same containers are compared. Case is ignored. Any two such names
  /// overlap, because a property's name may contain both. The newer name is more specific if it contains the older name
  /// and isn't equal to it. Exact names aren't compared: they overlap only if they are equal, and then the newer
  /// registration replaces the older registration.
  private func overlappingNames(among registrations: [RegistrationRecord]) -> [InjectionError] {
    let groups = Dictionary(grouping: registrations.filter { $0.part != nil }, by: \.service)
    return groups.values.flatMap { group in
      group.indices.flatMap { index in group[(index + 1)...].compactMap { overlap(of: group[index], $0) } }
    }
  }

  private func overlap(of older: RegistrationRecord, _ newer: RegistrationRecord) -> InjectionError? {
    guard let name = older.name, let mine = older.part, let others = newer.part, older.container == newer.container,
      older.servesSupertypes == newer.servesSupertypes
    else { return nil }
    if !mine.contains(others) {
      return others.contains(mine) ? nil : ambiguity(of: older, newer, for: "a name with both parts in it")
    }
    return InjectionError(
      .shadowed, through: [older.step],
      advice: """
        The registration of \(older.summary), at \(older.place), can never win: \(newer.summary), at \(newer.place), is \
        newer and fits every name that it fits. Register the more special one last: \
        registry.register(\(TypeName.source(of: older.service.type)), named: \(name.source)) { … }
        """)
  }

  /// Returns an error for each autowired dependency whose value could be any of several instances.
  ///
  /// Such instances are registered for any supertype. A dependency isn't ambiguous if the registration that is chosen
  /// is for exactly the dependency's type.
  private func overlappingInstances(among registrations: [RegistrationRecord]) -> [InjectionError] {
    let instances = registrations.filter { $0.servesSupertypes && $0.isUnlimited }
    guard instances.count > 1 else { return [] }
    var seen: Set<Service> = []
    let needed = registrations.flatMap(\.dependencies).filter { seen.insert($0).inserted }
    return needed.compactMap { service in
      let fitting = instances.filter { $0.serves(service) }
      guard fitting.count > 1, let provider = provider(serving: service)?.record, provider.servesSupertypes,
        provider.service != service
      else { return nil }
      return ambiguity(of: fitting[fitting.count - 2], fitting[fitting.count - 1], for: service.name)
    }
  }

  /// Returns an error for each case in which an older registration is chosen for a type instead of a newer instance.
  ///
  /// The instance is registered `as: .anySupertype`, and was probably meant to be chosen for the type, which is one of
  /// its supertypes. The older registration is chosen because it is for exactly this type. The instance does take
  /// precedence over a parent's registration, so only registrations of this registry are compared. Older registrations
  /// that are themselves instances aren't reported.
  private func losingInstances(among registrations: [RegistrationRecord]) -> [InjectionError] {
    let instances = registrations.filter { $0.servesSupertypes && $0.isUnlimited }
    if instances.isEmpty { return [] }
    let plain = registrations.filter { $0.isUnlimited && $0.service.key == nil && !$0.isInstance }
    return instances.flatMap { instance in
      plain.filter { $0.age < instance.age && $0.service != instance.service && instance.serves($0.service) }.map {
        InjectionError(
          .shadowed, through: [instance.step],
          advice: """
            The instance of \(instance.summary), registered at \(instance.place) for any supertype, doesn't serve \
            \($0.summary): what is registered for exactly that type, at \($0.place), wins. Register the instance for \
            it: registry.register(\(TypeName.source(of: $0.service.type)), .instance(…)).
            """)
      }
    }
  }

  private func ambiguity(
    of older: RegistrationRecord, _ newer: RegistrationRecord, for property: String
  ) -> InjectionError {
    let source = TypeName.source(of: newer.service.type)
    return InjectionError(
      .ambiguous, through: [newer.step],
      advice: """
        Two registrations are of equal rank for \(property): \(older.summary), at \(older.place), and \(newer.summary), \
        at \(newer.place). The newer one wins. To say which one you mean, name it or limit it to a class: \
        registry.register(\(source), named: "…") { … }
        """)
  }
}

extension RegistrationRecord {
  /// The text that property names have to contain, in lowercase; nil if the registration has no `.containing` name.
  fileprivate var part: String? {
    if case .containing(let part)? = name { part.lowercased() } else { nil }
  }
}
