internal import Locking
internal import SpellRegistry

/// One run through the steps of a plan: at launch, or when the app comes to the foreground.
///
/// The state decides under a lock, and what follows is done outside it. Each attempt is a task of its own that nobody
/// waits for, so that one that ignores its cancellation can be left behind.
final class StepRun: Sendable {
  enum Purpose: Sendable {
    case launch
    /// Of the steps that completed at launch, those that want to.
    case foreground(Set<Int>)
  }

  let plan: LaunchPlan
  let clock: ElapsedClock
  let state: Lock<RunState>
  private let sequence: LaunchSequence
  private let purpose: Purpose
  private let registry: InitializerRegistry
  private let outer = StepContext.current
  private let whenEnded: @Sendable (StepRun) -> Void

  init(
    _ sequence: LaunchSequence, _ purpose: Purpose, in registry: InitializerRegistry,
    whenEnded: @escaping @Sendable (StepRun) -> Void
  ) {
    self.sequence = sequence
    self.purpose = purpose
    self.registry = registry
    self.whenEnded = whenEnded
    plan = sequence.plan
    clock = ElapsedClock(sequence.clock)
    let isLaunch = if case .launch = purpose { true } else { false }
    state = Lock(RunState(plan, isLaunch: isLaunch))
  }

  /// Begins as many steps as may run, and ends the run after the last.
  ///
  /// Only one caller does so at a time, in a loop: what becomes ready meanwhile is seen by it. So a step that is done at
  /// once, on the caller's stack, makes no recursion.
  ///
  /// - Parameter isOnMainActor: Whether to begin the steps right here, for `launchImmediately()`.
  func pump(isOnMainActor: Bool = false) {
    let isMine = state.withLock { state in
      defer { state.isPumping = true }
      return !state.isPumping
    }
    guard isMine else { return }
    while true {
      let time = clock.now
      var hasEnded = false
      let next = state.withLock { state in
        let next = state.next(width: sequence.width, at: time)
        if next == nil {
          state.isPumping = false
          hasEnded = state.takeEnd()
        }
        return next
      }
      if hasEnded { whenEnded(self) }
      guard let next else { return }
      begin(next.place, next.attempt, isOnMainActor: isOnMainActor)
    }
  }

  /// Lets no further step begin, and cancels those under way.
  func stop(_ cause: RunState.Stop) {
    let time = clock.now
    let (tasks, underWay) = state.withLock { state in
      let isFirst = state.stop == nil && !state.hasEnded
      return (state.stop(cause, at: time), isFirst ? state.underWay : [])
    }
    for task in tasks { task.cancel() }
    for place in underWay { abandonLater(place, state.withLock { $0.records[place].attempt }) }
    pump()
  }

  // MARK: Attempts

  private func begin(_ place: Int, _ attempt: Int, isOnMainActor: Bool) {
    let step = plan.steps[place]
    let context = StepContext(step.id, of: ObjectIdentifier(sequence), in: outer)
    let task = StepContext.$current.withValue(context) {
      registry.run {
        if isOnMainActor {
          return startImmediately {
            let result = await self.attempt(place, step)
            context.end()
            self.end(place, attempt, result)
          }
        }
        return Task {
          let result = await self.attempt(place, step)
          context.end()
          self.end(place, attempt, result)
        }
      }
    }
    let timer = step.timeout.map { timeout in
      clock.timer(at: clock.now + timeout) { [self] in timeOut(place, attempt) }
    }
    let isStopped = state.withLock { state in
      guard state.isRunning(place, attempt) else { return true }
      let isStopped = state.stop != nil || state.records[place].hasTimedOut
      state.records[place].task = task
      if !isStopped { state.records[place].timer = timer }
      return isStopped
    }
    if isStopped {
      // It is over, or was to be stopped before its task was known.
      task.cancel()
      timer?.cancel()
    }
  }

  /// Does what the step is for; false where it had nothing to do.
  private nonisolated(nonsending) func attempt(_ place: Int, _ step: LaunchPlan.Step) async -> Result<Bool, any Error> {
    do {
      if case .foreground(let chosen) = purpose {
        guard chosen.contains(place), await step.initializer.shouldPerformWhenApplicationEntersForeground() else {
          return .success(false)
        }
      }
      try await step.initializer.perform(with: sequence.configuration)
      return .success(true)
    } catch {
      return .failure(error)
    }
  }

  private func end(_ place: Int, _ attempt: Int, _ result: Result<Bool, any Error>) {
    let time = clock.now
    let (consequence, timer) = state.withLock { state in
      let timer = state.isRunning(place, attempt) ? state.records[place].timer : nil
      return (state.end(place, attempt, result, at: time), timer)
    }
    timer?.cancel()
    follow(consequence, place)
  }

  private func follow(_ consequence: RunState.Consequence, _ place: Int) {
    switch consequence {
    case .none: pump()
    case .stop(let cause): stop(cause)
    case .giveUp:
      let initializer = plan.steps[place].initializer
      Task { await initializer.shutDown() }
    case .retry(let time):
      let timer = clock.timer(at: time) { [self] in
        state.withLock { $0.resume(place) }
        pump()
      }
      let isPausing = state.withLock { state in
        guard state.records[place].phase == .pausing else { return false }
        state.records[place].timer = timer
        return true
      }
      if !isPausing { timer.cancel() }
      pump()
    }
  }

  // MARK: Time

  private func timeOut(_ place: Int, _ attempt: Int) {
    let task: Task<Void, Never>?? = state.withLock { state in
      guard state.isRunning(place, attempt) else { return nil }
      state.records[place].hasTimedOut = true
      return .some(state.records[place].task)
    }
    guard let task else { return }
    task?.cancel()
    abandonLater(place, attempt)
  }

  /// Gives an attempt that was cancelled a while to end, then goes on without it.
  private func abandonLater(_ place: Int, _ attempt: Int) {
    let grace = sequence.grace
    let timer = clock.timer(at: clock.now + grace) { [self] in
      let time = clock.now
      let consequence: RunState.Consequence? = state.withLock { state in
        state.isRunning(place, attempt) ? state.abandon(place, at: time, after: grace) : nil
      }
      if let consequence { follow(consequence, place) }
    }
    let isRunning = state.withLock { state in
      guard state.isRunning(place, attempt) else { return false }
      state.records[place].timer = timer
      return true
    }
    if !isRunning { timer.cancel() }
  }
}
