internal import Support

/// The origin of an ``ArgumentFactory``.
@usableFromInline struct FactorySource: Sendable {
  let record: RegistrationRecord
  /// The link to the registry that provided the factory, weak if a registry may keep the factory.
  let link: RegistryLink
  /// The name with which the factory was requested.
  let requestedName: String?

  /// Puts the value that the factory keeps for the arguments in memory, or else a new value, and calls the hooks.
  ///
  /// - Parameter arguments: The arguments; nil if the factory keeps no value for them, because an argument isn't equal to
  ///   itself, or because the factory keeps no values at all.
  @usableFromInline func putValue(
    in memory: ValueMemory, _ type: any Any.Type, for arguments: AnyHashable? = nil, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    var request = Request(type, record.service.key, named: requestedName)
    // The value's objects hold their registry as the factory does.
    request.isFromKept = link.isWeak
    guard let asked = link.registry else {
      throw InjectionError(
        .notRegistered, through: [request.step(record)], advice: link.advice(ifGoneFor: "this factory"))
    }
    // A shared value gets its dependencies from the registry that keeps the value.
    let registry = record.lifetime.isShared ? asked.owner(of: record) : asked
    let thread = CurrentThread.current
    func putNew(gate: UInt? = nil) throws(InjectionError) {
      try registry.make(request, Borrowed(record), in: memory, gate: gate, on: thread) {
        try make(Resolver(request, registry))
      }
    }
    try thread.resolving(memory, of: type) { () throws(InjectionError) in
      if let arguments, record.makesKept {
        let values = record.factoryValues ?? graphValues(in: registry, on: thread)
        try values.with(arguments, type, of: record, in: registry) { kept throws(InjectionError) in
          let isPut = try registry.putKeptValue(memory, of: kept, record, request, on: thread, make: putNew)
          // A factory still makes values after its registration was withdrawn, but it keeps none.
          if !isPut { try putNew() }
        }
      } else {
        try putNew()
      }
      if record.hooks.areUsed || asked.hooks.areUsed || registry.hooks.areUsed {
        asked.callHooks(memory, of: Match(record: record, owner: registry), at: request.point)
      }
      return true
    }
  }

  /// Returns the values that the thread's resolution keeps for the factory.
  private func graphValues(in registry: InitializerRegistry, on thread: CurrentThread) -> FactoryValues {
    let cell = thread.resolution.sharedCell(of: record, for: registry) {
      ValueCell(FactoryValues.self) { $0.put(FactoryValues()) }
    }
    return withExtendedLifetime(cell) { $0.memory.value() }
  }
}
