internal import Synchronization

// Every request takes the following path, unless it awaits an async initializer. The functions pass on untyped memory
// for the value. Only the generic functions of this file and the closure that makes the value know the value's type.
//
//   resolve          a request from a caller: put the value in memory, call the hooks, and end the resolution
//   putValue         find the registration for the request, and put the registration's value in memory
//   putScopedValue   put the value that the registration's scope keeps, or a new one, in memory
//   make             run the initializer inside a frame
//
// The first read of a property calls `putValue` directly, because a property stores its value before its hooks run.

extension InitializerRegistry {
  /// Returns a value from the most specific registration: the value that the scope keeps, or else a new value.
  ///
  /// - Parameters:
  ///   - type: The type of the value. For an Optional type for which nothing is registered, the result is nil.
  ///   - name: The name to use in the request, like the name of a property that requests a value.
  ///   - container: The object that the value is for. Registrations that are limited to the object's class apply, too.
  /// - Throws: `.notRegistered`, `.cycle`, `.initializerFailed`, `.wrongIsolation`, `.notReady` or `.stackExhausted`,
  ///   with the path from this type to the type at fault.
  @inlinable public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try resolve(into: memory, Value.self, nil, named: name, in: container)
    }
  }

  /// Returns the value of a declared key, from the most specific registration for the key or else from the key's own
  /// initializer.
  ///
  /// - Parameters:
  ///   - key: The declared key whose value is requested.
  ///   - name: The name to use in the request, like the name of a property that requests a value.
  ///   - container: The object that the value is for. Registrations that are limited to the object's class apply, too.
  /// - Throws: The errors of ``resolve(_:named:in:)-(Value.Type,_,_)``, except `.notRegistered` for the key itself.
  @inlinable public func resolve<Value>(
    _ key: InjectionKey<Value>, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try resolve(into: memory, Value.self, key, named: name, in: container)
    }
  }

  @usableFromInline func resolve(
    into memory: ValueMemory, _ type: any Any.Type, _ key: InjectionKeys?, named name: String?, in container: AnyObject?
  ) throws(InjectionError) {
    try resolve(Request(type, key, named: name, in: container), into: memory)
  }

  /// Returns one value from each registration of a type, in the order of registration.
  ///
  /// The result leaves out registrations that are limited to a class of containers. It also leaves out a parent's
  /// registration if a nearer registry overrides it with a registration for exactly the same requests. The result may
  /// be empty.
  ///
  /// - Throws: The error that ``resolve(_:named:in:)-(Value.Type,_,_)`` throws for the first initializer that fails.
  public func resolveAll<Value>(_ type: Value.Type = Value.self) throws(InjectionError) -> [Value] {
    try cells(of: Value.self).map { $0.value() }
  }

  func cells(of type: any Any.Type) throws(InjectionError) -> [ValueCell] {
    let service = Service(type)
    var cells: [ValueCell] = []
    try Self.resolvingTogether { () throws(InjectionError) in
      for match in reachable where match.record.container == nil && match.record.isRegistered(for: service) {
        let cell = ValueCell(type)
        guard try resolve(Request(type), into: cell.memory, from: match) else { continue }
        cell.gate.settle(as: CreationGate.ready)
        cells.append(cell)
      }
    }
    return cells
  }

  /// The registrations of this registry and its parents, except overridden registrations, in the order of registration.
  package var reachable: [Match] {
    lineage.flatMap { owner in
      owner.registrations.filter { !isOverridden($0, of: owner) }.map { Match(record: $0, owner: owner) }
    }
    .sorted { $0.record.age < $1.record.age }
  }

  /// Returns whether a nearer registry than `owner` has a registration for exactly the same requests as a registration
  /// of `owner`.
  func isOverridden(_ record: RegistrationRecord, of owner: InitializerRegistry) -> Bool {
    lineage.prefix { $0 !== owner }.contains { nearer in nearer.table.read { $0.registration(like: record) != nil } }
  }

  /// Runs `body` in a single resolution, so that all requests in `body` share the values of scope `.graph`.
  package static func resolvingTogether(_ body: () throws(InjectionError) -> Void) throws(InjectionError) {
    let thread = CurrentThread.current
    try thread.resolving { () throws(InjectionError) in
      // `with` pushes a frame. While the frame exists, each request in `body` joins the resolution instead of starting
      // another resolution. The frame doesn't change which registry is current.
      try thread.with(thread.registry, isKept: thread.innermostIsKept, body)
      return false
    }
  }

  /// Puts the value for a request in memory, and calls the hooks.
  ///
  /// If the request is for an Optional type, and no registration matches, the function puts nil in memory.
  ///
  /// - Parameter match: The registration to use; nil to search for the registration.
  /// - Returns: Whether a value or nil was put in memory; false only if `match` was withdrawn after the search.
  @discardableResult func resolve(
    _ request: borrowing Request, into memory: ValueMemory, from match: Match? = nil
  ) throws(InjectionError) -> Bool {
    let thread = CurrentThread.current
    return try thread.resolving(memory, of: request.type) { () throws(InjectionError) in
      let result =
        if let match { try putValue(memory, request, from: match, on: thread) } else {
          try putValue(memory, request, on: thread)
        }
      switch result {
      case .value(let match): if let match { callHooks(memory, of: match, at: request.point) }
      case .nothing where match != nil: return false
      case .nothing(let optional):
        guard let optional else { throw missing(request) }
        optional.putNil(in: memory)
      }
      return true
    }
  }

  /// The result of putting a value in memory.
  enum PutResult {
    /// A value was put in memory. The value's registration is included if the caller has to call hooks.
    case value(callingHooksOf: Match?)
    /// No value was put in memory.
    ///
    /// If no registration matches a request for an Optional type, that type is included, so that the caller can use nil
    /// as the value.
    case nothing(Finding.OptionalType? = nil)
  }

  /// Finds the registration that is chosen for a request, and puts the registration's value in memory.
  ///
  /// - Parameter memory: The memory for a value of the requested type.
  /// - Returns: `.nothing` if no registration matches the request.
  func putValue(
    _ memory: ValueMemory, _ request: borrowing Request, on thread: CurrentThread
  ) throws(InjectionError) -> PutResult {
    let callsHooks = mayCallHooks || RequestRecorder.isUsed
    while true {
      let found = find(request, Search(deliveringTo: callsHooks ? nil : memory))
      if let reporter { reporter.report(request, isFound: !found.isNothing) }
      switch consume found {
      case .delivered: return .value(callingHooksOf: nil)
      case .match(let record, let owner):
        let result = try putScopedValue(memory, request, record, of: owner, on: thread)
        // If no value was put in memory, the registration was withdrawn after the search, so the loop searches again.
        if case .value = result { return result }
      case .nothing(let optional):
        if RequestRecorder.isUsed { RequestRecorder.note(request.service, servedBy: nil, on: thread) }
        return .nothing(optional)
      }
    }
  }

  /// Puts the value of a registration that was found before in memory.
  ///
  /// Never inlined, because each inlined copy of ``putScopedValue(_:_:_:of:on:)`` has 3 KB of code.
  ///
  /// - Returns: `.nothing` if the registration keeps its values and was withdrawn since.
  @inline(never) func putValue(
    _ memory: ValueMemory, _ request: borrowing Request, from match: Match, on thread: CurrentThread
  ) throws(InjectionError) -> PutResult {
    try putScopedValue(memory, request, match.record, of: Borrowed(match.owner), on: thread)
  }

  /// Puts a registration's value in `memory`: the value that the scope keeps, or a new value from the initializer.
  ///
  /// - Returns: `.nothing` if the registration keeps its values and was withdrawn after the caller found it.
  @inline(__always) private func putScopedValue(
    _ memory: ValueMemory, _ request: borrowing Request, _ record: RegistrationRecord,
    of owner: Borrowed<InitializerRegistry>, on thread: CurrentThread
  ) throws(InjectionError) -> PutResult {
    if RequestRecorder.isUsed { note(request, servedBy: Match(record: record, owner: owner.object), on: thread) }
    if record.service.id != request.id { return try putConvertedValue(memory, request, record, of: owner, on: thread) }
    switch record.retention {
    case .nothing: try make(memory, record, request, on: thread)
    case .graph: try putGraphValue(memory, record, request, on: thread)
    case .shared(let kept):
      do throws(InjectionError) {
        let registry = owner.object
        let isPut = try registry.putKeptValue(memory, of: kept, record, request, on: thread) {
          gate throws(InjectionError) in
          try registry.make(memory, record, request, gate: gate, on: thread)
        }
        if !isPut { return .nothing() }
      } catch { throw explained(error, madeBy: record, in: owner.object) }
    case .factory:
      try make(memory, record, request, on: thread)
      // The registration's hooks get the values that the factory makes, rather than the factory itself.
      return .value(callingHooksOf: nil)
    }
    return putResult(of: record, in: owner)
  }

  /// Returns the result of putting a registration's value in memory, which includes the registration if there are hooks.
  @inline(__always) private func putResult(
    of record: RegistrationRecord, in owner: Borrowed<InitializerRegistry>
  ) -> PutResult {
    if hooks.areUsed || record.hooks.areUsed || owner.object.hooks.areUsed {
      return .value(callingHooksOf: Match(record: record, owner: owner.object))
    }
    return .value(callingHooksOf: nil)
  }

  @inline(never) private func note(_ request: borrowing Request, servedBy match: Match, on thread: CurrentThread) {
    RequestRecorder.note(request.service, servedBy: match.provider(for: self), on: thread)
  }

  /// Puts a value that a registration or its factory keeps in memory, or a new value from `make` if there is none yet.
  ///
  /// All callers that find the same cell get the value of a single call of `make`. If `make` throws, each waiting
  /// thread tries again.
  ///
  /// - Parameter make: Puts a new value in memory. It gets the address of the `CreationGate` at which other threads wait.
  /// - Precondition: This registry contains the registration, unless the registration was withdrawn.
  /// - Returns: Whether there is a value; false if the registration was withdrawn after the caller found it.
  func putKeptValue(
    _ memory: ValueMemory, of kept: KeptValue, _ record: RegistrationRecord, _ request: borrowing Request,
    on thread: CurrentThread, make: (UInt?) throws(InjectionError) -> Void
  ) throws(InjectionError) -> Bool {
    if record.initializer.isOutOfReach {
      // If there is no value, `make` throws the error that says what to call instead, unless the request has awaited a
      // value that was dropped since. Another thread may be making the value, but this thread mustn't wait for the main
      // actor.
      if kept.copyIfReady(to: memory, in: self) { return true }
      guard table.read({ $0.contains(record) }) else { return false }
      try make(nil)
      return true
    }
    switch kept.findCell(deliveringTo: memory, of: record, in: self) {
    case .delivered: return true
    case .withdrawn: return false
    case .cell(let cell):
      // A thread takes the value that it has waited for, even if the scope no longer keeps that value.
      try cell.copyOrMakeValue(in: memory, for: { request.step(record) }, on: thread, make: make) {
        kept.store(cell, in: self)
      }
      return true
    }
  }

  @inline(never) private func putGraphValue(
    _ memory: ValueMemory, _ record: RegistrationRecord, _ request: borrowing Request, on thread: CurrentThread
  ) throws(InjectionError) {
    let cell = thread.resolution.sharedCell(of: Provider(record, in: self))
    if record.initializer.isOutOfReach {
      if cell.gate.isReady { return cell.copyValue(to: memory) }
      // The initializer may be running elsewhere, but this thread can't wait for it.
      try make(memory, record, request, on: thread)
      return
    }
    // If the resolution is async, another of its threads may be making the value.
    try cell.copyOrMakeValue(in: memory, for: { request.step(record) }, on: thread) { gate throws(InjectionError) in
      try make(memory, record, request, gate: gate, on: thread)
    }
  }

  /// Converts a registration's value to the requested type, and puts the converted value in memory.
  ///
  /// For a requested Optional type, the function wraps the value. Otherwise, the value is a registered instance, which
  /// the function casts to a supertype.
  ///
  /// - Returns: `.nothing` if the registration was withdrawn.
  @inline(never) private func putConvertedValue(
    _ memory: ValueMemory, _ request: borrowing Request, _ record: RegistrationRecord,
    of owner: Borrowed<InitializerRegistry>, on thread: CurrentThread
  ) throws(InjectionError) -> PutResult {
    if let optional = request.type as? any OptionalValue.Type {
      let inner = request.forWrapped(optional.wrappedType)
      let cell = ValueCell(optional.wrappedType)
      let match = Match(record: record, owner: owner.object)
      let result = try putValue(cell.memory, inner, from: match, on: thread)
      guard case .value = result else { return result }
      cell.gate.settle(as: CreationGate.ready)
      optional.putSome(cell.memory, in: memory)
      return result
    }
    if let instance = record.instance, memory.put(instance, as: request.type) {
      return putResult(of: record, in: owner)
    }
    trap("What is registered at \(record.place) isn't a \(TypeName.of(request.type)). \(reportThis)")
  }

  /// Runs a registration's initializer, unless only an async run can.
  @inline(never) private func make(
    _ memory: ValueMemory, _ record: RegistrationRecord, _ request: borrowing Request, gate: UInt? = nil,
    on thread: CurrentThread
  ) throws(InjectionError) {
    if record.isDefault && context == .test { reportLiveInitializer(of: record, at: request) }
    switch record.initializer.kind {
    case .closure, .wrapping, .mainActorClosure:
      try make(request, Borrowed(record), in: memory, gate: gate, on: thread) {
        try record.initializer.body(memory, request, self)
      }
    // Neither an instance, which already exists, nor a factory, which isn't called yet, needs a frame.
    case .instance(let put): put(memory)
    case .factory: putFactory(memory, record, request, on: thread)
    case .async:
      let provider = Provider(record, in: self)
      if let awaited = AwaitedValues.current?.take(of: provider) { return awaited.copyValue(to: memory) }
      let run = thread.runOfFrames ?? .ofThisTask
      if let steps = run?.steps(fromMakerOf: provider, named: request.name) {
        throw InjectionError(.cycle, through: [request.step(record)] + steps)
      }
      let step = request.step(record)
      throw InjectionError(.notReady, through: [step], advice: record.adviceToAwait(at: step))
    }
  }

  /// Puts the factory of a registration in memory, which holds this registry weakly if a registry may keep the factory.
  @inline(never) private func putFactory(
    _ memory: ValueMemory, _ record: RegistrationRecord, _ request: borrowing Request, on thread: CurrentThread
  ) {
    guard case .factory(let put, _, _) = record.initializer.kind else { return }
    let link = RegistryLink.of(self, weakly: request.isFromKept || thread.isKept)
    put(memory, FactorySource(record: record, link: link, requestedName: request.requestedName))
  }

  /// Runs `body`, which makes a value, in a frame in which this registry is the current registry, with no lock held.
  ///
  /// - Parameters:
  ///   - request: The request for the value. The caller keeps its objects and the registration alive until the call
  ///     returns, which is why the callers that have a registration are never inlined.
  ///   - record: The registration that makes the value; nil if it is the property's own code.
  ///   - gate: The address of the `CreationGate` at which other threads wait for the value that the registration keeps;
  ///     nil if the registration keeps none.
  @inline(__always) func make(
    _ request: borrowing Request, _ record: Borrowed<RegistrationRecord>?, in memory: ValueMemory, gate: UInt? = nil,
    on thread: CurrentThread, _ body: () throws -> Void
  ) throws(InjectionError) {
    // The frame doesn't retain the registry.
    defer { withExtendedLifetime(self) {} }
    try Frame.with(request) { empty throws(InjectionError) in
      var frame = empty
      (frame.record, frame.registry, frame.gate) = (record, Borrowed(self), gate)
      let isKept = frame.request.isFromKept || record?.withObject(\.makesKept) ?? false
      frame.isKept = isKept ? true : thread.innermostIsKept
      if let obstacle = thread.obstacle(to: frame) {
        throw thread.error(obstacle, to: frame.request.step(record?.object), of: record)
      }
      try thread.inside(frame) { () throws(InjectionError) in
        do { try body() } catch {
          throw InjectionError.wrapping(error, thrownBy: record.map { frame.request.step($0.object) })
        }
        if let record, record.withObject(\.hasCompletions) {
          let point = frame.request.point
          record.object.enqueueCompletions(of: memory, at: point, in: self, thread.resolution)
        }
      }
    }
  }
}

extension RegistrationRecord {
  /// The advice for a value that doesn't exist yet because its initializer is async.
  fileprivate func adviceToAwait(at step: InjectionStep) -> String {
    if lifetime.isShared { return "Await it first: \(step.callThatAwaits)." }
    return """
      Its scope is .\(scopeName), which keeps no value: await it wherever you need one, with \(step.callThatAwaits). To read it after it \
      was awaited once, register it with a scope that keeps it, such as .singleton.
      """
  }
}
