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
  let clock: LaunchClock
  let state: Lock<RunState>
  private let sequence: LaunchSequence
  private let purpose: Purpose
  private let registry: InitializerRegistry
  private let outer = StepContext.current
  private let whenEnded: @Sendable (StepRun) -> Void

  /// Asks for a look at what is ready, from a thread that must not begin steps itself.
  private let (calls, call) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(
    _ sequence: LaunchSequence, _ purpose: Purpose, in registry: InitializerRegistry,
    whenEnded: @escaping @Sendable (StepRun) -> Void
  ) {
    self.sequence = sequence
    self.purpose = purpose
    self.registry = registry
    self.whenEnded = whenEnded
    plan = sequence.plan
    clock = LaunchClock(sequence.clock)
    let isLaunch = if case .launch = purpose { true } else { false }
    state = Lock(RunState(plan, width: sequence.width, isLaunch: isLaunch))
  }

  /// Begins to run the steps.
  ///
  /// - Parameter isOnMainActor: Whether to begin the first ones right here, for `launchImmediately()`.
  func start(isOnMainActor: Bool = false) {
    // Steps that are ready because of a timer begin from here: so they have the caller's priority and task-local values.
    Task { for await _ in calls { pump() } }
    pump(isOnMainActor: isOnMainActor)
  }

  /// Begins as many steps as may run, and ends the run after the last.
  ///
  /// Only one caller does so at a time, in a loop: what becomes ready meanwhile is seen by it. So a step that is done at
  /// once, on the caller's stack, makes no recursion. Any caller ends the run.
  private func pump(isOnMainActor: Bool = false) {
    let (isMine, hasEnded) = state.withLock { state in
      if state.isPumping { return (false, state.takeEnd()) }
      state.isPumping = true
      return (true, false)
    }
    if hasEnded { end() }
    guard isMine else { return }
    while true {
      let time = clock.now
      var hasEnded = false
      let next = state.withLock { state in
        // On the main actor nobody knows which steps wait before they are begun, and those that don't are to be done.
        let next = state.next(at: time, ignoresWidth: isOnMainActor)
        if next == nil {
          state.isPumping = false
          hasEnded = state.takeEnd()
        }
        return next
      }
      if hasEnded { end() }
      guard let next else { return }
      begin(next.place, next.attempt, isOnMainActor: isOnMainActor)
    }
  }

  /// Does what `pump` does, from a timer's thread.
  ///
  /// What can't be done without the pool is left to it; the end need not wait for it, unless something is to be shut down.
  private func pumpFromTimer() {
    let hasEnded = state.withLock { state in (state.stop == nil || state.completed.isEmpty) && state.takeEnd() }
    if hasEnded { end() } else { call.yield() }
  }

  private func end() {
    call.finish()
    whenEnded(self)
  }

  /// Lets no further step begin, and cancels those under way.
  func stop(_ cause: RunState.Stop) {
    cancelAll(for: cause)
    pump()
  }

  private func cancelAll(for cause: RunState.Stop) {
    let (tasks, underWay) = state.withLock { state in
      let isFirst = state.stop == nil && !state.hasEnded
      let underWay = isFirst ? state.underWay.map { (place: $0, attempt: state.records[$0].attempt) } : []
      return (state.stop(cause), underWay)
    }
    // Before what is cancelled may take its time to hear of it.
    for (place, attempt) in underWay { abandonLater(place, attempt) }
    for task in tasks { task.cancel() }
  }

  // MARK: Attempts

  private func begin(_ place: Int, _ attempt: Int, isOnMainActor: Bool) {
    let step = plan.steps[place]
    let context = StepContext(step.id, of: ObjectIdentifier(sequence), in: outer)
    // Before the task, which may not give this thread back for long.
    let timer = step.timeout.map { timeout in
      clock.timer(at: clock.now + timeout) { [self] in timeOut(place, attempt) }
    }
    if let timer {
      state.withLock { state in
        guard state.isRunning(place, attempt) else { return }
        state.records[place].context = context
        if !state.records[place].hasTimedOut { state.records[place].timer = timer }
      }
    }
    let task = StepContext.$current.withValue(context) {
      registry.run {
        if isOnMainActor {
          return startImmediately { await self.run(place, attempt, step, context) }
        }
        return Task { await self.run(place, attempt, step, context) }
      }
    }
    let isStopped = state.withLock { state in
      guard state.isRunning(place, attempt) else { return true }
      (state.records[place].task, state.records[place].context) = (task, context)
      return state.stop != nil || state.records[place].hasTimedOut
    }
    // It is over, or was to be stopped before its task was known.
    if isStopped { task.cancel() }
  }

  private nonisolated(nonsending) func run(
    _ place: Int, _ attempt: Int, _ step: LaunchPlan.Step, _ context: StepContext
  ) async {
    let isWanted = state.withLock { $0.start(place, attempt) }
    let result = isWanted ? await self.attempt(place, step) : .failure(CancellationError())
    context.end()
    if case .failure = result { context.withdrawServices() }
    let time = clock.now
    let (consequence, timer) = state.withLock { state in
      let timer = state.isRunning(place, attempt) ? state.records[place].timer : nil
      return (state.end(place, attempt, context, result, at: time), timer)
    }
    timer?.cancel()
    follow(consequence, place, context)
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

  private func follow(_ consequence: RunState.Consequence, _ place: Int, _ context: StepContext) {
    switch consequence {
    case .none: pump()
    case .stop(let cause): stop(cause)
    case .withdraw: context.withdrawServices()
    case .giveUp:
      let initializer = plan.steps[place].initializer
      Task {
        await initializer.shutDown()
        context.withdrawServices()
      }
    case .retry(let time):
      retry(place, at: time)
      pump()
    }
  }

  // MARK: Time

  private func retry(_ place: Int, at time: Duration) {
    let timer = clock.timer(at: time) { [self] in
      state.withLock { $0.resume(place) }
      pumpFromTimer()
    }
    let isPausing = state.withLock { state in
      guard state.records[place].phase == .pausing else { return false }
      state.records[place].timer = timer
      return true
    }
    if !isPausing { timer.cancel() }
  }

  private func timeOut(_ place: Int, _ attempt: Int) {
    let task: Task<Void, Never>?? = state.withLock { state in
      guard state.isRunning(place, attempt) else { return nil }
      state.records[place].hasTimedOut = true
      return .some(state.records[place].task)
    }
    guard let task else { return }
    abandonLater(place, attempt)
    task?.cancel()
  }

  /// Gives an attempt that was cancelled a while to end, then goes on without it.
  private func abandonLater(_ place: Int, _ attempt: Int) {
    let grace = sequence.grace
    let timer = clock.timer(at: clock.now + grace) { [self] in
      let time = clock.now
      let consequence: RunState.Consequence? = state.withLock { state in
        state.isRunning(place, attempt) ? state.abandon(place, at: time, after: grace) : nil
      }
      if case .stop(let cause) = consequence { cancelAll(for: cause) }
      if consequence != nil { pumpFromTimer() }
    }
    let isRunning = state.withLock { state in
      guard state.isRunning(place, attempt) else { return false }
      state.records[place].timer = timer
      return true
    }
    if !isRunning { timer.cancel() }
  }
}
