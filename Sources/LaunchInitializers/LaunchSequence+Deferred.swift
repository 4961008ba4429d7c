internal import SpellRegistry
internal import Support

// The steps that don't run at launch: deferred steps begin after it, and lazy steps when their services are resolved.

extension LaunchSequence {
  /// Waits until the deferred steps have ended, and returns their report.
  ///
  /// If the launch is under way, waits for its end first.
  ///
  /// - Returns: The deferred steps, in the order of the plan; none if the launch failed or has not begun, or if a step of
  ///   the sequence asks, which would wait for itself.
  public func deferredReport() async -> LaunchReport {
    if StepAttempt.step(of: self) != nil { return .empty }
    await launchIsOver()
    return await state.withLock(\.deferred)?.report.value ?? .empty
  }

  /// Prepares the run of the deferred steps; nil if there are none.
  ///
  /// Called before the launch is known to be over, so a shut-down finds the run.
  func prepareDeferred() -> LaunchRunner? {
    let isDeferred = plan.isDeferred
    if isDeferred.isEmpty { return nil }
    let (ended, end) = AsyncStream.makeStream(of: LaunchReport.self)
    let (outcomes, offers, registry) = state.withLock { ($0.outcomes, $0.lazy.offers, $0.registry) }
    let settled = outcomes.indices.map { index -> LaunchReport.Outcome? in
      isDeferred[index] ? nil : offers[index] == nil ? outcomes[index] : .completed
    }
    let runner = LaunchRunner(self, plan, .deferred, in: registry, settled: settled) { [self] runner in
      let machine = runner.machine
      state.withLock { state in
        for index in isDeferred.indices where isDeferred[index] && !state.lazy.completed.contains(index) {
          state.outcomes[index] = machine.steps[index].outcome
        }
      }
      keep(runner.services)
      end.yield(LaunchReport(machine))
      end.finish()
    }
    let report = Task {
      for await report in ended { return report }
      return .empty
    }
    state.withLock { $0.deferred = (runner, report) }
    return runner
  }

  /// Ends the deferred steps under way, and returns when there are none.
  func deferredIsOver() async {
    guard let deferred = state.withLock(\.deferred) else { return }
    deferred.runner.stop(.shutDown)
    _ = await deferred.report.value
  }
}

// MARK: Lazy steps

/// The lazy steps of a sequence, by their indices.
struct LazySteps {
  /// The functions that withdraw the registrations which perform the steps.
  var offers: [Int: @Sendable () -> Void] = [:]
  /// The runs under way.
  var runs: [Int: LaunchRunner] = [:]
  var completed: Set<Int> = []
  /// Whether no further run may begin.
  var isClosed = false
  /// The calls that wait until no run is under way.
  var observers: [CheckedContinuation<Void, Never>] = []
}

extension LaunchSequence {
  /// Makes the service of a lazy step resolvable.
  func offerService(of step: LaunchPlan.Step, in registry: InitializerRegistry) {
    guard let initializer = step.initializer as? any ServiceInitializer else { return }
    let withdraw = initializer.offer(step, in: registry) { [self] in
      try await performLazily(step, in: registry)
    }
    let isClosed = state.withLock { state in
      if !state.lazy.isClosed { state.lazy.offers[step.index] = withdraw }
      return state.lazy.isClosed
    }
    if isClosed { withdraw() }
  }

  /// Performs a lazy step, and returns the services that it registered.
  private func performLazily(_ step: LaunchPlan.Step, in registry: InitializerRegistry) async throws -> [any Sendable] {
    let (ended, end) = AsyncStream.makeStream(of: LaunchRunner.self)
    let runner = LaunchRunner(self, plan.only(step), .lazy, in: registry) { [self] runner in
      lazyRunEnded(runner, of: step)
      end.yield(runner)
      end.finish()
    }
    let isClosed = state.withLock { state in
      if !state.lazy.isClosed { state.lazy.runs[step.index] = runner }
      return state.lazy.isClosed
    }
    if isClosed { throw LaunchError(.shutDown, id: step.id, "can't be performed because the sequence is shut down.") }
    runner.start()
    for await runner in ended {
      let machine = runner.machine
      switch machine.stop {
      case nil where machine.steps[0].outcome == .skipped: throw SkipInitializer(machine.steps[0].message ?? "")
      case nil: return runner.services[step.index]?.services ?? []
      case .failed(_, let code, let error):
        throw LaunchError(code, id: step.id, underlying: error, "failed when its service was resolved.")
      case .cancelled, .shutDown, .limit:
        throw LaunchError(.shutDown, id: step.id, "was ended because the sequence is shut down.")
      }
    }
    throw CancellationError()
  }

  private func lazyRunEnded(_ runner: LaunchRunner, of step: LaunchPlan.Step) {
    let ended = runner.machine.steps[0]
    keep(runner.services)
    let launch = state.withLock { state -> LaunchRunner? in
      if case .launching(let launch) = state.phase { launch } else { nil }
    }
    launch?.adopt(ended, of: step.index, after: runner.clock.now)
    let observers = state.withLock { state in
      state.lazy.runs[step.index] = nil
      if ended.outcome == .completed {
        state.lazy.completed.insert(step.index)
        if !state.outcomes.isEmpty { state.outcomes[step.index] = .completed }
      }
      guard state.lazy.runs.isEmpty else { return [CheckedContinuation<Void, Never>]() }
      defer { state.lazy.observers = [] }
      return state.lazy.observers
    }
    for observer in observers { observer.resume() }
  }

  /// Lets no further lazy step begin, and ends those under way.
  func stopLazySteps() {
    let runs = state.withLock { state in
      state.lazy.isClosed = true
      return Array(state.lazy.runs.values)
    }
    for run in runs { run.stop(.shutDown) }
  }

  /// Returns when no lazy step is under way, and none can begin.
  func lazyStepsAreOver() async {
    stopLazySteps()
    await withCheckedContinuation { continuation in
      let areOver = state.withLock { state in
        if !state.lazy.runs.isEmpty { state.lazy.observers.append(continuation) }
        return state.lazy.runs.isEmpty
      }
      if areOver { continuation.resume() }
    }
  }

  /// Withdraws the registrations of all lazy steps.
  func withdrawOffers() {
    let offers = state.withLock { state in
      defer { state.lazy.offers = [:] }
      return state.lazy.offers
    }
    for withdraw in offers.values { withdraw() }
  }
}

extension ServiceInitializer {
  /// Registers an async initializer of the service that performs the step; returns what withdraws it.
  fileprivate func offer(
    _ step: LaunchPlan.Step, in registry: InitializerRegistry,
    _ perform: @escaping @Sendable () async throws -> [any Sendable]
  ) -> @Sendable () -> Void {
    let location = step.listed.declared.location ?? SourcePlace(fileID: #fileID, line: #line)
    let registration = registry.substituteAsync(Service.self, scope: .singleton, at: location) { _ in
      for case let service as Service in try await perform() { return service }
      throw LaunchError(.stepFailed, id: step.id, "completed without registering a \(TypeName.of(Service.self)).")
    }
    return { registration.unregister() }
  }
}
