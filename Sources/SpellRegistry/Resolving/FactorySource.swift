internal import Support

/// The origin of an ``ArgumentFactory``.
@usableFromInline struct FactorySource: Sendable {
  let record: RegistrationRecord
  /// The link to the registry that provided the factory, weak if a registry may keep the factory.
  let link: RegistryLink
  /// The name with which the factory was requested.
  let requestedName: String?

  /// Makes one call of the factory: puts a value in memory, and calls the hooks.
  ///
  /// The call is part of the resolution in progress or, if there is none, a resolution of its own.
  ///
  /// - Parameter arguments: The arguments for which a value is kept; nil to make a new value.
  @usableFromInline func putValue(
    in memory: ValueMemory, _ type: any Any.Type, for arguments: [AnyHashable]? = nil, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    // The value's objects hold their registry as the factory does.
    let request = Request(type, record.service.key, named: requestedName, isFromKept: link.isWeak)
    guard let asked = link.registry else {
      throw InjectionError(
        .notRegistered, through: [request.step(record)], advice: link.advice(ifGoneFor: "this factory"))
    }
    let thread = CurrentThread.current
    try thread.resolving(memory, of: type) { () throws(InjectionError) in
      let registry = record.maker(for: asked, ownedBy: asked.owner(of: record))
      do throws(InjectionError) {
        if let arguments, record.makesKept {
          try putKept(in: memory, request, registry, for: arguments, on: thread, make: make)
        } else {
          try putNew(in: memory, request, registry, on: thread, make: make)
        }
      } catch { throw asked.explained(error, madeBy: record, in: registry) }
      if asked.mayCallHooks(of: record) {
        asked.callHooks(memory, of: Match(record: record, owner: asked.owner(of: record)), at: request.point)
      }
      return true
    }
  }

  /// Puts the value that is kept for the arguments in memory, or else a new value.
  @inline(never) private func putKept(
    in memory: ValueMemory, _ request: borrowing Request, _ registry: InitializerRegistry, for arguments: [AnyHashable],
    on thread: CurrentThread, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    let values = record.factoryValues ?? graphValues(in: registry, on: thread)
    try values.with(AnyHashable(arguments), request.type, of: record, in: registry) { kept throws(InjectionError) in
      let isPut = try registry.putKeptValue(memory, of: kept, record, request, on: thread) {
        gate throws(InjectionError) in
        try putNew(in: memory, request, registry, gate: gate, on: thread, make: make)
      }
      // A factory still makes values after its registration was withdrawn, but it keeps none.
      if !isPut { try putNew(in: memory, request, registry, on: thread, make: make) }
    }
  }

  @inline(never) private func putNew(
    in memory: ValueMemory, _ request: borrowing Request, _ registry: InitializerRegistry, gate: UInt? = nil,
    on thread: CurrentThread, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    try registry.make(request, Borrowed(record), in: memory, gate: gate, on: thread) {
      try make(Resolver(request, registry))
    }
  }

  /// Returns the values that the thread's resolution keeps for the factory.
  private func graphValues(in registry: InitializerRegistry, on thread: CurrentThread) -> FactoryValues {
    let cell = thread.resolution.sharedCell(of: Provider(record, in: registry)) {
      ValueCell(FactoryValues.self) { $0.put(FactoryValues()) }
    }
    return withExtendedLifetime(cell) { $0.memory.value() }
  }
}
