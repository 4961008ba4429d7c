// The shortest way from a request to a value. One look finds a kept value and copies it, under the readers' lock and with
// nothing retained, or it finds an instance or an initializer that has only to be run (benchmarks: "resolve a singleton",
// "resolve a unique"). Whatever takes more goes on in `InitializerRegistry+Resolve.swift` with the registration that the
// look found.
//
// Only the first function knows the value's type, and is compiled where the type is known; the others are compiled once.

extension InitializerRegistry {
  @inline(__always) @inlinable func resolve<Value>(
    _ service: Service, named name: String?, in container: AnyObject?
  ) throws(InjectionError) -> Value {
    var value: Value?
    let match = try supply(service, named: name.map { .known($0) } ?? .none, in: container) { address in
      value = address.assumingMemoryBound(to: Value.self).pointee
    } orMake: { registration, registry, container throws in
      value = try registration.newValue(of: Value.self) {
        Resolver(point: InjectionPoint(registration.service, named: name, in: container), registry: registry)
      }
    }
    guard let value else { return try resolve(service, named: name, in: container, from: match) }
    if let match { announce(value, of: match, named: name, in: container) }
    return value
  }

  /// Supplies a request with what takes one look: the value that the winning registration keeps or, if it makes each anew, what
  /// its initializer makes.
  ///
  /// It knows nothing of the value's type: what does is in the two closures, which are compiled where the type is known.
  ///
  /// - Parameters:
  ///   - copy: Copies the value from where it is kept.
  ///   - make: Runs the registration's initializer, with the registry and the container of the request.
  /// - Returns: The registration that was found, if neither was called, or if a hook that was added meanwhile wants to hear
  ///   of the value.
  @usableFromInline func supply(
    _ service: Service, named name: RequestedName, in container: AnyObject?, copying copy: (UnsafeRawPointer) -> Void,
    orMake make: RegistrationStorage.Initialize
  ) throws(InjectionError) -> Match? {
    let thread = ThreadState.current
    switch look(for: service, named: name, inContainer: container != nil, on: thread, copying: copy) {
    case .copied: return nil
    case .other(let match): return match
    case .initializer(let registration): return try run(make, of: registration, named: name, in: container, on: thread)
    }
  }

  /// Apart, so that a value that is kept doesn't pay for it.
  @inline(never) private func run(
    _ make: RegistrationStorage.Initialize, of registration: RegistrationStorage, named name: RequestedName,
    in container: AnyObject?, on thread: CurrentThread
  ) throws(InjectionError) -> Match? {
    try makeAtOnce(
      make, of: registration, asker: .init(container: container.map { ObjectIdentifier($0) }, name: name.text),
      gate: nil,
      in: container, on: thread, at: { InjectionPoint(registration.service, named: name.text, in: container) })
    if isHeard(registration) { return Match(registration, .exact, of: self) }
    thread.completeResolution()
    return nil
  }

  /// Takes a registration's instance or runs its initializer.
  @inline(__always) func makeAtOnce(
    _ make: RegistrationStorage.Initialize, of registration: RegistrationStorage, asker: ResolutionFrame.Asker,
    gate: GateID?, in container: AnyObject?, on thread: CurrentThread, at point: () -> InjectionPoint
  ) throws(InjectionError) {
    // An instance is there, so it needs no frame.
    if registration.isInstance, (try? make(registration, self, container)) != nil { return }
    try runInitializer(of: registration, asker: asker, gate: gate, on: thread, at: point) {
      try make(registration, self, container)
    }
  }

  /// Whether a hook wants to hear of a registration's value; without one, of the value of a property's own expression.
  func isHeard(_ registration: RegistrationStorage?) -> Bool {
    hooks.areUsed || registration?.hooks.areUsed ?? false
  }

  @usableFromInline func announce<Value>(_ value: Value, of match: Match, named name: String?, in container: AnyObject?)
  {
    let registration = match.registration
    announce(value, of: registration, at: InjectionPoint(registration.service, named: name, in: container))
  }

  /// Ends a resolution: calls the hooks, and what waits for the end.
  func announce<Value>(
    _ value: Value, of registration: RegistrationStorage?, at point: @autoclosure () -> InjectionPoint
  ) {
    registration?.hooks.callAll(value, at: point())
    hooks.callAll(value, at: point())
    ThreadState.current.completeResolution()
  }

  /// What one look has found.
  enum Look {
    /// A kept value, which was copied.
    case copied
    /// A registration whose initializer has only to be run.
    case initializer(RegistrationStorage)
    /// Another registration, or none as far as one look tells; or a hook wants to hear of the value.
    case other(Match?)
  }

  /// Looks once in each table for the registration that wins, and copies the value that it keeps.
  @inline(__always) func look(
    for service: Service, named name: RequestedName, inContainer: Bool, on thread: CurrentThread,
    copying copy: (UnsafeRawPointer) -> Void
  ) -> Look {
    if hooks.areUsed || thread.isTraced { return .other(nil) }
    var (isCopied, makesAtOnce) = (false, false)
    let match = winner(for: service, named: name, inContainer: inContainer, on: thread) {
      if $0.hooks.areUsed { return false }
      makesAtOnce = $0.makesAtOnce
      isCopied = !makesAtOnce && $0.kept.readPublished(copy)
      return isCopied
    }
    if isCopied || makesAtOnce { thread.observeDependency(on: service) }
    if isCopied { return .copied }
    if makesAtOnce, let registration = match?.registration { return .initializer(registration) }
    return .other(match)
  }
}
