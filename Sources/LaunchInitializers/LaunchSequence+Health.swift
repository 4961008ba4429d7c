internal import Support
internal import SpellRegistry

/// The health of a completed step.
public enum StepHealth: Sendable, Hashable {
  /// The step works.
  case healthy
  /// The step works, but needs attention for a reason.
  case degraded(String)
  /// The step doesn't work for a reason.
  case unhealthy(String)
}

/// The health of the completed steps of a sequence.
public struct LaunchHealth: Sendable, Hashable {
  /// The health of one step.
  public struct Step: Sendable, Hashable {
    /// The step's id.
    public let id: String
    /// The step's health.
    public let health: StepHealth
  }

  /// The steps, in the order of the plan.
  public let steps: [Step]

  /// Whether no step is unhealthy.
  public var isHealthy: Bool {
    steps.allSatisfy { step in if case .unhealthy = step.health { false } else { true } }
  }
}

extension LaunchSequence {
  /// Whether the launch has completed and no shut-down has begun, for a readiness probe.
  ///
  /// Takes a lock for a moment.
  public var isReady: Bool {
    state.withLock { state in
      if case .launched = state.phase { state.shutDown == nil } else { false }
    }
  }

  /// The report of the launch; nil before the launch has completed, if it failed, and after a shut-down.
  ///
  /// For a page or a log of a program that waits in ``run(on:secondSignal:shutDownWithin:)``. A launch that fails has its
  /// report in its ``LaunchError``. Takes a lock for a moment.
  public var report: LaunchReport? {
    state.withLock { state in
      if case .launched(let report) = state.phase { report } else { nil }
    }
  }

  /// Asks all completed steps for their health at the same time.
  ///
  /// A step that doesn't answer in time is unhealthy, and so is a service that isn't running, even during a pause before a
  /// restart. Before the launch has completed and after a shut-down, there are no steps to ask; see ``isReady``.
  ///
  /// - Parameter limit: How long to wait for answers, on the sequence's clock.
  /// - Returns: The health of each completed step.
  public func health(within limit: Duration = .seconds(5)) async -> LaunchHealth {
    let (completed, services, registry) = state.withLock { state in
      let completed = isLaunched(state) ? plan.steps.filter { state.outcomes[$0.index] == .completed } : []
      return (completed, state.supervisors, state.registry)
    }
    let (answers, answer) = AsyncStream.makeStream(of: (index: Int, health: StepHealth)?.self)
    var asked: [Task<Void, Never>] = []
    for step in completed {
      if let silence = services[step.index]?.silence {
        answer.yield((step.index, .unhealthy("isn't running: it \(silence)")))
      } else {
        asked.append(registry.run { Task { answer.yield((step.index, await step.initializer.health())) } })
      }
    }
    let clock = LaunchClock(clock)
    let timer = clock.timer(at: clock.now + limit) { answer.yield(nil) }
    var health: [Int: StepHealth] = [:]
    if !completed.isEmpty {
      for await answered in answers {
        guard let (index, answered) = answered else { break }
        health[index] = answered
        if health.count == completed.count { break }
      }
    }
    timer.cancel()
    for task in asked { task.cancel() }
    return LaunchHealth(
      steps: completed.map { step in
        LaunchHealth.Step(id: step.id, health: health[step.index] ?? .unhealthy("no answer within \(limit.text)"))
      })
  }

  private func isLaunched(_ state: borrowing SequenceState) -> Bool {
    if case .launched = state.phase { !state.outcomes.isEmpty } else { false }
  }
}
