// Which registration wins for a request: by one look at each table if that tells, else by comparing all candidates.

/// What is asked for: a type or, of that type, a declared key.
@usableFromInline package struct Service: Sendable {
  @usableFromInline package let type: any Any.Type
  /// The key; nil for the type itself.
  @usableFromInline package let key: InjectionKeys?

  @inlinable package init(_ type: any Any.Type, key: InjectionKeys? = nil) {
    self.type = type
    self.key = key
  }

  /// What a registry finds it by: the key's address or the type's.
  var identifier: ObjectIdentifier { key.map { ObjectIdentifier($0) } ?? ObjectIdentifier(type) }

  /// The service in words: `Clock`, or `Clock of the key declared at App/Keys.swift:3`.
  package var name: String { TypeName.of(type) + (key.map { "\(Self.keyPreposition)\($0.place)" } ?? "") }

  /// The same with the type's module.
  package var qualifiedName: String { _typeName(type, qualified: true) + name.dropFirst(TypeName.of(type).count) }

  /// What is between a type and the place of its key.
  package static let keyPreposition = " of the key declared at "
}

extension Service: Hashable {
  @usableFromInline package static func == (left: Service, right: Service) -> Bool {
    left.identifier == right.identifier
  }
  @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

/// The registration that wins for a request.
@usableFromInline struct Match {
  enum Fit {
    /// It makes what is asked for.
    case exact
    /// It is an instance that has what is asked for as a supertype.
    case supertype
    /// It makes what the Optional that is asked for wraps, in one of the ways above.
    case wrapped
  }

  let registration: RegistrationStorage
  let fit: Fit
  /// The registry that has the registration: the one that is asked or a parent of it, which that holds.
  var owner: InitializerRegistry { borrowedOwner.retained }
  private let borrowedOwner: Borrowed<InitializerRegistry>

  init(_ registration: RegistrationStorage, for service: Service, of owner: InitializerRegistry) {
    self.init(registration, registration.service == service ? .exact : .supertype, of: owner)
  }

  init(_ registration: RegistrationStorage, _ fit: Fit, of owner: InitializerRegistry) {
    self.registration = registration
    self.fit = fit
    borrowedOwner = Borrowed(owner)
  }
}

extension InitializerRegistry {
  /// The registration that wins here or, if there is none, in a parent; nil if there is none at all.
  ///
  /// - Parameters:
  ///   - onlyConstrained: Leaves out registrations that aren't for a class of containers.
  ///   - point: The request, for the property's name and the container's class; asked for only if it matters.
  func match(
    for service: Service, named name: RequestedName, inContainer: Bool, onlyConstrained: Bool = false,
    on thread: CurrentThread, at point: () -> InjectionPoint
  ) -> Match? {
    if !onlyConstrained, let only = winnerAtOneLook(for: service, named: name, inContainer: inContainer, on: thread) {
      return only
    }
    let point = point()
    return registeredMatch(
      for: service, in: point.containerType, named: point.propertyName, onlyConstrained: onlyConstrained)
      ?? service.key.map { defaultMatch(for: $0, at: point) }
  }

  /// As ``winner(for:named:inContainer:on:take:)``, compiled once and not into each caller: what comes here takes more than
  /// a look anyway, and a program gets 20 KB smaller.
  @inline(never) private func winnerAtOneLook(
    for service: Service, named name: RequestedName, inContainer: Bool, on thread: CurrentThread
  ) -> Match? {
    winner(for: service, named: name, inContainer: inContainer, on: thread)
  }

  /// The registration that wins, by a look at every candidate; a key's own doesn't count.
  @inline(never) private func registeredMatch(
    for service: Service, in containerType: (any AnyObject.Type)?, named name: String?, onlyConstrained: Bool = false
  ) -> Match? {
    let wrapped = service.key == nil ? (service.type as? any OptionalValue.Type)?.wrappedType : nil
    for owner in lineage {
      func winner(for service: Service, withInstances: Bool) -> RegistrationStorage? {
        owner.winner(
          for: service, named: name, in: containerType, withInstances: withInstances, onlyConstrained: onlyConstrained)
      }
      if let registration = winner(for: service, withInstances: service.key == nil && wrapped == nil) {
        return Match(registration, for: service, of: owner)
      }
      // An Optional is served by what makes its wrapped type.
      if let wrapped, let registration = winner(for: Service(wrapped), withInstances: true) {
        return Match(registration, .wrapped, of: owner)
      }
    }
    return nil
  }

  /// The registration that wins for a service, by a look at every candidate.
  func provider(
    of service: Service, containerType: (any AnyObject.Type)?, named name: String?
  ) -> Match? {
    if containerType == nil {
      return match(
        for: service, named: name.map { .known($0) } ?? .none, inContainer: false, on: ThreadState.current
      ) { InjectionPoint(service, named: name, in: nil) }
    }
    return registeredMatch(for: service, in: containerType, named: name)
      ?? service.key.map { defaultMatch(for: $0, at: InjectionPoint(service, in: nil)) }
  }

  /// The registration of a key for which nothing is registered: its own, which is kept in the outermost of the registries
  /// that have this one's context, so that all of them share what the key's scope keeps.
  private func defaultMatch(for key: InjectionKeys, at point: InjectionPoint) -> Match {
    let owner = lineage.prefix { $0.context == context }.last ?? self
    let tableKey = RegistrationKey(service: Service(type(of: key).valueType, key: key))
    if let kept = ThreadState.current.read({ owner.table[tableKey] }) { return Match(kept, .exact, of: owner) }
    let registration = key.defaultRegistration(tableKey, in: context, clock: owner.clock)
    let kept = ThreadState.write {
      if let other = owner.table[tableKey] { return other }
      _ = owner.table.insert(registration)
      return registration
    }
    if kept === registration && !key.hasInitializer(for: context) { reportMissingInitializer(of: key, at: point) }
    return Match(kept, .exact, of: owner)
  }

  /// The registration of exactly a type that wins, if one look at each table tells; nil if it takes more.
  ///
  /// - Parameter take: Shown the registration while nothing is retained; returns whether it took what it wanted.
  @inline(__always) func winner(
    for service: Service, named name: RequestedName, inContainer: Bool, on thread: CurrentThread,
    take: (RegistrationStorage) -> Bool = { _ in false }
  ) -> Match? {
    thread.read {
      // Not as an object, which each step would retain (benchmark: "resolve singleton").
      var owner = Borrowed(self)
      while true {
        switch owner.use({ $0.table.find(service, named: name, inContainer: inContainer) }) {
        case .several: return nil
        case .nothing:
          guard let parent = owner.use(\.borrowedParent) else { return nil }
          owner = parent
        case .winner(let registration):
          if owner.use({ $0.isOutranked(registration, askedBy: self) }) || registration.use(take) { return nil }
          return owner.use { Match(registration.retained, .exact, of: $0) }
        }
      }
    }
  }

  private var borrowedParent: Borrowed<InitializerRegistry>? { parent.map { Borrowed($0) } }

  /// Whether a registration of this registry may come after another: a key's own after one of a parent or the key's own for
  /// the context that was asked in, and what makes an Optional after what makes its wrapped type in a registry further in.
  private func isOutranked(_ registration: Borrowed<RegistrationStorage>, askedBy asked: InitializerRegistry) -> Bool {
    if registration.use(\.isDefault) { return parent != nil || context != asked.context }
    return self !== asked && registration.use(\.makesOptional)
  }

  /// The registration here, whatever parents have, that wins for a property of a container class.
  ///
  /// - Parameter withInstances: Whether an instance may serve it that has the type as a supertype.
  package func winner(
    for service: Service, named name: String?, in containerType: (any AnyObject.Type)?, withInstances: Bool,
    onlyConstrained: Bool = false
  ) -> RegistrationStorage? {
    let candidates = ThreadState.current.read {
      table.candidates(for: service, named: name, withInstances: withInstances)
    }
    return candidates.winner(in: containerType, named: name) { candidate in
      // A key's own initializer comes after all that is registered.
      !candidate.isDefault && (!onlyConstrained || candidate.key.container != nil)
        && (!candidate.key.servesSupertypes || candidate.serves(service))
    }
  }

  /// Nil for an Optional type, else the error that says that nothing is registered.
  func nilOrThrow<Value>(
    at point: InjectionPoint, advice: @autoclosure () -> String? = nil
  ) throws(InjectionError) -> Value {
    if let optional = Value.self as? any OptionalValue.Type, let none = optional.none as? Value { return none }
    throw missing(Value.self, step: point.step(Value.self), named: point.propertyName, advice: advice())
  }

  // Requests with a name that is a constant, and the question whether anything is registered.

  /// Returns a value by a name that is a constant; otherwise as ``resolve(_:named:in:)``.
  public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try resolve(type, named: name.text, in: container)
  }

  /// Returns a value by a name that is a constant, and awaits it; otherwise as ``resolveAsync(_:named:)``.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(type, named: name.text)
  }

  /// Whether something is registered, here or in a parent, that makes values of a type for every container.
  ///
  /// Makes nothing. For an Optional type, whether something makes it or its wrapped type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - name: The name to ask with.
  public func isRegistered<Value>(_ type: Value.Type, named name: String? = nil) -> Bool {
    isRegistered(Service(type), named: name)
  }

  /// Whether something is registered, here or in a parent, for a declared key and every container.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - name: The name to ask with.
  public func isRegistered<Value>(_ key: InjectionKey<Value>, named name: String? = nil) -> Bool {
    isRegistered(Service(Value.self, key: key), named: name)
  }

  private func isRegistered(_ service: Service, named name: String?) -> Bool {
    registeredMatch(for: service, in: nil, named: name) != nil
  }
}

extension Resolver {
  /// Returns a dependency by a name that is a constant.
  public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: PropertyName, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try registry.resolve(type, named: name, in: container)
  }
}

/// A registration and a registry, as a key of what belongs to both.
struct ResolvedRegistration {
  struct ID: Hashable {
    let storage: ObjectIdentifier
    let registry: ObjectIdentifier
  }
}

extension InitializerRegistry {
  /// The registrations of this registry and its parents, without those that are overridden, in order.
  func reachable(
    _ part: (InitializerRegistry) -> [RegistrationStorage]
  ) -> [(registration: RegistrationStorage, owner: InitializerRegistry)] {
    var keys: Set<RegistrationKey> = []
    return lineage.flatMap { owner in part(owner).map { ($0, owner) } }
      .filter { keys.insert($0.0.key).inserted }
      .sorted { $0.0.age < $1.0.age }
  }

  /// The registrations here that may serve a type: those of it, and instances for any supertype.
  package func ownRegistrations(for type: any Any.Type) -> [RegistrationStorage] {
    ThreadState.current.read { table.all(for: type) }
  }

  /// The types of all registrations, with where they are, for other modules' diagnoses.
  package var registeredTypes: [(type: any Any.Type, place: SourcePlace)] {
    reachable(\.registrations).map { ($0.registration.type, $0.registration.place) }
  }
}
