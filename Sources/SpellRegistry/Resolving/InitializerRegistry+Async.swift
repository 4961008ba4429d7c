internal import Support
internal import Synchronization

extension InitializerRegistry {
  /// Returns a value, awaiting it if its initializer is async or runs on the main actor.
  ///
  /// One run makes a value that its scope shares, however many tasks await it. If the run fails, all these tasks get
  /// the error, and the next request begins another run. A cancelled task throws an error of code `.cancelled` at once;
  /// the run continues for the other tasks, and is cancelled if there are none. The initializer of a value that isn't
  /// shared runs in the calling task, and has to notice the cancellation itself.
  ///
  /// If a value with a synchronous initializer needs something that only the main actor can make, both are made there.
  /// The initializer may run twice: first until it asks for the main-actor value, then again on the main actor.
  ///
  /// This begins a new resolution. Inside an initializer, use ``Resolver/resolveAsync(_:named:)-(Value.Type,_)``.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - name: The name to ask with, as a property asks with its own name.
  /// - Throws: As ``resolve(_:named:in:)-(Value.Type,_,_)``, `.cancelled`, and `.cycle` if tasks await each other.
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

  /// - Parameter run: The run whose resolver asks; nil if the registry itself is asked.
  fileprivate func resolveAsync<Value: Sendable>(
    _ service: Service, named name: String?, for run: AsyncRun?
  ) async throws(InjectionError) -> Value {
    let asker = run ?? AsyncRun.ofThisTask
    let resolution = run?.resolution ?? Resolution()
    let cell: ValueCell
    do {
      cell = try await supplyAsync(service, named: name, asker: asker, in: resolution, isPart: run != nil)
      if run == nil {
        try AsyncRun.continuing(resolution, as: asker) { () throws(InjectionError) in
          try resolution.complete(on: .current)
        }
      }
    } catch { throw InjectionError.wrapping(error) }
    return cell.memory.value()
  }

  /// Returns a cell with the value of a request, awaiting the value if necessary.
  private func supplyAsync(
    _ service: Service, named name: String?, asker: AsyncRun?, in resolution: Resolution, isPart: Bool
  ) async throws -> ValueCell {
    guard case .match(let record, let owner) = find(Request(service, named: name)),
      let initializer = record.initializer.async
    else {
      do { return try supplySync(service, named: name, asker: asker, in: resolution) } catch let error as InjectionError
      {
        guard error.code == .wrongIsolation else { throw error }
        return try await MainActor.run { try supplySync(service, named: name, asker: asker, in: resolution) }
      }
    }
    if RequestRecorder.isUsed {
      RequestRecorder.note(service, servedBy: (record, record.keeping == .shared ? owner.object : self), by: asker)
    }
    let cell: ValueCell
    do {
      if let kept = record.kept {
        cell = try await owner.object.keptCell(kept, of: record, named: name, asker: asker, initializer)
      } else {
        let run = AsyncRun(record, for: self, named: name, asker: asker, resolution)
        if asker?.isMaking(record, for: self, named: name) ?? false { throw InjectionError(.cycle, through: []) }
        if case .graph = record.lifetime, let known = resolution.graphCell(of: record, for: self) {
          cell = known
        } else {
          cell = try await run.perform(initializer)
          if case .graph = record.lifetime { resolution.keepGraphValue(cell.memory, of: record, for: self) }
        }
      }
    } catch {
      let step = Request(service, named: name).step(record)
      let isCancelled = error is CancellationError && Task.isCancelled
      if isCancelled { throw InjectionError(.cancelled, through: [step], underlying: error) }
      throw InjectionError.wrapping(error, thrownBy: step)
    }
    if hooks.areUsed || record.hooks.areUsed {
      announce(cell.memory, of: record, at: Request(record.service, named: name).point)
    }
    return record.service == service ? cell : cell.wrapped(as: service.type)
  }

  private func supplySync(
    _ service: Service, named name: String?, asker: AsyncRun?, in resolution: Resolution
  ) throws -> ValueCell {
    let cell = ValueCell(service.type)
    try AsyncRun.continuing(resolution, as: asker) { () throws(InjectionError) in
      try fulfill(Request(service, named: name), in: cell.memory)
    }
    cell.gate.settle(as: CreationGate.ready)
    return cell
  }

  /// Returns the value that the registration keeps, else that of the run in progress, else that of a new run.
  ///
  /// A run has a task of its own, so that the cancellation of one awaiting task doesn't cancel the run for others.
  private func keptCell(
    _ kept: KeptValue, of record: RegistrationRecord, named name: String?, asker: AsyncRun?,
    _ initializer: @escaping AsyncRun.Initializer
  ) async throws -> ValueCell {
    let cell = ValueCell(record.service.type)
    var run: AsyncRun?
    while run == nil {
      let endCount = kept.run.withLock(\.endCount)
      if kept.copyIfReady(to: cell.memory) {
        cell.gate.settle(as: CreationGate.ready)
        return cell
      }
      run = kept.run.withLock { runs -> AsyncRun? in
        // A run has ended since the value was looked for, and may have kept its value, so look again.
        if runs.endCount != endCount { return nil }
        if let running = runs.current, running.resetCount == kept.resetCount, !running.isAbandoned { return running }
        let run = AsyncRun(
          record, for: self, named: name, asker: asker, Resolution(), resetCount: kept.resetCount)
        runs.current = run
        return run
      }
    }
    guard let run else { return cell }
    run.beginOnce {
      Task {
        let result: Result<ValueCell, any Error>
        do {
          let cell = try await run.perform(initializer)
          if !run.isAbandoned { kept.keep(cell, since: run.resetCount, in: self) }
          try AsyncRun.continuing(run.resolution, as: run) { () throws(InjectionError) in
            try run.resolution.complete(on: .current)
          }
          result = .success(cell)
        } catch { result = .failure(error) }
        kept.run.withLock { runs in
          if runs.current === run { runs.current = nil }
          runs.endCount += 1
        }
        run.end(with: result)
      }
    }
    do { return try await run.value(for: asker) } catch is AsyncRun.Abandoned {
      return try await keptCell(kept, of: record, named: name, asker: asker, initializer)
    }
  }
}

extension Resolver {
  /// Returns a dependency, awaiting it if its initializer is async or runs on the main actor.
  ///
  /// The request is a part of the resolution of the initializer that has this resolver, so a cycle throws an error.
  /// Everything else is as for the registry's `resolveAsync`.
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
