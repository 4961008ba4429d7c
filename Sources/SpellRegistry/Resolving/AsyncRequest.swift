internal import Support

/// A request of `resolveAsync`, or for an async value that the synchronous initializer of such a request needs.
///
/// The compiler splits an async function at each `await`. A request is an object, so that the parts hold one reference.
final class AsyncRequest: Sendable {
  let service: Service
  let name: String?
  let registry: InitializerRegistry
  /// The run that makes the request; nil if no run does.
  let asker: AsyncRun?
  let resolution: Resolution

  init(
    _ service: Service, named name: String?, to registry: InitializerRegistry, by asker: AsyncRun?,
    in resolution: Resolution
  ) {
    (self.service, self.name, self.registry) = (service, name, registry)
    (self.asker, self.resolution) = (asker, resolution)
  }

  /// Returns a cell with the requested value, awaiting the value if necessary.
  func cell() async throws -> ValueCell {
    while true {
      if let (match, initializer) = asyncMatch() {
        if let cell = try await madeCell(of: match, by: initializer) { return try delivered(cell, of: match) }
        // The registration was withdrawn after the search, so the loop searches again.
        continue
      }
      let awaited = try await awaitedNeeds()
      do { return try syncCell(with: awaited) } catch let error as InjectionError {
        // The registration that was found may have been replaced by an async one.
        if error.code == .notReady, match?.record.isAsync ?? false { continue }
        guard error.code == .wrongIsolation else { throw error }
      }
      return try await mainActorCell(with: awaited)
    }
  }

  /// Returns the value of an async registration, without calling the hooks; nil if the registration was withdrawn.
  func madeCell(of match: Match, by initializer: @escaping AsyncRun.Initializer) async throws -> ValueCell? {
    let provider = match.provider(for: registry)
    do {
      if match.record.makesKept { return try await sharedCell(of: provider, by: initializer) }
      return try await ownCell(of: provider, by: initializer)
    } catch {
      throw wrapped(error, thrownBy: provider)
    }
  }

  /// The registration that is chosen for the request; nil if there is none.
  var match: Match? { registry.match(Request(service, named: name)) }

  // Some functions below are marked `@inline(never)`, because several parts of an async function would otherwise contain
  // a copy of their code (10 KB in total).

  /// Returns the registration that is chosen for the request, with its async initializer.
  ///
  /// The result is nil if no registration is chosen, or if the chosen one has another kind of initializer.
  @inline(never) private func asyncMatch() -> (match: Match, initializer: AsyncRun.Initializer)? {
    guard case .match(let record, let owner) = registry.find(Request(service, named: name)),
      let initializer = record.initializer.async
    else { return nil }
    let match = Match(record: record, owner: owner.object)
    if RequestRecorder.isUsed {
      RequestRecorder.note(service, servedBy: match.provider(for: registry), by: asker)
    }
    if record.isDefault && registry.context == .test {
      registry.reportLiveInitializer(of: record, at: Request(service, named: name))
    }
    return (match, initializer)
  }

  /// Calls the hooks for a value of an async registration, and returns the value as one of the requested type.
  @inline(never) private func delivered(_ cell: ValueCell, of match: Match) throws -> ValueCell {
    let record = match.record
    if registry.mayCallHooks(of: record) {
      try CurrentThread.current.continuing(resolution, as: asker) { () throws(InjectionError) in
        registry.callHooks(cell.memory, of: match, at: Request(record.service, named: name).point)
      }
    }
    return record.service == service ? cell : cell.wrapped(as: service.type)
  }

  @inline(never) private func wrapped(_ error: any Error, thrownBy provider: Provider) -> InjectionError {
    let record = provider.record
    let step = Request(record.service, named: name).step(record)
    let isCancelled = error is CancellationError && Task.isCancelled
    if isCancelled { return InjectionError(.cancelled, through: [step], underlying: error) }
    return registry.explained(.wrapping(error, thrownBy: step), madeBy: record, in: provider.registry)
  }

  /// - Parameter awaited: The values of async initializers that the synchronous initializer needs.
  @inline(never) private func syncCell(with awaited: [AwaitedValues.Value]) throws -> ValueCell {
    try ValueCell(service.type) { memory in
      try AwaitedValues.with(awaited) {
        try CurrentThread.current.continuing(resolution, as: asker) { () throws(InjectionError) in
          try registry.resolve(Request(service, named: name), into: memory)
        }
      }
    }
  }

  /// Returns a value that is made on the main actor, unless the request was canceled before it gets there.
  private func mainActorCell(with awaited: [AwaitedValues.Value]) async throws -> ValueCell {
    resolution.join()
    let task = Task { @MainActor in
      defer { try? resolution.leave(as: asker) }
      try Task.checkCancellation()
      return try syncCell(with: awaited)
    }
    do { return try await task.valueUnlessCancelled() } catch is CancellationError {
      task.cancel()
      throw InjectionError(.cancelled, through: [Request(service, named: name).step()], underlying: CancellationError())
    }
  }

  /// Returns a new value that no other request shares, made in the calling task.
  private func ownCell(of provider: Provider, by initializer: AsyncRun.Initializer) async throws -> ValueCell {
    if let steps = asker?.steps(fromMakerOf: provider, named: name) { throw InjectionError(.cycle, through: steps) }
    let cell = ValueCell(provider.record.service.type)
    try await AsyncRun(of: provider, for: self).makeValue(in: cell, by: initializer)
    cell.gate.settle(as: CreationGate.ready)
    return cell
  }

  /// Returns a value that several requests share, and first awaits the run that makes the value if necessary.
  ///
  /// A run has its own task, so that the cancellation of one waiting task doesn't cancel the run for other tasks. The
  /// run is part of the resolution of the request that started the run.
  ///
  /// - Returns: The cell with the value; nil if the registration was withdrawn.
  private func sharedCell(
    of provider: Provider, by initializer: @escaping AsyncRun.Initializer
  ) async throws -> ValueCell? {
    while true {
      guard let cell = foundCell(of: provider) else { return nil }
      guard let shared = cell.sharedRun(orCreate: { SharedRun(AsyncRun(of: provider, for: self)) }) else { return cell }
      let task = shared.join {
        resolution.join()
        return Task { try await makeShared(cell, by: shared, initializer) }
      }
      // A run that is over, and that another task is just dropping, can't be joined, so the loop searches again.
      guard let task else {
        await Task.yield()
        continue
      }
      do {
        let endAwaiting = try shared.run.beginAwaiting(by: asker)
        defer { endAwaiting() }
        return try await task.valueUnlessCancelled()
      } catch {
        if shared.leave() { drop(cell, of: provider) }
        throw error
      }
    }
  }

  /// Returns the cell that has the value that requests share, or will have it; nil if the registration was withdrawn.
  @inline(never) private func foundCell(of provider: Provider) -> ValueCell? {
    guard let kept = provider.record.kept else { return resolution.sharedCell(of: provider) }
    let copy = ValueCell(provider.record.service.type)
    switch kept.findCell(deliveringTo: copy.memory, of: provider.record, in: provider.registry) {
    case .withdrawn: return nil
    case .cell(let cell): return cell
    case .delivered:
      copy.gate.settle(as: CreationGate.ready)
      return copy
    }
  }

  @inline(never) private func drop(_ cell: ValueCell, of provider: Provider) {
    if let kept = provider.record.kept {
      kept.drop(cell, in: provider.registry)
    } else {
      resolution.drop(cell, of: provider)
    }
  }

  /// Runs the initializer of a value that several requests share.
  ///
  /// When the function returns, and the requests that await it go on, a value is kept, and an error is forgotten.
  private func makeShared(
    _ cell: ValueCell, by shared: SharedRun, _ initializer: AsyncRun.Initializer
  ) async throws -> ValueCell {
    let provider = shared.run.provider
    // The completion hooks run when the last participant leaves the resolution. The last participant is usually the
    // outermost request, which throws the error of the hooks. If the outermost request and all other runs have already
    // ended, the hooks run now, and no request is left to throw their error.
    defer { try? resolution.leave(as: shared.run) }
    do {
      try await shared.run.makeValue(in: cell, by: initializer)
    } catch {
      shared.end()
      drop(cell, of: provider)
      throw error
    }
    provider.record.kept?.store(cell, in: provider.registry)
    cell.gate.settle(as: CreationGate.ready)
    cell.releaseRun()
    return cell
  }
}
