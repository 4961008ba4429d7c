internal import Support

/// The origin of an ``ArgumentFactory``.
@usableFromInline struct FactorySource: Sendable {
  let record: RegistrationRecord
  /// The link to the registry that provided the factory, weak if a registry may keep the factory.
  let link: RegistryLink
  /// The name with which the factory was requested.
  let requestedName: String?

  /// Puts a new value in memory, and calls the hooks.
  @usableFromInline func putValue(
    in memory: ValueMemory, _ type: any Any.Type, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    try call(in: memory, type) { request, registry, thread throws(InjectionError) in
      try putNew(in: memory, request, registry, on: thread, make: make)
    }
  }

  /// Puts the value that is kept for the arguments in memory, or else a new value, and calls the hooks.
  ///
  /// - Parameter arguments: The arguments; nil if an argument isn't equal to itself, in which case no value is kept.
  func putValue(
    in memory: ValueMemory, _ type: any Any.Type, for arguments: AnyHashable?, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    guard let arguments, record.makesKept else { return try putValue(in: memory, type, make: make) }
    try call(in: memory, type) { request, registry, thread throws(InjectionError) in
      let values = record.factoryValues ?? graphValues(in: registry, on: thread)
      try values.with(arguments, type, of: record, in: registry) { kept throws(InjectionError) in
        let isPut = try registry.putKeptValue(memory, of: kept, record, request, on: thread) {
          gate throws(InjectionError) in
          try putNew(in: memory, request, registry, gate: gate, on: thread, make: make)
        }
        // A factory still makes values after its registration was withdrawn, but it keeps none.
        if !isPut { try putNew(in: memory, request, registry, on: thread, make: make) }
      }
    }
  }

  /// Runs one call of the factory and then the hooks, as part of the resolution in progress or as a new resolution.
  @inline(__always) private func call(
    in memory: ValueMemory, _ type: any Any.Type,
    _ body: (borrowing Request, InitializerRegistry, CurrentThread) throws(InjectionError) -> Void
  ) throws(InjectionError) {
    var request = Request(type, record.service.key, named: requestedName)
    // The value's objects hold their registry as the factory does.
    request.isFromKept = link.isWeak
    guard let asked = link.registry else {
      throw InjectionError(
        .notRegistered, through: [request.step(record)], advice: link.advice(ifGoneFor: "this factory"))
    }
    let thread = CurrentThread.current
    try thread.resolving(memory, of: type) { () throws(InjectionError) in
      try body(request, record.lifetime.isShared ? asked.owner(of: record) : asked, thread)
      if record.hooks.areUsed || asked.mayCallHooks {
        asked.callHooks(memory, of: Match(record: record, owner: asked.owner(of: record)), at: request.point)
      }
      return true
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
