internal import Support

/// An async initializer, as code sees it that can't await.
protocol AsyncInitializer<Value>: AnyObject, Sendable {
  associatedtype Value
}

/// What an async initializer makes: for a value that is kept, by one run at a time, however many await it.
final class AsyncValue<Value: Sendable>: AsyncInitializer {
  private let initializer: @Sendable (Resolver) async throws -> Value
  private struct State: Sendable {
    var running: Running?
    /// How many runs have ended.
    var endedCount = 0
  }
  private let state = Lock(State())

  private struct Running: Sendable {
    let resetCount: Int
    let run: AsyncRun
    let task: Task<Value, any Error>
  }

  init(_ initializer: @escaping @Sendable (Resolver) async throws -> Value) { self.initializer = initializer }

  /// Runs the initializer for this caller alone.
  func makeUnique(
    of registration: RegistrationStorage, named name: String?, for registry: InitializerRegistry
  ) async throws -> Value {
    let run = try AsyncRun.begin(registration, named: name)
    let value = try await run.awaited { try await perform(run, for: registry, keepsValue: false) }
    (registration as? TypedRegistration<Value>)?.complete(value, at: run.point)
    return value
  }

  /// The value that the registration keeps, else that of the run under way, else that of a run begun now.
  ///
  /// The run is a task of its own, so cancelling one that awaits it cancels it for no other. A failure reaches all who
  /// await that run; the next to ask begins another.
  func value(
    keptBy registration: RegistrationStorage, named name: String?, for registry: InitializerRegistry
  ) async throws -> Value {
    let endedCount = state.withLock(\.endedCount)
    if let value = registration.kept.current(as: Value.self) { return value }
    let begun = Result { () throws(InjectionError) in try AsyncRun.begin(registration, named: name) }
    let resetCount = registration.kept.resetCount
    let running = try state.withLock { state throws(InjectionError) -> Running? in
      // A run that began before a reset is for the callers that asked before it.
      if let running = state.running, running.resetCount == resetCount { return running }
      // A run has ended since the look: its value is kept, or was forgotten.
      if state.endedCount != endedCount { return nil }
      let run = try begun.get()
      let task = Task {
        defer { end(run) }
        let value = try await perform(run, for: registry, keepsValue: true)
        registration.kept.keep(value, since: resetCount)
        (registration as? TypedRegistration<Value>)?.complete(value, at: run.point)
        return value
      }
      state.running = Running(resetCount: resetCount, run: run, task: task)
      return state.running
    }
    guard let running else {
      return try await value(keptBy: registration, named: name, for: registry)
    }
    return try await running.run.awaited { try await running.task.value }
  }

  private func end(_ run: AsyncRun) {
    // Released with no lock held, with the value that its task has.
    let ended = state.withLock { state -> Running? in
      state.endedCount += 1
      guard state.running?.run === run else { return nil }
      return state.running.take()
    }
    withExtendedLifetime(ended) {}
  }

  private func perform(_ run: AsyncRun, for registry: InitializerRegistry, keepsValue: Bool) async throws -> Value {
    try await run.perform {
      try await registry.runInitializer(keepsValue: keepsValue) {
        let resolver = Resolver(point: run.point, registry: registry)
        let value = try await initializer(resolver)
        guard let registration = run.registration as? TypedRegistration<Value>, registration.hasWorkToDoAfterInitializer
        else {
          return value
        }
        return try registration.decorated(value, resolver)
      }
    }
  }
}
