// From a request to a value, in the order in which it happens: find the registration that wins, take what its scope keeps
// or run its initializer, call the hooks. The shortest way is in `InitializerRegistry+Supply.swift`; here is what takes more.

extension InitializerRegistry {
  /// Returns a value: the most specific registration's, made or kept as its scope says.
  ///
  /// - Parameters:
  ///   - type: The type of the value. For an Optional type with nothing registered the result is nil.
  ///   - name: The name to ask with, as a property would with its own.
  ///   - container: The object to ask for, so that registrations for its class count.
  /// - Throws: `.notRegistered`, `.cycle`, `.initializerFailed`, `.wrongIsolation`, `.notReady` or `.stackExhausted`,
  ///   with the path from this type to the one at fault.
  @inlinable public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try resolve(Service(Value.self), named: name, in: container)
  }

  /// Returns the value of a declared key: the most specific registration's for it, else what the key's own initializer
  /// makes.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - name: The name to ask with, as a property would with its own.
  ///   - container: The object to ask for, so that registrations for its class count.
  /// - Throws: `.cycle`, `.initializerFailed`, `.wrongIsolation`, `.notReady` or `.stackExhausted`, with the path from this
  ///   key to the one at fault.
  @inlinable public func resolve<Value>(
    _ key: InjectionKey<Value>, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try resolve(Service(Value.self, key: key), named: name, in: container)
  }

  /// Resolves from a registration that was found, or looks for one.
  @usableFromInline func resolve<Value>(
    _ service: Service, named name: String? = nil, in container: AnyObject? = nil, from match: Match?
  ) throws(InjectionError) -> Value {
    func point() -> InjectionPoint { InjectionPoint(service, named: name, in: container) }
    let thread = ThreadState.current
    let found =
      match
      ?? self.match(
        for: service, named: name.map { .known($0) } ?? .none, inContainer: container != nil, on: thread, at: point)
    guard let found else { return try nilOrThrow(at: point()) }
    let asker = ResolutionFrame.Asker(container: container.map { ObjectIdentifier($0) }, name: name)
    return try deliver(found, to: asker, on: thread, at: point)
  }

  /// The value of a registration, after its hooks and the registry's were called.
  private func deliver<Value>(
    _ match: Match, to asker: ResolutionFrame.Asker, on thread: CurrentThread,
    at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value {
    let value: Value = try value(of: match, asker: asker, on: thread, at: point)
    announce(value, of: match.registration, at: point())
    return value
  }

  /// Returns one value from each registration of a type, in the order of registration.
  ///
  /// Registrations for a class of containers are left out, and so are those of parents that a registration with the same
  /// key overrides. Without any the result is empty.
  ///
  /// - Throws: What the first initializer to fail threw, as ``resolve(_:named:in:)``.
  public func resolveAll<Value>(_ type: Value.Type = Value.self) throws(InjectionError) -> [Value] {
    let (service, thread) = (Service(Value.self), ThreadState.current)
    // Before the list's own frame stands between the initializer that asks and what it asks for.
    thread.observeDependency(on: service)
    return try resolvingTogether([Value].self) { () throws(InjectionError) in
      var values: [Value] = []
      for (registration, owner) in reachable({ $0.ownRegistrations(for: Value.self) })
      where registration.key.container == nil && registration.serves(service) {
        let match = Match(registration, for: service, of: owner)
        values.append(try deliver(match, to: .init(), on: thread, at: { InjectionPoint(service, in: nil) }))
      }
      return values
    }
  }

  /// Runs `body` as one resolution, whose values of scope `.graph` are shared by all that is resolved in it.
  package func resolvingTogether<Result>(
    _ type: any Any.Type, _ body: () throws(InjectionError) -> Result
  ) throws(InjectionError) -> Result {
    let thread = ThreadState.current
    let result = try thread.making(ResolutionFrame(on: thread, type: type), at: { InjectionStep(Service(type)) }, body)
    thread.completeResolution()
    return result
  }

  /// The value of a registration: what its scope keeps, or what its initializer makes now.
  func value<Value>(
    of match: Match, asker: ResolutionFrame.Asker, propertyGate: GateID? = nil,
    on thread: CurrentThread, at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value {
    thread.observeDependency(on: Service(Value.self, key: match.registration.service.key))
    return try keptOrMadeValue(of: match, asker: asker, propertyGate: propertyGate, on: thread, at: point)
  }

  @inline(__always) private func keptOrMadeValue<Value>(
    of match: Match, asker: ResolutionFrame.Asker, propertyGate: GateID?, on thread: CurrentThread,
    at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value {
    if match.fit != .exact {
      return try convertedValue(of: match, asker: asker, on: thread, at: point)
    }
    let registration = match.registration
    switch registration.lifetime {
    case .unique:
      return try newValue(of: registration, asker: asker, gate: propertyGate, on: thread, at: point)
    case .graph:
      return try graphValue(of: registration, asker: asker, propertyGate: propertyGate, on: thread, at: point)
    case .singleton, .weak, .cached:
      return try registration.kept.value(of: Value.self, on: thread) { gate throws(InjectionError) in
        try match.owner.newValue(
          of: registration, asker: asker, gate: gate, propertyGate: propertyGate, keepsValue: true, on: thread,
          at: point)
      }
    }
  }

  // Apart from the above, which would otherwise look up the type of an Optional each time.
  @inline(never) private func graphValue<Value>(
    of registration: RegistrationStorage, asker: ResolutionFrame.Asker, propertyGate: GateID?,
    on thread: CurrentThread, at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value {
    let id = ResolvedRegistration.ID(storage: ObjectIdentifier(registration), registry: ObjectIdentifier(self))
    // The dictionary's own nil would pass for a value of an Optional type.
    if let kept = thread.fields.graph?[id], let value = kept.value as? Value { return value }
    let value: Value = try newValue(of: registration, asker: asker, gate: propertyGate, on: thread, at: point)
    // The outermost frame's end forgets them; without a frame this was the outermost request.
    if thread.isMaking {
      if thread.fields.graph == nil { thread.fields.graph = [:] }
      // A value that was made further in for another asker is released after the change.
      let former = thread.fields.graph?.updateValue((registration, value), forKey: id)
      withExtendedLifetime(former) {}
    }
    return value
  }

  /// The value of a registration of another type than the one that is asked for.
  @inline(never) private func convertedValue<Value>(
    of match: Match, asker: ResolutionFrame.Asker, on thread: CurrentThread, at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value {
    if match.fit == .wrapped, let type = Value.self as? any OptionalValue.Type {
      func value<Content: OptionalValue>(as _: Content.Type) throws(InjectionError) -> Value? {
        let unwrapped = Match(match.registration, for: Service(Content.Wrapped.self), of: match.owner)
        return Content(try self.value(of: unwrapped, asker: asker, on: thread, at: point)) as? Value
      }
      if let value = try value(as: type) { return value }
    } else if let value = match.registration.instance(as: Value.self) {
      return value
    }
    trap("What is registered at \(match.registration.place) isn't a \(TypeName.of(Value.self)); please report this.")
  }

  /// Runs a registration's initializer, with this registry as the current one.
  private func newValue<Value>(
    of registration: RegistrationStorage, asker: ResolutionFrame.Asker, gate: GateID?, propertyGate: GateID? = nil,
    keepsValue: Bool = false, on thread: CurrentThread, at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value {
    func resolver() -> Resolver { Resolver(point: point(), registry: self) }
    if registration.isInstance, let instance = try? registration.newValue(of: Value.self, with: resolver) {
      return instance
    }
    return try runInitializer(
      of: registration, asker: asker, gate: gate, propertyGate: propertyGate, keepsValue: keepsValue, on: thread,
      at: point
    ) {
      try finishedValue(of: registration, on: thread, at: point) {
        try registration.newValue(of: Value.self, with: resolver)
      }
    }
  }

  /// Runs `body` as the initializer of a registration, and adds the registration to an error's path.
  @inline(__always) func runInitializer<Value>(
    of registration: RegistrationStorage, asker: consuming ResolutionFrame.Asker, gate: GateID? = nil,
    propertyGate: GateID? = nil, keepsValue: Bool = false, on thread: CurrentThread,
    at point: () -> InjectionPoint, _ body: () throws -> Value
  ) throws(InjectionError) -> Value {
    let keepsValue = keepsValue || asker.isKept
    let frame = ResolutionFrame(
      on: thread, type: registration.type, registration: Borrowed(registration), asker: asker,
      registry: ObjectIdentifier(self), gate: gate, propertyGate: propertyGate)
    func step() -> InjectionStep { point().step(registration.service, registration: registration.place) }
    return try thread.making(frame, at: step) { () throws(InjectionError) in
      do {
        return try runInitializer(keepsValue: keepsValue, body)
      } catch {
        throw InjectionError.wrapping(error, thrownBy: step())
      }
    }
  }

  /// What a registration's decorators make of a new value, which is left for its completions.
  func finishedValue<Value>(
    of registration: RegistrationStorage, on thread: CurrentThread, at point: () -> InjectionPoint,
    _ make: () throws -> Value
  ) throws -> Value {
    if !registration.hasWorkToDoAfterInitializer { return try make() }
    let value = try registration.decorated(try make(), Resolver(point: point(), registry: self))
    registration.completeLater(value, on: thread, at: point())
    return value
  }
}

extension CurrentThread {
  /// Notes that the initializer that runs, if one does, has asked for a type.
  func observeDependency(on service: @autoclosure () -> Service) {
    innermostRegistration?.use { $0.observed.insert(service()) }
  }
}

extension InjectionError {
  /// What becomes of an error that an initializer threw: the same with one more step, or `.initializerFailed`.
  static func wrapping(_ error: any Error, thrownBy step: InjectionStep) -> InjectionError {
    switch error {
    case let error as InjectionError: error.asked(by: step)
    default: InjectionError(.initializerFailed, through: [step], underlying: error)
    }
  }
}

/// The access of an initializer to its dependencies: the registry, and the point that the value is for.
///
/// ```swift
/// registry.register(Network.self) { resolver in
///   Network(clock: try resolver.resolve(), name: resolver.point.propertyName)
/// }
/// ```
///
/// It is valid while the initializer runs.
public struct Resolver {
  /// The property that the value will go to, and its container.
  public let point: InjectionPoint
  /// The registry that answers: the one that was asked, except for a value that an outer registry keeps and shares,
  /// whose dependencies come from there.
  public let registry: InitializerRegistry

  @usableFromInline init(point: InjectionPoint, registry: InitializerRegistry) {
    self.point = point
    self.registry = registry
  }

  /// Returns a dependency, as ``InitializerRegistry/resolve(_:named:in:)`` does.
  @inlinable public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try registry.resolve(type, named: name, in: container)
  }

  /// Returns the value of a declared key, as ``InitializerRegistry/resolve(_:named:in:)`` of a key does.
  @inlinable public func resolve<Value>(
    _ key: InjectionKey<Value>, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try registry.resolve(key, named: name, in: container)
  }

  /// Returns one value from each registration of a type, as ``InitializerRegistry/resolveAll(_:)`` does.
  public func resolveAll<Value>(_ type: Value.Type = Value.self) throws(InjectionError) -> [Value] {
    try registry.resolveAll(type)
  }
}
