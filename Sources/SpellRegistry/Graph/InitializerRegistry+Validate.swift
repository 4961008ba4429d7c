extension InitializerRegistry {
  /// Checks, without running anything, what autowired initializers need: every missing dependency and every cycle.
  ///
  /// ```swift
  /// @Test func everythingIsRegistered() { #expect(makeRegistry().validate().isEmpty) }
  /// ```
  ///
  /// Only autowired initializers tell what they need; what a closure asks its resolver for is not known before it
  /// runs. Looks at each registration of this registry and its parents once.
  ///
  /// - Returns: Every problem, missing dependencies first; empty where there is none.
  public func validate() -> [InjectionError] { missingDependencies() + cycles() }

  private func missingDependencies() -> [InjectionError] {
    reachableEntries.flatMap { entry in
      entry.dependencies.compactMap { type in
        if type is any OptionalValue.Type || provider(of: type) != nil { return nil }
        return missing(type, at: InjectionPoint(type, in: nil, .unnamed)).asked(by: step(to: entry))
      }
    }
  }

  /// The cycles that a walk along all dependencies meets, each as the path from a type back to it.
  private func cycles() -> [InjectionError] {
    var found: [InjectionError] = []
    var finished: Set<ObjectIdentifier> = []
    for entry in reachableEntries where !finished.contains(ObjectIdentifier(entry)) {
      // A list for a stack: a chain of thousands of dependencies must not overflow the thread's own.
      var way = [(entry: entry, unseen: providers(for: entry)[...])]
      while let last = way.indices.last {
        guard let next = way[last].unseen.popFirst() else {
          finished.insert(ObjectIdentifier(way.removeLast().entry))
          continue
        }
        if let start = way.firstIndex(where: { $0.entry === next }) {
          let circle = way[start...].map(\.entry) + [next]
          found.append(InjectionError(.cycle, through: circle.map { step(to: $0) }))
        } else if !finished.contains(ObjectIdentifier(next)) {
          way.append((next, providers(for: next)[...]))
        }
      }
    }
    return found
  }

  private func step(to entry: any AnyRegistrationEntry) -> InjectionStep {
    InjectionStep(entry.type, registration: entry.place.description)
  }

  private func providers(for entry: any AnyRegistrationEntry) -> [any AnyRegistrationEntry] {
    entry.dependencies.compactMap { provider(of: $0) }
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

  /// The registrations of this registry and its parents, without those that are overridden, in order.
  var reachableEntries: [any AnyRegistrationEntry] {
    var keys: Set<RegistrationKey> = []
    return lineage.flatMap(\.entries).filter { keys.insert($0.key).inserted }.sorted { $0.age < $1.age }
  }
}
