internal import Support

/// The registration of an ``ArgumentFactory``, and the registries that provide the factory's dependencies.
@usableFromInline struct FactorySource: Sendable {
  fileprivate let record: RegistrationRecord
  /// The link to the registry that provided the factory.
  fileprivate let link: RegistryLink
  /// The registry that contains the registration; nil if the factory keeps no values between resolutions.
  ///
  /// The owner is the registry in `link`, which provided the factory, or a parent of that registry. It therefore exists
  /// for at least as long as the registry in `link`.
  fileprivate let owner: RegistryReference?
  /// The name with which the factory was requested.
  fileprivate let requestedName: String?

  /// Puts a new value in memory, and calls the hooks.
  @usableFromInline func put(
    in memory: ValueMemory, _ type: any Any.Type, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    try call(in: memory, type) { registry, thread throws(InjectionError) in
      try run(in: memory, type, registry, on: thread, make: make)
    }
  }

  /// Puts a value in memory, and calls the hooks.
  ///
  /// If a value is kept for the arguments, memory gets that value. Otherwise, memory gets a new value.
  ///
  /// - Parameter arguments: The arguments; nil if an argument isn't equal to itself, in which case no value is kept.
  func putKept(
    in memory: ValueMemory, _ type: any Any.Type, for arguments: AnyHashable?, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    if record.lifetime.isUnique { return try put(in: memory, type, make: make) }
    try call(in: memory, type) { asked, thread throws(InjectionError) in
      // A shared value gets its dependencies from the registry that keeps the value.
      let registry = record.lifetime.isShared ? owner?.target?.registry ?? asked : asked
      guard let arguments else { return try run(in: memory, type, registry, on: thread, make: make) }
      let new = { KeptValue(Service(type), record.lifetime, expiry: record.expiry, by: registry.clock) }
      let values = record.factoryValues ?? graphValues(in: registry, on: thread)
      try values.with(arguments, in: registry, make: new) { kept throws(InjectionError) in
        let isPut = try kept.putValue(
          memory, of: record.lifetime.isShared ? record : nil, in: registry, for: { request(type).step(record) },
          on: thread
        ) { gate throws(InjectionError) in
          try run(in: memory, type, registry, gate: gate, on: thread, make: make)
        }
        // A factory still makes values after its registration was withdrawn, but it keeps none.
        if !isPut { try run(in: memory, type, registry, on: thread, make: make) }
      }
    }
  }

  /// Runs one call of the factory and then the hooks, as part of the resolution in progress or as a new resolution.
  private func call(
    in memory: ValueMemory, _ type: any Any.Type,
    _ body: (InitializerRegistry, CurrentThread) throws(InjectionError) -> Void
  ) throws(InjectionError) {
    guard let registry = link.registry else {
      throw InjectionError(
        .notRegistered, through: [request(type).step(record)], advice: RegistryLink.advice(ifGoneFor: "this factory"))
    }
    let thread = CurrentThread.current
    try thread.resolving(memory, of: type) { () throws(InjectionError) in
      try body(registry, thread)
      guard record.hooks.areUsed || registry.hooks.areUsed else { return true }
      let point = request(type).point
      thread.callingHooks {
        record.callHooks(memory, type, at: point, on: thread)
        registry.hooks.call(memory, type, at: point)
      }
      return true
    }
  }

  /// Returns the values that the thread's resolution keeps for the factory.
  private func graphValues(in registry: InitializerRegistry, on thread: CurrentThread) -> FactoryValues {
    let resolution = thread.resolution
    if let cell = resolution.graphCell(of: record, for: registry) { return cell.memory.value() }
    return ValueMemory.value { memory in
      memory.put(FactoryValues())
      resolution.keepGraphValue(memory, FactoryValues.self, of: record, for: registry)
    }
  }

  /// Runs the factory's closure in a frame, with no lock held.
  private func run(
    in memory: ValueMemory, _ type: any Any.Type, _ registry: InitializerRegistry, gate: UInt? = nil,
    on thread: CurrentThread, make: (Resolver) throws -> Void
  ) throws(InjectionError) {
    let request = request(type)
    try registry.make(request, record, in: memory, gate: gate, on: thread) {
      try make(Resolver(request, registry))
    }
  }

  /// The request for a value of the factory, whose objects hold their registry as the factory does.
  private func request(_ type: any Any.Type) -> Request {
    var request = Request(type, record.service.key, named: requestedName)
    request.isFromKept = link.isWeak
    return request
  }
}

extension InitializerRegistry {
  /// Puts the factory of a registration in memory.
  ///
  /// A factory makes no value until it is called, so this function needs no frame.
  ///
  /// - Parameter isKept: Whether a registry may keep the factory, which then holds this registry weakly.
  @inline(never) func putFactory(
    in memory: ValueMemory, _ request: Request, _ record: RegistrationRecord,
    of owner: Borrowed<InitializerRegistry>, isKept: Bool
  ) {
    guard case .factory(let put, _) = record.initializer.kind else { return }
    if record.isDefault && context == .test { reportLiveInitializer(of: record, at: request) }
    let owner = record.factoryValues == nil ? nil : owner.object.weakReference
    put(
      memory,
      FactorySource(
        record: record, link: .of(self, weakly: isKept), owner: owner, requestedName: request.requestedName))
  }
}
