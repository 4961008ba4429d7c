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
    let entries = reachableEntries
    return missingDependencies(of: entries) + cycles(among: entries) + scopeCaptures(among: entries)
      + lineage.flatMap { $0.overlaps() }
  }

  private func missingDependencies(of entries: [any AnyRegistrationEntry]) -> [InjectionError] {
    entries.flatMap { entry in
      entry.dependencies.compactMap { type in
        if type is any OptionalValue.Type || provider(of: type) != nil { return nil }
        return missing(type, at: InjectionPoint(type, in: nil, .unnamed)).asked(by: entry.step)
      }
    }
  }

  /// The cycles that a walk along all dependencies meets, each as the path from a type back to it.
  private func cycles(among entries: [any AnyRegistrationEntry]) -> [InjectionError] {
    var found: [InjectionError] = []
    var finished: Set<ObjectIdentifier> = []
    var places: [ObjectIdentifier: Int] = [:]
    for entry in entries where !finished.contains(ObjectIdentifier(entry)) {
      // A list for a stack: a chain of thousands of dependencies must not overflow the thread's own.
      var way = [(entry: entry, unseen: providers(for: entry)[...])]
      places[ObjectIdentifier(entry)] = 0
      while let last = way.indices.last {
        guard let next = way[last].unseen.popFirst() else {
          let done = ObjectIdentifier(way.removeLast().entry)
          finished.insert(done)
          places[done] = nil
          continue
        }
        if let start = places[ObjectIdentifier(next)] {
          let circle = way[start...].map(\.entry) + [next]
          found.append(InjectionError(.cycle, through: circle.map(\.step)))
        } else if !finished.contains(ObjectIdentifier(next)) {
          places[ObjectIdentifier(next)] = way.count
          way.append((next, providers(for: next)[...]))
        }
      }
    }
    return found
  }

  private func providers(for entry: any AnyRegistrationEntry) -> [any AnyRegistrationEntry] {
    entry.dependencies.compactMap { provider(of: $0) }
  }

  /// Each value that a registration keeps and that holds, directly or through unique ones, a value of a scope that
  /// ends earlier.
  private func scopeCaptures(among entries: [any AnyRegistrationEntry]) -> [InjectionError] {
    entries.flatMap { holder -> [InjectionError] in
      guard holder.lifetime.isShared else { return [] }
      var found: [InjectionError] = []
      var seen: Set<ObjectIdentifier> = [ObjectIdentifier(holder)]
      var ways = [[holder]]
      while let way = ways.popLast(), let last = way.last {
        for held in providers(for: last) where seen.insert(ObjectIdentifier(held)).inserted {
          if holder.outlives(held) {
            found.append(captureError(way + [held]))
          } else if case .unique = held.lifetime {
            ways.append(way + [held])
          }
        }
      }
      return found
    }
  }

  private func captureError(_ way: [any AnyRegistrationEntry]) -> InjectionError {
    let (holder, held) = (way[0], way[way.count - 1])
    let (name, other) = (TypeName.of(holder.type), TypeName.of(held.type))
    return InjectionError(
      .scopeCapture, through: way.map(\.step),
      notes: [
        """
        \(name) (\(holder.scopeName)) holds \(other) (\(held.scopeName)) for longer than its scope keeps it. Give \
        \(name) a shorter scope or \(other) a longer one, or let \(name) ask its resolver when it needs one.
        """
      ])
  }

  /// The registration that serves a dependency, which asks by type alone.
  func provider(of type: any Any.Type) -> (any AnyRegistrationEntry)? {
    let point = InjectionPoint(type, in: nil, .unnamed)
    let wrapped = (type as? any OptionalValue.Type)?.wrappedType
    for registry in lineage {
      for type in [type] + (wrapped.map { [$0] } ?? []) {
        let ranked = registry.ranked(type, at: point, reach: .any, exactly: false)
        if let entry = ranked.first(where: { $0.serves(type) }) { return entry }
      }
    }
    return nil
  }

  /// The types of all registrations, with where they are, for other modules' diagnoses.
  package var registeredTypes: [(type: any Any.Type, place: SourcePlace)] {
    reachableEntries.map { ($0.type, $0.place) }
  }

  /// The registrations of this registry and its parents, without those that are overridden, in order.
  var reachableEntries: [any AnyRegistrationEntry] {
    var keys: Set<RegistrationKey> = []
    return lineage.flatMap(\.entries).filter { keys.insert($0.key).inserted }.sorted { $0.age < $1.age }
  }
}

extension AnyRegistrationEntry {
  /// The registration as a step of an error's path.
  var step: InjectionStep { InjectionStep(type, registration: place.description) }

  /// Whether a value of this registration is kept for longer than one of the other should be.
  fileprivate func outlives(_ held: any AnyRegistrationEntry) -> Bool {
    switch (lifetime, held.lifetime) {
    case (_, .unique): false
    case (_, .graph): true
    case (.singleton, .singleton): expiry == nil && held.expiry != nil
    case (.singleton, _): true
    case (.weak, .cached): true
    case (.weak, .singleton), (.cached, .singleton): held.expiry != nil
    case (.cached(let mine), .cached(let others)): mine !== others
    default: false
    }
  }
}
