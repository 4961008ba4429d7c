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
  /// runs. Looks at each registration of this registry and its parents; what a child overrides on purpose is no problem.
  public func validate() -> [InjectionError] {
    let providers = reachableRegistrations
    return missingDependencies(of: providers) + cycles(among: providers) + scopeCaptures(among: providers)
      + lineage.flatMap { $0.overlaps() }
  }

  private func missingDependencies(of providers: [ResolvedRegistration]) -> [InjectionError] {
    providers.flatMap { provider in
      provider.storage.dependencies.compactMap { type in
        if type is any OptionalValue.Type || provider.registry.provider(of: type) != nil { return nil }
        return provider.registry.missing(type, at: InjectionPoint(Service(type), in: nil, .unnamed))
          .asked(by: provider.step)
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
          found.append(InjectionError(.cycle, through: circle.map(\.step)))
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
            found.append(captureError(way + [held], of: held, by: holder))
          } else if case .unique = held.storage.lifetime {
            ways.append(way + [held])
          }
        }
      }
      return found
    }
  }

  private func captureError(
    _ way: [ResolvedRegistration], of held: ResolvedRegistration, by holder: ResolvedRegistration
  ) -> InjectionError {
    InjectionError(
      .scopeCapture, through: way.map(\.step),
      advice:
        """
        \(holder.typeName) (\(holder.storage.scopeName)) holds \(held.typeName) (\(held.storage.scopeName)) for longer than \
        its scope keeps it. Give \(holder.typeName) a shorter scope or \(held.typeName) a longer one, or let \
        \(holder.typeName) ask its resolver when it needs one.
        """)
  }
}

extension RegistrationStorage {
  /// Whether a value of this registration is kept for longer than one of the other should be.
  fileprivate func outlives(_ held: RegistrationStorage) -> Bool {
    switch (lifetime, held.lifetime) {
    case (_, .unique): false
    case (_, .graph): true
    case (.singleton, .singleton): kept.expiry == nil && held.kept.expiry != nil
    case (.singleton, _): true
    case (.weak, .cached): true
    case (.weak, .singleton), (.cached, .singleton): held.kept.expiry != nil
    case (.cached(let mine), .cached(let others)): mine !== others
    default: false
    }
  }
}
