internal import Support
internal import Synchronization

extension InitializerRegistry {
  /// Returns a value, awaiting it if its initializer is async or runs on the main actor.
  ///
  /// If the initializer is async and the scope keeps the value, a single run of the initializer makes it, however many
  /// tasks await it. If the run fails, all these tasks get the error, and the next request starts another run. If one
  /// of these tasks is canceled, its call immediately throws an error of code `.cancelled`. The run continues for the
  /// other tasks, and is canceled if there are none. With the scope `.unique`, an async initializer runs in the calling
  /// task, and has to check for cancellation itself.
  ///
  /// What an autowired initializer needs, and what a decoration wraps, is awaited first.
  ///
  /// If a value with a synchronous initializer needs a value that only the main actor can make, both values are made on
  /// the main actor. The synchronous initializer may run twice: first until it requests the main-actor value, and then
  /// from its beginning on the main actor.
  ///
  /// This method begins a new resolution. Inside an initializer, use
  /// ``Resolver/resolveAsync(_:named:)-(Value.Type,_)`` instead.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - name: The name to use in the request, like the name of a property that requests a value.
  /// - Throws: The errors of ``resolve(_:named:in:)-(Value.Type,_,_)``, `.cancelled`, and `.cycle` if tasks await each
  ///   other.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(Service(Value.self), named: name, for: nil)
  }

  /// Returns the value of a declared key, awaiting it if its initializer is async or runs on the main actor.
  public func resolveAsync<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(Service(Value.self, key: key), named: name, for: nil)
  }

  /// Returns the value of a service, awaiting it if its initializer is async or runs on the main actor.
  ///
  /// - Parameter run: The async run whose resolver makes the request; nil for any other request.
  fileprivate func resolveAsync<Value: Sendable>(
    _ service: Service, named name: String?, for run: AsyncRun?
  ) async throws(InjectionError) -> Value {
    let asker = run ?? AsyncRun.ofThisTask
    let cell: ValueCell
    if let resolution = run?.resolution {
      do { cell = try await asyncCell(service, named: name, asker: asker, in: resolution) } catch {
        throw InjectionError.wrapping(error)
      }
      return withExtendedLifetime(cell) { $0.memory.value() }
    }
    let resolution = Resolution()
    do { cell = try await asyncCell(service, named: name, asker: asker, in: resolution) } catch {
      // Even after an error, the completion hooks of the values that were already made have to run, as in a synchronous
      // resolution.
      try? resolution.leave(as: asker)
      throw InjectionError.wrapping(error).inOneLap()
    }
    try resolution.leave(as: asker)
    return withExtendedLifetime(cell) { $0.memory.value() }
  }

  /// Returns a cell with the value of a request, awaiting the value if necessary.
  private func asyncCell(
    _ service: Service, named name: String?, asker: AsyncRun?, in resolution: Resolution
  ) async throws -> ValueCell {
    while let (match, initializer) = asyncMatch(service, named: name, asker: asker) {
      let record = match.record
      let made = try await madeCell(of: match, by: initializer, named: name, asker: asker, in: resolution)
      // If `made` is nil, the registration was withdrawn after the search. In this case, the loop searches again.
      guard let cell = made else { continue }
      if record.hooks.areUsed || mayCallHooks {
        try CurrentThread.current.continuing(resolution, as: asker) { () throws(InjectionError) in
          callHooks(cell.memory, of: match, at: Request(record.service, named: name).point)
        }
      }
      return record.service == service ? cell : cell.wrapped(as: service.type)
    }
    let awaited = try await awaitedNeeds(of: service, named: name, asker: asker, in: resolution)
    do {
      return try syncCell(service, named: name, with: awaited, asker: asker, in: resolution)
    } catch let error as InjectionError {
      if error.code == .notReady, match(Request(service, named: name))?.record.isAsync ?? false {
        // The registration that was found has been replaced by an async one.
        return try await asyncCell(service, named: name, asker: asker, in: resolution)
      }
      guard error.code == .wrongIsolation else { throw error }
      let task = cellOfMainActor(service, named: name, with: awaited, asker: asker, in: resolution)
      do { return try await task.valueUnlessCancelled() } catch is CancellationError {
        task.cancel()
        throw InjectionError(
          .cancelled, through: [Request(service, named: name).step()], underlying: CancellationError())
      }
    }
  }

  /// Returns the value of an async registration, without calling the hooks; nil if the registration was withdrawn.
  func madeCell(
    of match: Match, by initializer: @escaping AsyncRun.Initializer, named name: String? = nil, asker: AsyncRun?,
    in resolution: Resolution
  ) async throws -> ValueCell? {
    let record = match.record
    do {
      if record.makesKept {
        return try await match.provider(for: self).registry.sharedCell(
          of: record, named: name, asker: asker, in: resolution, initializer)
      }
      return try await ownCell(of: record, named: name, asker: asker, in: resolution, initializer)
    } catch {
      throw asyncError(error, thrownBy: Request(record.service, named: name).step(record))
    }
  }

  // The compiler splits an async function into parts at its `await`s. Some functions below are marked `@inline(never)`,
  // because several parts of a client's function would otherwise contain a copy of their code (10 KB in total).

  /// Returns the registration that is chosen for a request, with its async initializer.
  ///
  /// Returns nil if there is no such registration, or if its initializer isn't async.
  @inline(never) private func asyncMatch(
    _ service: Service, named name: String?, asker: AsyncRun?
  ) -> (match: Match, initializer: AsyncRun.Initializer)? {
    guard case .match(let record, let owner) = find(Request(service, named: name)),
      let initializer = record.initializer.async
    else { return nil }
    let match = Match(record: record, owner: owner.object)
    if RequestRecorder.isUsed {
      RequestRecorder.note(service, servedBy: match.provider(for: self), by: asker)
    }
    if record.isDefault && context == .test { reportLiveInitializer(of: record, at: Request(service, named: name)) }
    return (match, initializer)
  }

  @inline(never) private func asyncError(_ error: any Error, thrownBy step: InjectionStep) -> InjectionError {
    let isCancelled = error is CancellationError && Task.isCancelled
    if isCancelled { return InjectionError(.cancelled, through: [step], underlying: error) }
    return InjectionError.wrapping(error, thrownBy: step)
  }

  /// - Parameter awaited: The values of async initializers that the synchronous initializer needs.
  @inline(never) private func syncCell(
    _ service: Service, named name: String?, with awaited: [AwaitedValues.Value], asker: AsyncRun?,
    in resolution: Resolution
  ) throws -> ValueCell {
    try ValueCell(service.type) { memory in
      try AwaitedValues.with(awaited) {
        try CurrentThread.current.continuing(resolution, as: asker) { () throws(InjectionError) in
          try resolve(Request(service, named: name), into: memory)
        }
      }
    }
  }

  /// Starts a task that makes a value on the main actor, unless the request was canceled before it gets there.
  private func cellOfMainActor(
    _ service: Service, named name: String?, with awaited: [AwaitedValues.Value], asker: AsyncRun?,
    in resolution: Resolution
  ) -> Task<ValueCell, any Error> {
    resolution.join()
    return Task { @MainActor in
      defer { try? resolution.leave(as: asker) }
      try Task.checkCancellation()
      return try syncCell(service, named: name, with: awaited, asker: asker, in: resolution)
    }
  }

  /// Returns a new value that no other request shares, made in the calling task.
  @inline(never) private func ownCell(
    of record: RegistrationRecord, named name: String?, asker: AsyncRun?, in resolution: Resolution,
    _ initializer: AsyncRun.Initializer
  ) async throws -> ValueCell {
    if let steps = asker?.steps(fromMakerOf: record, for: self, named: name) {
      throw InjectionError(.cycle, through: steps)
    }
    let cell = ValueCell(record.service.type)
    try await AsyncRun(record, for: self, named: name, asker: asker, resolution).makeValue(in: cell, by: initializer)
    cell.gate.settle(as: CreationGate.ready)
    return cell
  }

  /// Returns a value that several requests share, and first awaits the run that makes the value if necessary.
  ///
  /// A run has its own task, so that the cancellation of one waiting task doesn't cancel the run for other tasks. The
  /// run is part of the resolution of the request that started the run.
  ///
  /// - Returns: The cell with the value; nil if the registration was withdrawn.
  @inline(never) private func sharedCell(
    of record: RegistrationRecord, named name: String?, asker: AsyncRun?, in resolution: Resolution,
    _ initializer: @escaping AsyncRun.Initializer
  ) async throws -> ValueCell? {
    while true {
      guard let cell = foundCell(of: record, in: resolution) else { return nil }
      let shared = cell.sharedRun {
        SharedRun(AsyncRun(record, for: self, named: name, asker: asker, resolution))
      }
      guard let shared else { return cell }
      let task = shared.join {
        resolution.join()
        return Task { try await makeShared(cell, by: shared, in: resolution, initializer) }
      }
      // A run that is over, and that another task is just dropping, can't be joined, so the loop searches again.
      guard let task else {
        await Task.yield()
        continue
      }
      do {
        try await shared.run.whileAwaited(by: asker) { try await task.valueUnlessCancelled() }
      } catch {
        if shared.leave() { drop(cell, of: record, in: resolution) }
        throw error
      }
      return cell
    }
  }

  /// Returns the cell that has the value that requests share, or will have it; nil if the registration was withdrawn.
  private func foundCell(of record: RegistrationRecord, in resolution: Resolution) -> ValueCell? {
    guard let kept = record.kept else { return resolution.sharedCell(of: Provider(record, in: self)) }
    let copy = ValueCell(record.service.type)
    switch kept.findCell(deliveringTo: copy.memory, of: record, in: self) {
    case .withdrawn: return nil
    case .cell(let cell): return cell
    case .delivered:
      copy.gate.settle(as: CreationGate.ready)
      return copy
    }
  }

  private func drop(_ cell: ValueCell, of record: RegistrationRecord, in resolution: Resolution) {
    if let kept = record.kept {
      kept.drop(cell, in: self)
    } else {
      resolution.drop(cell, of: Provider(record, in: self))
    }
  }

  /// Runs the initializer of a value that several requests share.
  ///
  /// When the function returns, and the requests that await it go on, a value is kept, and an error is forgotten.
  private func makeShared(
    _ cell: ValueCell, by shared: SharedRun, in resolution: Resolution, _ initializer: AsyncRun.Initializer
  ) async throws {
    let record = shared.run.record
    // The completion hooks run when the last participant leaves the resolution. The last participant is usually the
    // outermost request, which throws the error of the hooks. If the outermost request and all other runs have already
    // ended, the hooks run now, and no request is left to throw their error.
    defer { try? resolution.leave(as: shared.run) }
    do {
      try await shared.run.makeValue(in: cell, by: initializer)
    } catch {
      shared.end()
      drop(cell, of: record, in: resolution)
      throw error
    }
    record.kept?.store(cell, in: self)
    cell.gate.settle(as: CreationGate.ready)
    cell.releaseRun()
  }
}

extension Resolver {
  /// Returns a dependency, awaiting it if its initializer is async or runs on the main actor.
  ///
  /// The request belongs to the resolution of the async initializer that received this resolver, so a cycle throws an
  /// error. In all other respects, this method works like the registry's `resolveAsync`.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await registry.resolveAsync(Service(Value.self), named: name, for: run)
  }

  /// Returns the value of a declared key, awaiting it if its initializer is async or runs on the main actor.
  public func resolveAsync<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await registry.resolveAsync(Service(Value.self, key: key), named: name, for: run)
  }
}
