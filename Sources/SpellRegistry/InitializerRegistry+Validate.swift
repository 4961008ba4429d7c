extension InitializerRegistry {
  /// Checks, without running anything, what is registered, and returns every problem at once.
  ///
  /// ```swift
  /// @Test func everythingIsRegistered() { #expect(makeRegistry().validate().isEmpty) }
  /// ```
  ///
  /// | code | what is wrong |
  /// |---|---|
  /// | `.notRegistered` | an autowired initializer needs a type that nothing makes |
  /// | `.cycle` | autowired initializers need each other |
  /// | `.scopeCapture` | a value that is kept holds one that is meant to go earlier |
  /// | `.shadowed` | a registration that another one always wins over |
  /// | `.ambiguous` | two registrations of equal rank: only their age decides |
  ///
  /// Only autowired initializers tell what they need; what a closure asks its resolver for is not known before it
  /// runs. Looks at each registration of this registry and its parents; what a child overrides on purpose isn't a problem.
  public func validate() -> [InjectionError] {
    let providers = reachableRegistrations
    return missingDependencies(of: providers) + cycles(among: providers) + scopeCaptures(among: providers)
      + lineage.flatMap { $0.overlaps() }
  }

  private func missingDependencies(of providers: [ResolvedRegistration]) -> [InjectionError] {
    providers.flatMap { provider in
      provider.storage.dependencies.compactMap { type in
        if type is any OptionalValue.Type || provider.registry.provider(of: Service(type)) != nil { return nil }
        return provider.registry.missing(type, step: InjectionStep(Service(type))).asked(by: provider.storage.step)
      }
    }
  }

  /// The cycles that a walk along all dependencies meets, each as the path from a type back to it.
  private func cycles(among providers: [ResolvedRegistration]) -> [InjectionError] {
    var found: [InjectionError] = []
    var finished: Set<ResolvedRegistration.ID> = []
    for provider in providers where !finished.contains(provider.id) {
      // A list for a stack: a chain of thousands of dependencies must not overflow the thread's own.
      var way = [(provider: provider, unseen: provider.dependencies[...])]
      var places = [provider.id: 0]
      while let last = way.indices.last {
        guard let next = way[last].unseen.popFirst() else {
          let done = way.removeLast().provider.id
          places[done] = nil
          finished.insert(done)
          continue
        }
        if let start = places[next.id] {
          let circle = way[start...].map(\.provider) + [next]
          found.append(InjectionError(.cycle, through: circle.map(\.storage.step)))
        } else if !finished.contains(next.id) {
          places[next.id] = way.count
          way.append((next, next.dependencies[...]))
        }
      }
    }
    return found
  }

  /// Each value that a registration keeps and that holds, directly or through unique ones, a value of a scope that
  /// ends earlier.
  private func scopeCaptures(among providers: [ResolvedRegistration]) -> [InjectionError] {
    providers.filter(\.storage.lifetime.isShared).flatMap { holder in
      var found: [InjectionError] = []
      var seen: Set<ResolvedRegistration.ID> = [holder.id]
      var ways = [[holder]]
      while let way = ways.popLast(), let last = way.last {
        for held in last.dependencies where seen.insert(held.id).inserted {
          if holder.storage.outlives(held.storage) {
            found.append(
              InjectionError(
                .scopeCapture, through: (way + [held]).map(\.storage.step),
                advice: """
                  \(holder.typeName) (\(holder.storage.scopeName)) holds \(held.typeName) (\(held.storage.scopeName)) for longer \
                  than its scope keeps it. Give \(holder.typeName) a shorter scope or \(held.typeName) a longer one, or let \
                  \(holder.typeName) ask its resolver when it needs one.
                  """))
          } else if case .unique = held.storage.lifetime {
            ways.append(way + [held])
          }
        }
      }
      return found
    }
  }
}

extension RegistrationStorage {
  /// Whether a value of this registration is kept for longer than one of the other should be.
  fileprivate func outlives(_ held: RegistrationStorage) -> Bool {
    switch (lifetime, held.lifetime) {
    case (_, .unique): false
    case (_, .graph): true
    case (.singleton, .singleton): isKeptLonger(than: held)
    case (.singleton, _): true
    case (.weak, .cached): true
    case (.weak, .singleton), (.cached, .singleton), (.weak, .weak), (.cached, .weak): isKeptLonger(than: held)
    case (.cached(let mine), .cached(let others)): mine !== others || isKeptLonger(than: held)
    default: false
    }
  }

  private func isKeptLonger(than held: RegistrationStorage) -> Bool {
    guard let expiry = held.kept.expiry else { return false }
    return kept.expiry.map { $0 > expiry } ?? true
  }
}

// Registrations that meet at one property with nothing but their age to tell them apart.

extension InitializerRegistry {
  /// The registrations here that can never win, and pairs of them of equal rank.
  func overlaps() -> [InjectionError] { overlappingNames() + overlappingInstances() + losingInstances() }

  /// Instances of any supertype that lose to an older registration for exactly a supertype: meant to replace it, most
  /// likely.
  private func losingInstances() -> [InjectionError] {
    let plain = reachableRegistrations.map(\.storage).filter {
      $0.key.isUnlimited && $0.service.key == nil && !$0.isInstance
    }
    return registrations.filter { $0.key.servesSupertypes && $0.key.isUnlimited }.flatMap { instance in
      plain.filter { $0.age < instance.age && $0.type != instance.type && instance.serves($0.service) }.map { winner in
        InjectionError(
          .shadowed, through: [instance.step],
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
    let groups = Dictionary(grouping: registrations.filter { $0.part != nil }) { registration in
      var key = registration.key
      key.name = nil
      return key
    }
    return groups.values.flatMap { group in
      group.indices.flatMap { index in group[(index + 1)...].compactMap { overlap(of: group[index], $0) } }
    }
  }

  private func overlap(of older: RegistrationStorage, _ newer: RegistrationStorage) -> InjectionError? {
    guard let mine = older.part, let others = newer.part else { return nil }
    if !mine.contains(others) {
      return others.contains(mine) ? nil : ambiguityError(older, newer, for: "a name with both parts in it")
    }
    return InjectionError(
      .shadowed, through: [older.step],
      advice: """
        The registration of \(older.summary), at \(older.place), can never win: \(newer.summary), at \(newer.place), is \
        newer and fits every name that it fits. Register the more special one last, or remove it.
        """)
  }

  /// Instances of any supertype overlap if two of them serve a dependency that is known.
  private func overlappingInstances() -> [InjectionError] {
    let instances = registrations.filter { $0.key.servesSupertypes && $0.key.isUnlimited }
    guard instances.count > 1 else { return [] }
    var seen: Set<ObjectIdentifier> = []
    let needed = registrations.flatMap(\.dependencies).filter { seen.insert(ObjectIdentifier($0)).inserted }
    return needed.compactMap { type in
      let fitting = instances.filter { $0.serves(Service(type)) }
      guard fitting.count > 1, let provider = provider(of: Service(type))?.storage, provider.key.servesSupertypes,
        provider.type != type
      else { return nil }
      return ambiguityError(fitting[fitting.count - 2], fitting[fitting.count - 1], for: TypeName.of(type))
    }
  }

  private func ambiguityError(
    _ older: RegistrationStorage, _ newer: RegistrationStorage, for property: String
  ) -> InjectionError {
    InjectionError(
      .ambiguous, through: [newer.step],
      advice: """
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
