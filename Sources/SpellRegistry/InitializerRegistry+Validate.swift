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

// MARK: Overlaps

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

// MARK: Properties of the program

/// A wrapped property as its declaration tells of it, with no object.
package struct DeclaredProperty {
  /// What the property is called in a message, as `Page.tracker`.
  package let description: String
  /// The types that the property asks for, one after the other; a registration of one suffices.
  package let types: [any Any.Type]
  /// What becomes of the property if nothing serves it.
  package let necessity: PropertyNeed.Necessity
  /// The name that it asks with; nil for one that asks with none.
  package let name: String?
  /// Whether the declaration may give another name, or a key.
  package let takesNameOrKey: Bool
  /// The class that declares it; nil for a struct's property, and for a constant, which ask for no container.
  package let containerType: (any AnyObject.Type)?

  package init(
    _ description: String, of valueType: any Any.Type, need: PropertyNeed, mayHaveKey: Bool, name: String?,
    in containerType: (any AnyObject.Type)?
  ) {
    self.description = description
    types = (need.asksForValue ? [valueType] : []) + need.services
    let isOptional = types.count == 1 && need.asksForValue && wrappedType(of: valueType) != nil
    necessity = isOptional ? .optional : mayHaveKey ? .unknown : need.necessity
    self.name = name
    takesNameOrKey = need.takesNameOrKey
    self.containerType = containerType
  }
}

/// The type that an Optional type wraps; nil for another type.
///
/// A type that is asked for the first time whether it conforms to a protocol is compared with every conformance in the
/// program, so the metadata's first word is asked before: the kind of type, 0x202 for an Optional.
private func wrappedType(of type: any Any.Type) -> (any Any.Type)? {
  guard unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee == 0x202 else { return nil }
  return (type as? any OptionalValue.Type)?.wrappedType
}

extension InitializerRegistry {
  /// The type of a registration that serves a property, or may: the one that wins for an object of the declaring class,
  /// else one for a subclass of it, or for another name if the declaration may give one; nil if there is none.
  package func typeServing(_ property: DeclaredProperty) -> (any Any.Type)? {
    let thread = ThreadState.current
    for type in property.types {
      let wrapped = wrappedType(of: type)
      for owner in lineage {
        if let served = owner.typeServing(property, as: type, withInstances: wrapped == nil, on: thread) {
          return served
        }
        if let wrapped, let served = owner.typeServing(property, as: wrapped, withInstances: true, on: thread) {
          return served
        }
      }
    }
    return nil
  }

  /// The same for one of the types that the property asks for, in this registry's own table.
  private func typeServing(
    _ property: DeclaredProperty, as type: any Any.Type, withInstances: Bool, on thread: CurrentThread
  ) -> (any Any.Type)? {
    let winner = winner(
      for: Service(type), named: property.name, in: property.containerType, withInstances: withInstances,
      onlyConstrained: false, on: thread)
    if let winner { return winner.type }
    return thread.read { table.all(for: type) }.last { candidate in
      candidate.mayServe(property)
        && (candidate.key.servesSupertypes ? withInstances && candidate.serves(Service(type)) : true)
    }?.type
  }

  /// The error of a property that needs a registration and has none.
  package func missing(_ property: DeclaredProperty) -> InjectionError? {
    // The last is what is registered for many properties, as a loader is.
    property.types.last.map { missing($0, step: InjectionStep($0, property: property.description)) }
  }
}

extension RegistrationStorage {
  /// Whether this is for some object that has the property, under a name that the property may ask with.
  fileprivate func mayServe(_ property: DeclaredProperty) -> Bool {
    if let constraint = key.container {
      guard let container = property.containerType else { return false }
      guard constraint.includes(container) || constraint.isBelow(container) else { return false }
    }
    guard let name = key.name, !property.takesNameOrKey else { return true }
    return name.rank(for: property.name) != nil
  }
}

extension ClassConstraint {
  /// Whether the constraint is for a subclass of a class.
  fileprivate func isBelow(_ container: any AnyObject.Type) -> Bool {
    func isSubclass<Container: AnyObject>(of _: Container.Type) -> Bool { type is Container.Type }
    return isSubclass(of: container)
  }
}
