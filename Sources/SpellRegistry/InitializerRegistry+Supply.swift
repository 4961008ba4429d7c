// The shortest way from a request to a value. One look finds a kept value and copies it, under the readers' lock and with
// nothing retained, or it finds an instance or an initializer that has only to be run (benchmarks: "resolve a singleton",
// "resolve a unique"). Whatever takes more goes on in `InitializerRegistry+Resolve.swift` with the registration that the
// look found.
//
// Only the first function knows the value's type, and is compiled where the type is known. The others are compiled once: they
// pass on the memory that the value goes to, which the initializer, a closure, knows the type of.

extension InitializerRegistry {
  @inline(__always) @inlinable func resolve<Value>(
    _ service: Service, named name: String?, in container: AnyObject?
  ) throws(InjectionError) -> Value {
    try ValueMemory.value(of: Value.self) { memory throws(InjectionError) in
      let supply = try supply(memory, of: service, named: name.map { .known($0) } ?? .none, in: container) { kept in
        memory.put(kept.value(as: Value.self))
      }
      switch supply {
      case .value: break
      case .heardValue(let registration):
        announce(memory.value(as: Value.self), of: registration, service: service, named: name, in: container)
      case .nothing(let match):
        let value: Value = try resolve(service, named: name, in: container, from: match)
        memory.put(value)
      }
    }
  }

  /// Looks for a registration once, and puts a value in memory: the value that the registration keeps, or a new one from its
  /// initializer.
  ///
  /// - Parameter copy: Copies a value to the memory from where it is kept.
  @usableFromInline func supply(
    _ memory: ValueMemory, of service: Service, named name: RequestedName, in container: AnyObject?,
    copying copy: (ValueMemory) -> Void
  ) throws(InjectionError) -> Supply {
    let thread = ThreadState.current
    switch look(for: service, named: name, inContainer: container != nil, on: thread, copying: copy) {
    case .copied: return .value
    case .other(let match): return .nothing(match)
    case .initializer(let registration):
      return try supply(memory, by: registration, named: name, in: container, on: thread)
    }
  }

  /// Apart, so that a value that is kept doesn't pay for it.
  @inline(never) private func supply(
    _ memory: ValueMemory, by registration: RegistrationStorage, named name: RequestedName,
    in container: AnyObject?, on thread: CurrentThread
  ) throws(InjectionError) -> Supply {
    try initialize(
      memory, by: registration, asker: .init(container: container.map { ObjectIdentifier($0) }, name: name.text),
      gate: nil, on: thread, at: { InjectionPoint(registration.service, named: name.text, in: container) })
    if isHeard(registration) { return .heardValue(registration) }
    thread.completeResolution()
    return .value
  }

  /// Puts a registration's instance in memory, or what its initializer makes.
  @inline(__always) func initialize(
    _ memory: ValueMemory, by registration: RegistrationStorage, asker: consuming ResolutionFrame.Asker,
    gate: GateID?, on thread: CurrentThread, at point: () -> InjectionPoint
  ) throws(InjectionError) {
    // An instance is there, so it needs no frame, and asks for nothing.
    if registration.isInstance,
      (try? registration.making.initializer(memory, { registration.misused(for: registration.type) })) != nil
    {
      return
    }
    try runInitializer(of: registration, asker: asker, gate: gate, on: thread, at: point) {
      try registration.making.initializer(memory) { Resolver(point: point(), registry: self) }
    }
  }

  /// Whether a hook wants to hear of a registration's value; without one, of the value of a property's own expression.
  func isHeard(_ registration: RegistrationStorage?) -> Bool {
    hooks.areUsed || registration?.hooks.areUsed ?? false
  }

  @usableFromInline func announce<Value>(
    _ value: Value, of registration: RegistrationStorage?, service: Service, named name: String?,
    in container: AnyObject?
  ) {
    announce(value, of: registration, at: InjectionPoint(service, named: name, in: container))
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
    copying copy: (ValueMemory) -> Void
  ) -> Look {
    if hooks.areUsed { return .other(nil) }
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

/// What the shortest way of a request or of a first read has led to.
@usableFromInline enum Supply {
  case value
  /// A value of which hooks that were added meanwhile want to hear; without a registration, the property's own expression's.
  case heardValue(RegistrationStorage?)
  /// Nothing, as it takes more; with the registration that was found, if one was.
  case nothing(Match?)
}
