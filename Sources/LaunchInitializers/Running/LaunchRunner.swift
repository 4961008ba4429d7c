internal import Support
internal import SpellRegistry

/// Runs the steps of a plan: it performs the actions that a ``LaunchStateMachine`` decides on, outside the lock that
/// guards it, and tells it what happens.
///
/// Each attempt is a task of its own that nothing waits for, so that one that ignores its cancellation can be left
/// behind.
final class LaunchRunner: Sendable {
  typealias Machine = LaunchStateMachine

  let clock: LaunchClock
  private struct State {
    var machine: Machine
    /// The latest attempt of each step.
    var attempts: [StepAttempt?]
    /// The timers of the whole run.
    var timers: [LaunchTimer] = []
    /// The number of inputs to the machine.
    var inputs = 0
  }
  private let state: Lock<State>
  private let plan: LaunchPlan
  private let purpose: Machine.Purpose
  private let sequence: LaunchSequence
  private let registry: InitializerRegistry
  private let caller = StepAttempt.current
  private let whenEnded: @Sendable (LaunchRunner) -> Void

  /// What timers leave to a task of the caller's context, with its priority and task-local values.
  private let (postponed, postpone) = AsyncStream.makeStream(of: Machine.Action.self)

  init(
    _ sequence: LaunchSequence, _ plan: LaunchPlan, _ purpose: Machine.Purpose, in registry: InitializerRegistry,
    settled: [LaunchReport.Outcome?] = [], whenEnded: @escaping @Sendable (LaunchRunner) -> Void
  ) {
    self.sequence = sequence
    self.plan = plan
    self.purpose = purpose
    self.registry = registry
    self.whenEnded = whenEnded
    clock = LaunchClock(sequence.clock)
    let machine = Machine(
      plan, purpose, maxConcurrentSteps: sequence.maxConcurrentSteps, grace: sequence.cancellationGracePeriod,
      settled: settled)
    state = Lock(State(machine: machine, attempts: Array(repeating: nil, count: plan.steps.count)))
  }

  /// Begins to run the steps.
  ///
  /// - Parameter isOnMainActor: Whether to begin the first ones right here, for `launchImmediately()`.
  func start(isOnMainActor: Bool = false) {
    Task { for await action in postponed { perform(action) } }
    // The start is the first input.
    watch(inputs: 1)
    perform(decide { $0.start(at: $1, beginsSteps: !isOnMainActor) })
    guard isOnMainActor else { return }
    while let action = decide({ $0.beginNext(at: $1) }).first { perform(action, isOnMainActor: true) }
  }

  /// Lets no further step begin, and cancels those under way.
  func stop(_ cause: Machine.Stop) { perform(decide { $0.stop(cause, at: $1) }) }

  /// Stops the run after some time, if it has not ended.
  func limit(to duration: Duration) {
    keep(
      clock.timer(at: clock.now + duration) { [self] in performOnTimer(decide { $0.stop(.limit(duration), at: $1) }) })
  }

  /// Keeps a timer of the whole run, which is cancelled when the run ends.
  private func keep(_ timer: LaunchTimer) {
    let hasEnded = state.withLock { state in
      if !state.machine.hasEnded { state.timers.append(timer) }
      return state.machine.hasEnded
    }
    if hasEnded { timer.cancel() }
  }

  /// The number of inputs to the machine.
  var inputCount: Int { state.withLock(\.inputs) }

  /// The machine as it is now: for the report.
  var machine: Machine { state.withLock(\.machine) }

  /// The attempts of completed steps that registered services.
  func services() -> [Int: StepAttempt] {
    state.withLock { state in
      var services: [Int: StepAttempt] = [:]
      for step in state.machine.completed {
        if let attempt = state.attempts[step], attempt.hasServices { services[step] = attempt }
      }
      return services
    }
  }

  // MARK: Actions

  /// Gives the machine an input, and returns the actions that follow.
  ///
  /// Events are sent under the lock, so that they come in the order of what happens.
  private func decide(_ input: (inout Machine, Duration) -> [Machine.Action]) -> [Machine.Action] {
    let time = clock.now
    return state.withLock { state in
      state.inputs += 1
      let actions = input(&state.machine, time)
      if sequence.hub.hasStreams { for event in events(of: actions, state.machine) { sequence.hub.send(event) } }
      return actions
    }
  }

  private func perform(_ actions: [Machine.Action]) { for action in actions { perform(action) } }

  private func perform(_ action: Machine.Action, isOnMainActor: Bool = false) {
    switch action {
    case .start: break
    case .begin(let attempt, let timeout): begin(attempt, timeout: timeout, isOnMainActor: isOnMainActor)
    case .cancel(let attempt): self.attempt(attempt)?.cancel()
    case .cancelPause(let attempt): self.attempt(attempt)?.cancelPause()
    case .abandon(let attempt): self.attempt(attempt)?.abandon()
    case .schedule(let timer, let attempt, let time): schedule(timer, attempt, at: time)
    case .undo(let attempt, let shutsDown): undo(attempt, shutsDown: shutsDown)
    case .report(let step, let pause): if pause == nil { startService(of: step) }
    case .end:
      postpone.finish()
      for timer in state.withLock(\.timers) { timer.cancel() }
      whenEnded(self)
    }
  }

  /// Performs actions on the thread of a timer, which has neither the caller's priority nor its task-local values.
  private func performOnTimer(_ actions: [Machine.Action]) {
    for action in actions {
      switch action {
      case .begin: postpone.yield(action)
      // What can be done without the pool isn't left to it: steps may block every thread of it.
      case .end where state.withLock({ $0.machine.stop != nil && !$0.machine.completed.isEmpty }):
        postpone.yield(action)
      default: perform(action)
      }
    }
  }

  private func attempt(_ attempt: Machine.Attempt) -> StepAttempt? {
    state.withLock { $0.attempts[attempt.step] }.flatMap { $0.attempt == attempt ? $0 : nil }
  }

  // MARK: Attempts

  private func begin(_ attempt: Machine.Attempt, timeout: Duration?, isOnMainActor: Bool) {
    let step = plan.steps[attempt.step]
    let handle = StepAttempt(
      step.id, attempt, of: ObjectIdentifier(sequence), in: caller, isStarting: isOnMainActor)
    let isWanted = state.withLock { state in
      state.attempts[attempt.step] = handle
      return state.machine.isWanted(attempt)
    }
    if !isWanted { handle.cancel() }
    // Before the task, which may not give this thread back for long.
    if let timeout { schedule(.timeout, attempt, at: timeout) }
    handle.start(
      StepAttempt.$current.withValue(handle) {
        // A step that another one begins is in the registry already.
        InitializerRegistry.current === registry
          ? start(step, handle, isOnMainActor) : registry.run { start(step, handle, isOnMainActor) }
      })
  }

  private func start(_ step: LaunchPlan.Step, _ handle: StepAttempt, _ isOnMainActor: Bool) -> Task<Void, Never> {
    isOnMainActor ? startImmediately { await self.run(step, handle) } : Task { await self.run(step, handle) }
  }

  private nonisolated(nonsending) func run(_ step: LaunchPlan.Step, _ handle: StepAttempt) async {
    let isWanted = state.withLock { $0.machine.attemptBegan(handle.attempt) }
    let result = isWanted ? await perform(step) : .failed(CancellationError(), "cancelled", isRetryable: false)
    // The call that begins a step on the main actor looks itself for what is next, when it returns: so a step that is
    // done at once, on its caller's stack, makes no recursion.
    let isStarting = handle.end()
    if case .failed = result { handle.withdrawServices() }
    perform(
      decide {
        $0.attemptEnded(
          handle.attempt, result, at: $1, random: { .random(in: 0...1) }, beginsSteps: !isStarting)
      })
    // That call may have looked before there was anything to see.
    if isStarting, !handle.isStarting { perform(decide { $0.beginReady(at: $1) }) }
  }

  /// Does what the step is for.
  private nonisolated(nonsending) func perform(_ step: LaunchPlan.Step) async -> Machine.Result {
    let initializer = step.initializer
    do {
      switch purpose {
      case .launch, .deferred:
        if let condition = step.listed.condition, !condition(sequence.configuration) {
          return .skipped("its condition doesn't hold")
        }
        try await initializer.perform(with: sequence.configuration)
      case .foreground:
        guard await initializer.shouldPerformWhenApplicationEntersForeground() else { return .idle }
        try await initializer.perform(with: sequence.configuration)
      case .shutDown:
        await sequence.stopService(of: step)
        await initializer.shutDown()
        sequence.withdrawServices(of: step)
      }
      return .completed
    } catch let skip as SkipInitializer {
      return .skipped(skip.reason)
    } catch {
      await step.listed.rollback?()
      return .failed(error, "\(error)", isRetryable: step.policy.retry?.condition?(error) ?? true)
    }
  }

  /// Undoes what an abandoned attempt did in the end.
  private func undo(_ attempt: Machine.Attempt, shutsDown: Bool) {
    let handle = self.attempt(attempt)
    let initializer = plan.steps[attempt.step].initializer
    guard shutsDown else { return handle?.withdrawServices() ?? () }
    Task {
      await initializer.shutDown()
      handle?.withdrawServices()
    }
  }

  // MARK: Time

  /// Sets a timer for an attempt: the only place that does.
  private func schedule(_ timer: Machine.Timer, _ attempt: Machine.Attempt, at time: Duration) {
    guard let handle = self.attempt(attempt) else { return }
    let set = clock.timer(at: time) { [self] in performOnTimer(decide { $0.timerFired(timer, attempt, at: $1) }) }
    handle.add(set, isPause: timer == .pause)
  }

  // MARK: Events

  private func events(of actions: [Machine.Action], _ machine: Machine) -> [LaunchEvent] {
    actions.compactMap { action in
      switch action {
      case .start: event(.phaseBegan, at: machine.latest)
      case .end: event(.phaseEnded, at: machine.latest)
      case .begin(let attempt, _): event(.began(attempt: attempt.number), of: attempt.step, at: machine.latest)
      case .report(let step, let pause):
        event(
          pause.map { .retrying(after: $0) } ?? .ended(machine.steps[step].outcome), of: step,
          at: machine.steps[step].end, machine.steps[step].message)
      default: nil
      }
    }
  }

  private func event(
    _ kind: LaunchEvent.Kind, of step: Int? = nil, at time: Duration, _ message: String? = nil
  ) -> LaunchEvent {
    LaunchEvent(kind: kind, phase: purpose.phase, id: step.map { plan.steps[$0].id }, time: time, message: message)
  }

  /// Says which steps the run waits for whenever nothing has happened for a while.
  private func watch(inputs: Int) {
    guard sequence.hub.hasStreams else { return }
    let time = clock.now + .seconds(10)
    keep(
      clock.timer(at: time) { [self] in
        let (latest, waiting) = state.withLock { state in
          (state.inputs, state.machine.underWay.map { plan.steps[$0].id })
        }
        if latest == inputs, !waiting.isEmpty { sequence.hub.send(event(.waiting(for: waiting), at: time)) }
        watch(inputs: latest)
      })
  }

  private func startService(of step: Int) {
    guard purpose.isFirstRun, plan.steps[step].listed.isService else { return }
    let isWanted = state.withLock { $0.machine.steps[step].outcome == .completed && $0.machine.stop == nil }
    if isWanted { sequence.startService(of: plan.steps[step], in: registry, clock) }
  }
}

extension LaunchStateMachine.Purpose {
  fileprivate var phase: LaunchEvent.Phase {
    switch self {
    case .launch: .launch
    case .deferred: .deferred
    case .foreground: .foreground
    case .shutDown: .shutDown
    }
  }
}
