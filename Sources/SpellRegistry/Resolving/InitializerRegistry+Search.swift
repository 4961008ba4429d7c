/// A registration, such as the registration chosen for a request, and the registry that contains the registration.
package struct Match {
  package let record: RegistrationRecord
  package let owner: InitializerRegistry

  package init(record: RegistrationRecord, owner: InitializerRegistry) { (self.record, self.owner) = (record, owner) }
}

extension InitializerRegistry {
  enum Finding: ~Copyable {
    /// The value that the chosen registration keeps was copied to the memory in ``Search/destination``.
    case delivered
    /// The chosen registration, and the registry that contains it: the requested registry or one of its parents.
    ///
    /// The registry isn't retained, because the caller holds the requested registry, which holds its parents.
    case match(RegistrationRecord, Borrowed<InitializerRegistry>)
    /// No registration serves the request.
    ///
    /// If the requested type is an Optional, that type is the associated value, so that the caller can use nil as the
    /// result of the request.
    case nothing(OptionalType? = nil)

    typealias OptionalType = any OptionalValue.Type

    var isNothing: Bool {
      switch self {
      case .nothing: true
      default: false
      }
    }
  }

  /// The options of a search for the registration that serves a request.
  struct Search {
    /// Whether to find only registrations that are for the container's class or one of its superclasses.
    let onlyForContainer: Bool
    /// The memory to which the search may copy the value that the chosen registration keeps; nil to copy nothing.
    ///
    /// The search doesn't copy the value of a registration that has hooks.
    var destination: ValueMemory?
    /// A registration of the asked registry that doesn't count, nor do those that hide it; nil for none.
    ///
    /// The registration that it hides counts instead.
    let hider: Borrowed<RegistrationRecord>?
    /// Whether the requested key's default registration counts if a registry without a parent contains it.
    ///
    /// The default no longer counts once the search has passed a registry whose context differs from its parent's.
    fileprivate var endsAtDefault = false

    init(
      onlyForContainer: Bool = false, deliveringTo destination: ValueMemory? = nil,
      hiddenBy hider: RegistrationRecord? = nil
    ) {
      (self.onlyForContainer, self.destination) = (onlyForContainer, destination)
      self.hider = hider.map { Borrowed($0) }
    }
  }

  /// Finds the registration that serves a request, in this registry or else in a parent.
  ///
  /// If there is none, the function searches for the default registration of a requested key, or for a registration of
  /// the type that a requested Optional type wraps.
  func find(_ request: borrowing Request, _ search: Search = Search()) -> Finding {
    let service = request.service
    if let key = service.key, !search.onlyForContainer { return find(request, service, of: key, search) }
    let found = findExactly(request, service, search)
    if !found.isNothing { return found }
    guard let optional = service.optional else { return .nothing() }
    let foundWrapped = findWrapped(request, Service(optional.wrappedType), search)
    return foundWrapped.isNothing ? .nothing(optional) : foundWrapped
  }

  /// Finds the registration that serves a request for a declared key, or else the key's default registration.
  @inline(never) private func find(
    _ request: borrowing Request, _ service: Service, of key: InjectionKeys, _ search: Search
  ) -> Finding {
    var search = search
    search.endsAtDefault = true
    let found = findExactly(request, service, search)
    return found.isNothing ? findDefault(of: key) : found
  }

  func match(_ request: borrowing Request, onlyForContainer: Bool = false) -> Match? {
    guard case .match(let record, let owner) = find(request, Search(onlyForContainer: onlyForContainer)) else {
      return nil
    }
    return Match(record: record, owner: owner.object)
  }

  /// Finds the registration that serves a request for `service`, in this registry or else in a parent.
  ///
  /// If only a parent has a registration of a requested Optional type, a registration of the wrapped type in a nearer
  /// registry takes precedence. Otherwise, registrations of the wrapped type don't count.
  ///
  /// The search retains no registry, because threads that resolve from children of one registry would compete for its
  /// reference count.
  ///
  /// - Parameter end: The parent before which the search ends; nil to search all parents.
  private func findExactly(
    _ request: borrowing Request, _ service: Service, _ search: Search, upTo end: Borrowed<InitializerRegistry>? = nil
  ) -> Finding {
    var (search, registry) = (search, Borrowed(self))
    while true {
      var winner: RegistrationRecord?
      let isAsked = registry == Borrowed(self)
      let isDelivered = registry.withObject { $0.lookUp(request, service, search, isAsked: isAsked, &winner) }
      if isDelivered { return .delivered }
      if let record = winner.take() {
        // `record` is for an Optional type. A registration of the wrapped type takes precedence over `record` if the
        // search passed that registration's registry before it reached this one.
        if !isAsked, record.makesOptional, let wrapped = service.wrapped,
          case .match(let nearer, let owner) = findWrapped(request, wrapped, search, upTo: registry)
        {
          return .match(nearer, owner)
        }
        return .match(record, registry)
      }
      guard let parent = registry.withObject({ $0.parent.map { Borrowed($0) } }), parent != end else {
        return .nothing()
      }
      if search.endsAtDefault { search.endsAtDefault = registry.withObject { !$0.ownsDefaults } }
      registry = parent
    }
  }

  /// Finds the registration that serves a request for `service` in this registry alone.
  ///
  /// - Parameters:
  ///   - isAsked: Whether the search began at this registry.
  ///   - winner: Receives the registration, unless there is none, or its value was copied.
  /// - Returns: Whether the registration's kept value was copied to the memory in ``Search/destination``.
  @inline(__always) private func lookUp(
    _ request: borrowing Request, _ service: Service, _ search: Search, isAsked: Bool,
    _ winner: inout RegistrationRecord?
  ) -> Bool {
    if isAsked, let hider = search.hider {
      winner = self.winner(request, service, search, hiddenBy: hider.object)
      return false
    }
    let mayHaveName = request.mayHaveName
    let look = table.read { table in
      table.lookUp(
        for: service.id, mayHaveName: mayHaveName, deliveringTo: search.destination, optionals: isAsked,
        mayBeDefault: search.endsAtDefault && parent == nil, only: &winner)
    }
    switch look {
    case .delivered: return true
    case .only: if search.onlyForContainer { winner = nil }
    case .nothing: break
    case .several: winner = self.winner(request, service, search)
    }
    return false
  }

  /// Finds the registration that serves a request for `wrapped`, the type that a requested Optional wraps.
  ///
  /// If `wrapped` is itself an Optional without a registration, the search continues with the type that it wraps.
  private func findWrapped(
    _ request: borrowing Request, _ wrapped: Service, _ search: Search, upTo end: Borrowed<InitializerRegistry>? = nil
  ) -> Finding {
    var search = search
    search.destination = nil
    let found = findExactly(request, wrapped, search, upTo: end)
    guard found.isNothing, let inner = wrapped.wrapped else { return found }
    return findWrapped(request, inner, search, upTo: end)
  }

  @inline(never) private func winner(
    _ request: borrowing Request, _ service: Service, _ search: Search, hiddenBy hider: RegistrationRecord? = nil
  ) -> RegistrationRecord? {
    // The property's own name, which reflection has to find, matters only if a registration is for certain names.
    let name =
      request.requestedName ?? (table.read { $0.asksForName(of: service.id) } ? request.name : nil)
    return winner(for: service, named: name, in: request.containerType, search, hiddenBy: hider)
  }

  private func winner(
    for service: Service, named name: String?, in containerType: (any AnyObject.Type)?, _ search: Search,
    hiddenBy hider: RegistrationRecord?
  ) -> RegistrationRecord? {
    var best: (record: RegistrationRecord, rank: RegistrationRank)?
    table.read({ $0.candidates(for: service.id, named: name, hiddenBy: hider) }).forEach { candidate in
      guard !search.onlyForContainer || candidate.container != nil,
        let rank = RegistrationRank(of: candidate, in: containerType, named: name)
      else { return }
      if let best, !rank.wins(over: best.rank) { return }
      // If `service` is an Optional type, only registrations of exactly that type count. A registered instance that
      // fits only the wrapped type is left to `findWrapped`, which compares it with that type's registrations.
      let isServed = candidate.service == service || service.wrapped == nil && candidate.serves(service)
      if isServed { best = (candidate, rank) }
    }
    return best?.record
  }

  /// Finds the default registration of a key, or makes it at the key's first use.
  ///
  /// From this registry, the search goes from parent to parent for as long as the parent has the same context. The
  /// registry at which it ends contains the default. All registries on this path share the default's kept value.
  @inline(never) private func findDefault(of key: InjectionKeys) -> Finding {
    var owner = self
    while let parent = owner.parent, !owner.ownsDefaults { owner = parent }
    if let known = owner.table.read({ $0.defaultRegistration(of: key) }) { return .match(known, Borrowed(owner)) }
    let made = key.makeRecord(in: context, of: owner)
    return .match(owner.table.change { $0.addDefault(made) }, Borrowed(owner))
  }

  /// Whether keys' default registrations belong in this registry: it has no parent, or the parent has another context.
  private var ownsDefaults: Bool { parent.map { $0.context != context } ?? true }

  // MARK: For diagnosis

  /// The types and source locations of the registrations in this registry and its parents, without overridden ones.
  package var registeredTypes: [(type: any Any.Type, place: SourcePlace)] {
    reachable.map { ($0.record.service.type, $0.record.place) }
  }

  /// Returns the registration that serves a request for a service, with the registry that contains the registration, or
  /// nil if no registration serves the request.
  package func provider(
    of service: Service, named name: String? = nil, in containerType: (any AnyObject.Type)? = nil
  ) -> Match? { match(Request(service, named: name, inClass: containerType)) }

  /// Returns whether this registry or a parent has a registration that serves any container's requests for a type.
  ///
  /// The method makes no value. A registration that is limited to one class of containers doesn't count. For an
  /// Optional type, a registration of the wrapped type also counts.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - name: The name to use in the request, like the name of a property that requests a value.
  public func isRegistered<Value>(_ type: Value.Type, named name: String? = nil) -> Bool {
    isRegistered(Request(type, named: name))
  }

  /// Returns whether this registry or a parent has a registration that serves any container's requests for a key.
  ///
  /// The key's own initializer doesn't count.
  public func isRegistered<Value>(_ key: InjectionKey<Value>, named name: String? = nil) -> Bool {
    isRegistered(Request(Value.self, key, named: name))
  }

  func isRegistered(_ request: borrowing Request) -> Bool {
    if case .match(let record, _) = find(request) { !record.isDefault } else { false }
  }
}
