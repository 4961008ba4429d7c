public import SpellRegistry

extension InitializerRegistry {
  /// Checks the registrations without running any initializer, and returns all problems.
  ///
  /// ```swift
  /// @Test func isComplete() { #expect(makeRegistry().validate().isEmpty) }
  /// ```
  ///
  /// | code | problem |
  /// |---|---|
  /// | `.notRegistered` | an autowired initializer needs a type for which nothing is registered |
  /// | `.cycle` | autowired initializers need each other |
  /// | `.scopeCapture` | a kept value holds a value whose scope ends earlier, or that a child registry overrides |
  /// | `.shadowed` | a registration is never chosen, isn't chosen for one supertype, or has replaced another one |
  /// | `.ambiguous` | two registrations have equal rank, and only their age decides |
  /// | `.notShared` | each property may get its own preference store |
  ///
  /// Only autowired initializers declare their dependencies. A value that a closure creates is checked for
  /// `.scopeCapture` after ``graph(_:)-(()->Result)`` has recorded the closure's requests. The check includes the
  /// registrations of the parents. The dependencies of a kept value are looked up in the registry that keeps the value,
  /// and all other dependencies in this registry. A replaced registration is a problem only in a registry for context
  /// `.live`.
  ///
  /// - Parameter keys: Declared keys to check as well. A registry doesn't know a key's own initializer before the key
  ///   is used.
  /// - Returns: An error for each problem, with advice such as the line to add.
  public func validate(keys: InjectionKeys...) -> [InjectionError] {
    let wiring = Wiring(of: self, keys: keys, recorded: true)
    // Without this set, a registration that both a child and its parent use would be reported twice.
    var known: Set<[String]> = []
    let errors = (wiring.unmetNeeds() + wiring.cycles() + wiring.captures() + wiring.unsharedStores()).filter { error in
      known.insert([error.code.description] + error.steps.map { "\($0.typeName) \($0.registration ?? "")" }).inserted
    }
    return errors + lineage.flatMap { $0.overlaps() }
  }
}

extension Wiring {
  // MARK: Needs

  /// Returns an error for each dependency that has no registration.
  ///
  /// A dependency of an Optional type needs no registration.
  fileprivate func unmetNeeds() -> [InjectionError] {
    zip(providers, needs).flatMap { asker, needs in needs.compactMap { problem(of: $0, askedBy: asker) } }
  }

  private func problem(of need: Need, askedBy asker: Provider) -> InjectionError? {
    if need.provider != nil || need.service.type is any OptionalValue.Type { return nil }
    guard asker.registry !== registry, let nearer = registry.provider(serving: need.service)?.record else {
      return asker.registry.missing(need.service, askedBy: asker.record)
    }
    let (source, name) = (TypeName.source(of: need.service.type), need.service.name)
    return InjectionError(
      .notRegistered, through: [asker.record.step, InjectionStep(need.service)],
      advice: """
        What a parent registry keeps gets its dependencies from there, so the registration of \(name) at \(nearer.place) \
        doesn't serve it. Register \(name) in the parent: parent.register(\(source)) { … }
        """)
  }

  // MARK: Cycles

  /// Returns an error for each cycle that a depth-first search of the dependencies finds, with the cycle's path.
  fileprivate func cycles() -> [InjectionError] {
    var found: [InjectionError] = []
    var isFinished = providers.map { _ in false }
    for start in providers.indices where !isFinished[start] {
      // The search uses an array as its stack, because thousands of nested calls would overflow the thread's stack.
      var way = [(provider: start, unseen: needs[start][...])]
      var places = [start: 0]
      while let last = way.indices.last {
        guard let need = way[last].unseen.popFirst() else {
          let done = way.removeLast().provider
          places[done] = nil
          isFinished[done] = true
          continue
        }
        guard let next = need.provider else { continue }
        if let first = places[next] {
          let lap = way[first...].map { providers[$0.provider].record.step }
          found.append(InjectionError(.cycle, through: lap + lap.prefix(1)))
        } else if !isFinished[next] {
          places[next] = way.count
          way.append((next, needs[next][...]))
        }
      }
    }
    return found
  }

  // MARK: Captures

  /// Returns an error for each value that a kept value shouldn't hold.
  ///
  /// A kept value shouldn't hold a value whose scope may end earlier, as `outlives(_:)` determines, or a value that the
  /// checked registry overrides. The kept value holds the other value directly, or through values of scope `.unique`.
  fileprivate func captures() -> [InjectionError] {
    providers.indices.filter { providers[$0].record.lifetime.isShared }.flatMap { holder in
      var found: [InjectionError] = []
      var seen: Set<Int> = [holder]
      var ways = [[holder]]
      while let way = ways.popLast(), let last = way.last {
        for need in needs[last] + recordedNeeds[last] {
          guard let held = need.provider, seen.insert(held).inserted else { continue }
          let path = (way + [held]).map { providers[$0].record }
          let asker = providers[last].record
          // What a decoration wraps is what it hides, so the decoration isn't an override that fails to reach it.
          let isWrapped = asker.wraps && need.service == asker.service
          let advice =
            adviceOnScope(path)
            ?? (isWrapped ? nil : adviceOnOverride(of: need, path, in: providers[holder].registry))
          if let advice {
            found.append(InjectionError(.scopeCapture, through: path.map(\.step), advice: advice))
          } else if case .unique = providers[held].record.lifetime {
            // Ways through a factory come last, because a value that is also reached in another way is held.
            ways.insert(way + [held], at: providers[held].record.isFactory ? 0 : ways.endIndex)
          }
        }
      }
      return found
    }
  }

  /// Returns advice if a kept value may hold another value for longer than that value's scope keeps it; else nil.
  ///
  /// A value that holds a factory holds neither the values that the factory makes nor these values' dependencies.
  ///
  /// - Parameter path: The registrations from the kept value to the held value.
  private func adviceOnScope(_ path: [RegistrationRecord]) -> String? {
    let (holder, held) = (path[0], path[path.count - 1])
    guard !path.dropFirst().contains(where: \.isFactory), holder.outlives(held) else { return nil }
    let (keeper, kept) = (holder.service.name, held.service.name)
    return """
      \(keeper) (\(holder.scopeName)) holds \(kept) (\(held.scopeName)) for longer than its scope keeps it. Give \(keeper) a \
      shorter scope or \(kept) a longer one, or let \(keeper) ask at each read: \
      let current = \(held.step.constant(".everyRead")), current.value
      """
  }

  /// Returns the advice if a parent keeps a value that holds another value, which the checked registry overrides.
  ///
  /// - Parameters:
  ///   - need: The need that leads to the held value.
  ///   - path: The registrations from the kept value to the held value.
  ///   - owner: The registry that keeps the value.
  /// - Returns: The advice; nil if `owner` is the checked registry, if the held value's registration is limited to a
  ///   container or a name, or if the checked registry doesn't override this registration.
  private func adviceOnOverride(
    of need: Need, _ path: [RegistrationRecord], in owner: InitializerRegistry
  ) -> String? {
    let (holder, held) = (path[0], path[path.count - 1])
    guard owner !== registry, held.isUnlimited, let override = registry.provider(serving: need.service)?.record,
      override !== held
    else { return nil }
    let (keeper, kept) = (holder.service.name, held.service.name)
    return """
      \(keeper) (\(holder.scopeName)) is kept by a parent registry and holds that registry's \(kept), so the registration of \
      \(kept) at \(override.place) doesn't reach it. Register \(keeper) in the child too: \
      child.register(\(TypeName.source(of: holder.service.type)), scope: …)
      """
  }
}

extension Wiring {
  /// Returns an error for each registration that may give each property its own preference store.
  ///
  /// A property might then not see the changes that another property makes. A registration is reported even if
  /// its closure returns the same store each time, unless its scope keeps one value for all requests.
  fileprivate func unsharedStores() -> [InjectionError] {
    providers.map(\.record).filter(\.makesUnsharedStores).map { record in
      InjectionError(
        .notShared, through: [record.step],
        advice: """
          The registration of \(record.summary), at \(record.place), has scope .\(record.scopeName), so each property has a \
          store of its own. Share one: registry.register(\(TypeName.source(of: record.service.type)), scope: .singleton) { … }
          """)
    }
  }
}

extension RegistrationRecord {
  /// Whether each property may get its own preference store from this registration.
  ///
  /// The type `PreferenceStore` is found by its name, because this module doesn't import the module that declares it.
  fileprivate var makesUnsharedStores: Bool {
    !isInstance && !lifetime.isShared && service.qualifiedName == "PreferenceStorage.PreferenceStore"
  }

  /// Returns whether this registration's scope may keep a value for longer than the scope of `held` does.
  ///
  /// If both scopes may expire, the scope with the longer duration counts as longer, no matter when the values are
  /// made. A singleton also outlives a weak value, because the singleton would hold that value forever.
  fileprivate func outlives(_ held: RegistrationRecord) -> Bool {
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

  private func isKeptLonger(than held: RegistrationRecord) -> Bool {
    guard let expiry = held.expiry else { return false }
    return self.expiry.map { $0 > expiry } ?? true
  }
}
