internal import Synchronization

// The one way from a request to a value. A request names a point; the value is put in memory whose type only the code
// at the two ends knows: the functions that are generic here, and the closure that makes the value.
//
//   fulfill   a request from a caller: find, supply, announce, and end the resolution
//   supply    find the registration that wins, and put the value in memory that its scope keeps, or that `make` makes
//   make      run the initializer with a frame
//
// First reads of properties call `supply` too, since they announce a value when it is stored.

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
    try ValueMemory.value { memory throws(InjectionError) in
      try resolve(into: memory, Value.self, nil, named: name, in: container)
    }
  }

  /// Returns the value of a declared key: the most specific registration's for it, else what the key's own initializer
  /// makes.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - name: The name to ask with, as a property would with its own.
  ///   - container: The object to ask for, so that registrations for its class count.
  /// - Throws: As ``resolve(_:named:in:)-(Value.Type,_,_)``, but not `.notRegistered` for the key itself.
  @inlinable public func resolve<Value>(
    _ key: InjectionKey<Value>, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try resolve(into: memory, Value.self, key, named: name, in: container)
    }
  }

  /// Unavailable: the type has to be known.
  @available(
    *, unavailable, message: "Say which type: 'try resolve(Clock.self)', or 'let clock: Clock = try resolve()'."
  )
  public func resolve() throws(InjectionError) { fatalError() }

  @usableFromInline func resolve(
    into memory: ValueMemory, _ type: any Any.Type, _ key: InjectionKeys?, named name: String?, in container: AnyObject?
  ) throws(InjectionError) {
    try fulfill(Request(type, key, named: name.map { Alias($0) }, in: container), in: memory)
  }

  /// Returns one value from each registration of a type, in the order of registration.
  ///
  /// Registrations for a class of containers are left out, and so are those of parents that a registration with the same
  /// key overrides. Without any the result is empty.
  ///
  /// - Throws: What the first initializer to fail threw, as ``resolve(_:named:in:)-(Value.Type,_,_)``.
  public func resolveAll<Value>(_ type: Value.Type = Value.self) throws(InjectionError) -> [Value] {
    let service = Service(Value.self)
    var values: [Value] = []
    try resolvingTogether { () throws(InjectionError) in
      for match in reachable where match.record.container == nil && !match.record.hasArguments {
        guard match.record.serves(service) else { continue }
        values.append(
          try ValueMemory.value { memory throws(InjectionError) in
            try fulfill(Request(Value.self), in: memory, from: match)
          })
      }
    }
    return values
  }

  /// The registrations of this registry and its parents, without those that are overridden, in order.
  package var reachable: [Match] {
    var keys: Set<RegistrationRecord.Key> = []
    return lineage.flatMap { owner in owner.registrations.map { Match(record: $0, owner: owner) } }
      .filter { keys.insert($0.record.key).inserted }
      .sorted { $0.record.age < $1.record.age }
  }

  /// Runs `body` as one resolution, whose values of scope `.graph` are shared by all that is resolved in it.
  package func resolvingTogether(_ body: () throws(InjectionError) -> Void) throws(InjectionError) {
    let thread = CurrentThread.current
    try thread.resolving { () throws(InjectionError) in
      // What runs in it is current as before.
      try thread.with(thread.registry, isKept: thread.isMakingKept, body)
    }
  }

  /// Puts the value for a request in memory and calls the hooks; nil for an Optional that nothing serves.
  ///
  /// - Parameter match: The registration to take; by default, the search's winner.
  func fulfill(
    _ request: borrowing Request, in memory: ValueMemory, from match: Match? = nil, with arguments: ArgumentBox? = nil
  ) throws(InjectionError) {
    let thread = CurrentThread.current
    try thread.resolving(memory, of: request.type) { () throws(InjectionError) in
      let supplied =
        if let match {
          try supply(memory, request, match.record, of: Borrowed(match.owner), arguments: arguments, on: thread)
        } else { try supply(memory, request, on: thread) }
      switch supplied {
      case .value: break
      case .heardValue(let record): announce(memory, of: record, at: request.point)
      case .nothing:
        guard let type = request.type as? any OptionalValue.Type else { throw missing(request) }
        type.putNil(in: memory)
      }
    }
  }

  /// The outcome of a request.
  enum Supply {
    case value
    /// A value to be announced to hooks.
    case heardValue(RegistrationRecord)
    case nothing
  }

  /// Puts the value for a request in memory, if anything serves it.
  ///
  /// - Parameters:
  ///   - propertyGate: The gate of the property that asks.
  ///   - isKept: Whether a registry keeps the object that asks.
  func supply(
    _ memory: ValueMemory, _ request: borrowing Request, propertyGate: UInt? = nil, isKept: Bool = false,
    on thread: CurrentThread
  ) throws(InjectionError) -> Supply {
    let isHeard = hooks.areUsed || RequestRecorder.isUsed
    let found = find(request, Search(copying: isHeard ? nil : memory))
    if isWatched.load(ordering: .relaxed), !found.isNothing { reportRequest(request) }
    switch consume found {
    case .copied: return .value
    case .match(let record, let owner):
      return try supply(
        memory, request, record, of: owner, propertyGate: propertyGate, isKept: isKept, on: thread)
    case .nothing:
      if RequestRecorder.isUsed { RequestRecorder.note(request.service, servedBy: nil, on: thread) }
      return .nothing
    }
  }

  /// Puts the value of a registration in memory: what its scope keeps, or what its initializer makes now.
  func supply(
    _ memory: ValueMemory, _ request: borrowing Request, _ record: RegistrationRecord,
    of owner: Borrowed<InitializerRegistry>, arguments: ArgumentBox? = nil, propertyGate: UInt? = nil,
    isKept: Bool = false, on thread: CurrentThread
  ) throws(InjectionError) -> Supply {
    if RequestRecorder.isUsed {
      let provider = record.keeping == .shared ? owner.object : self
      RequestRecorder.note(request.service, servedBy: (record, provider), on: thread)
    }
    if record.service.id != request.id {
      try supplyConverted(
        memory, request, record, of: owner, arguments: arguments, propertyGate: propertyGate, isKept: isKept, on: thread
      )
    } else if let arguments {
      if record.keeping == .shared {
        try owner.object.supplyVariant(memory, request, record, arguments, on: thread)
      } else {
        try make(memory, record, request, arguments: arguments, isKept: record.keeping == .graph, on: thread)
      }
    } else {
      switch record.keeping {
      case .nothing: try make(memory, record, request, propertyGate: propertyGate, isKept: isKept, on: thread)
      case .graph: try supplyGraphValue(memory, record, request, propertyGate: propertyGate, on: thread)
      case .shared:
        try owner.object.supplyKeptValue(memory, record, record.kept, request, propertyGate: propertyGate, on: thread)
      }
    }
    return hooks.areUsed || record.hooks.areUsed ? .heardValue(record) : .value
  }

  func supplyKeptValue(
    _ memory: ValueMemory, _ record: RegistrationRecord, _ kept: KeptValue?, _ request: borrowing Request,
    arguments: ArgumentBox? = nil, propertyGate: UInt? = nil, on thread: CurrentThread
  ) throws(InjectionError) {
    if record.isAsync, kept?.copyIfReady(to: memory) ?? false { return }
    try kept?.supply(
      memory,
      for: { FrameSummary(type: ErasedType(record.service.type), record: record, located: request.step(record)) },
      on: thread
    ) { gate throws(InjectionError) in
      try make(
        memory, record, request, arguments: arguments, gate: gate, propertyGate: propertyGate, isKept: true, on: thread)
    }
  }

  @inline(never) private func supplyGraphValue(
    _ memory: ValueMemory, _ record: RegistrationRecord, _ request: borrowing Request, propertyGate: UInt?,
    on thread: CurrentThread
  ) throws(InjectionError) {
    if thread.fields.resolution?.copyGraphValue(of: record, for: self, to: memory) ?? false { return }
    try make(memory, record, request, propertyGate: propertyGate, isKept: true, on: thread)
    thread.resolution.keepGraphValue(memory, of: record, for: self)
  }

  /// Puts the value of a registration of another type in memory: an instance that has the type asked for as a supertype, or
  /// what the Optional that is asked for wraps.
  @inline(never) private func supplyConverted(
    _ memory: ValueMemory, _ request: borrowing Request, _ record: RegistrationRecord,
    of owner: Borrowed<InitializerRegistry>, arguments: ArgumentBox?, propertyGate: UInt?, isKept: Bool,
    on thread: CurrentThread
  ) throws(InjectionError) {
    if let optional = request.type as? any OptionalValue.Type {
      let inner = request.forWrapped(optional.wrappedType)
      let cell = ValueCell(optional.wrappedType)
      _ = try supply(
        cell.memory, inner, record, of: owner, arguments: arguments, propertyGate: propertyGate, isKept: isKept,
        on: thread)
      cell.gate.settle(as: CreationGate.ready)
      return optional.putSome(cell.memory, in: memory)
    }
    if let instance = record.instance, memory.put(instance, as: request.type) { return }
    trap("What is registered at \(record.place) isn't a \(TypeName.of(request.type)). \(reportThis)")
  }

  /// Runs a registration's initializer, with this registry as the current one and no lock held.
  ///
  /// - Parameters:
  ///   - gate: Where other threads wait for the value that the registration keeps.
  ///   - isKept: Whether a registry keeps the value, or the object that asks.
  ///
  /// Never inlined: the frame counts no references, and a caller holds what it passes until the call returns.
  @inline(never) func make(
    _ memory: ValueMemory, _ record: RegistrationRecord, _ request: borrowing Request, arguments: ArgumentBox? = nil,
    gate: UInt? = nil, propertyGate: UInt? = nil, isKept: Bool, on thread: CurrentThread
  ) throws(InjectionError) {
    // An instance exists already and asks for nothing.
    if record.isInstance, (try? record.making.initializer(memory, request, self, nil)) != nil { return }
    if record.isAsync {
      throw InjectionError(.notReady, through: [request.step(record)], advice: record.adviceToAwait)
    }
    if record.isDefault && context != .live { reportLiveInitializer(of: record, at: request) }
    var frame = Frame(type: record.service.type)
    frame.record = Borrowed(record)
    frame.registry = Borrowed(self)
    frame.isKept = isKept || thread.isMakingKept
    frame.gate = gate
    frame.propertyGate = propertyGate
    frame.asker = request.asker
    frame.asker.hasArguments = arguments != nil
    if let obstacle = thread.obstacle(to: frame) {
      throw thread.error(obstacle, to: frame, at: request.step(record))
    }
    thread.fields.frames.append(frame)
    defer { thread.fields.frames.removeLast() }
    do {
      try record.making.initializer(memory, request, self, arguments)
      if record.hasCompletions {
        record.complete(memory, at: request.point, in: self, isKept: frame.isKept, thread.resolution)
      }
    } catch { throw InjectionError.wrapping(error, thrownBy: request.step(record)) }
  }
}

extension RegistrationRecord {
  /// The advice for a value that isn't there because its initializer is async.
  fileprivate var adviceToAwait: String {
    if lifetime.isShared { return "Await it first: \(service.callThatAwaits)." }
    return """
      Its scope is .\(scopeName), which keeps no value: await it wherever you need one, with \(service.callThatAwaits). To read it after it \
      was awaited once, register it with a scope that keeps it, such as .singleton.
      """
  }
}
