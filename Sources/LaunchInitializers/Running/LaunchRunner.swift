internal import Support
internal import SpellRegistry

/// Runs the steps of a plan: performs the actions that a ``LaunchStateMachine`` decides on, outside the lock that guards
/// it, and gives it what happens as input.
///
/// Nothing waits for the task of an attempt, so an attempt that ignores its cancellation can be left behind. When an
/// attempt ends, the next step goes on in its task. A task for each step would take twice as long (the benchmarks
/// "Launch 1,000 steps").
final class LaunchRunner: Sendable {
  typealias Machine = LaunchStateMachine

  let clock: LaunchClock
  private struct State {
    var machine: Machine
    /// The latest attempt of each step.
    var attempts: [StepAttempt?]
    /// The attempts that registered services, by the indices of their steps in the forward plan.
    var services: [Int: StepAttempt] = [:]
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

  /// The actions that timers leave to a task with the priority and task-local values of the caller.
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

  /// Begins to run the steps; the first ones right here if the caller is on the main actor.
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

  /// Keeps a timer of the whole run, which the end of the run cancels.
  private func keep(_ timer: LaunchTimer) {
    let hasEnded = state.withLock { state in
      if !state.machine.hasEnded { state.timers.append(timer) }
      return state.machine.hasEnded
    }
    if hasEnded { timer.cancel() }
  }

  /// The number of inputs to the machine.
  var inputCount: Int { state.withLock(\.inputs) }

  /// The state of the run, for the report.
  var machine: Machine { state.withLock(\.machine) }

  /// The attempts of completed steps that registered services, by the indices of the steps in the forward plan.
  var services: [Int: StepAttempt] {
    state.withLock { state in state.services.filter { state.machine.steps[$1.attempt.step].outcome == .completed } }
  }

  /// Takes over what a lazy run did to a step, for the report.
  func adopt(_ state: StepState, of step: Int, after duration: Duration) {
    let offset = clock.now - duration
    self.state.withLock { $0.machine.adopt(state, of: step, at: offset) }
  }

  // MARK: Actions

  /// Gives the machine an input, and returns the actions that follow.
  ///
  /// Events are sent under the lock, so they come in the order in which things happen.
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
    case .stop: if purpose == .launch { sequence.stopLazySteps() }
    case .begin(let attempt, let timeout): start(prepare(attempt, timeout, isOnMainActor), isOnMainActor)
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

  /// Performs actions on the thread of a timer, which lacks the caller's priority and task-local values.
  ///
  /// Only what needs the concurrency pool is left to a task, because steps may block every thread of the pool.
  private func performOnTimer(_ actions: [Machine.Action]) {
    for action in actions {
      switch action {
      case .begin: postpone.yield(action)
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

  /// Creates the attempt that the machine has begun, with its timer.
  private func prepare(_ attempt: Machine.Attempt, _ timeout: Duration?, _ isStarting: Bool) -> StepAttempt {
    let handle = StepAttempt(
      plan.steps[attempt.step].id, attempt, of: ObjectIdentifier(sequence), in: caller, isStarting: isStarting)
    let isWanted = state.withLock { state in
      state.attempts[attempt.step] = handle
      return state.machine.isWanted(attempt)
    }
    if !isWanted { handle.cancel() }
    // Before the task, whose first part may block this thread.
    if let timeout { schedule(.timeout, attempt, at: timeout) }
    return handle
  }

  private func start(_ attempt: StepAttempt, _ isOnMainActor: Bool) {
    func task() -> Task<Void, Never> {
      if isOnMainActor {
        // Bound here because the function that binds for an async closure would leave the main actor.
        return StepAttempt.$current.withValue(attempt) {
          startImmediately { _ = await self.run(attempt, isAlone: true) }
        }
      }
      return Task {
        var next: StepAttempt? = attempt
        while let attempt = next { next = await self.run(attempt) }
      }
    }
    // If the end of another step begins this one, the registry is current already.
    attempt.start(InitializerRegistry.current === registry ? task() : registry.run(task))
  }

  /// Runs an attempt, and returns the next one for its task.
  ///
  /// An attempt that began on the main actor is alone in its task, and is the current one there already.
  private nonisolated(nonsending) func run(_ attempt: StepAttempt, isAlone: Bool = false) async -> StepAttempt? {
    let step = plan.steps[attempt.attempt.step]
    let isWanted = state.withLock { $0.machine.attemptBegan(attempt.attempt) }
    let result: Machine.Result =
      if !isWanted {
        .failed(CancellationError(), "cancelled", isRetryable: false)
      } else if isAlone {
        await perform(step)
      } else {
        await StepAttempt.$current.withValue(attempt) { await perform(step) }
      }
    // While the call that begins steps on the main actor is on the stack, it begins the next ones itself when this returns.
    // So steps that don't suspend cause no recursion.
    let (isStarting, task) = attempt.end()
    if case .failed = result { attempt.withdrawServices() }
    if attempt.hasServices { state.withLock { $0.services[step.index] = attempt } }
    let actions = decide {
      $0.attemptEnded(attempt.attempt, result, at: $1, random: { .random(in: 0...1) }, beginsSteps: !isStarting)
    }
    var next: StepAttempt?
    for action in actions {
      if next == nil, !isAlone, let task, case .begin(let attempt, let timeout) = action, !Task.isCancelled {
        next = prepare(attempt, timeout, false)
        next?.start(task)
      } else {
        perform(action)
      }
    }
    // That call may have returned before there was anything to begin.
    if isStarting, !attempt.isStarting { perform(decide { $0.beginReady(at: $1) }) }
    return next
  }

  /// Does what the purpose of the run is with a step.
  private nonisolated(nonsending) func perform(_ step: LaunchPlan.Step) async -> Machine.Result {
    let initializer = step.initializer
    do {
      switch purpose {
      case .launch, .deferred:
        let declared = step.listed.declared
        if let condition = declared.condition, !condition(sequence.configuration) {
          return .skipped("its condition doesn't hold")
        }
        if declared.isLazy {
          sequence.offerService(of: step, in: registry)
          return .offered
        }
        try await initializer.perform(with: sequence.configuration)
      case .lazy: try await initializer.perform(with: sequence.configuration)
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
      await step.listed.declared.rollback?()
      return .failed(error, "\(error)", isRetryable: step.policy.retry?.condition?(error) ?? true)
    }
  }

  /// Undoes what an abandoned attempt did after all.
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

  /// Sets a timer for an attempt; nothing else does.
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
      case .begin(let attempt, _) where !isOffer(attempt.step):
        event(.began(attempt: attempt.number), of: attempt.step, at: machine.latest)
      case .report(let step, let pause):
        event(
          pause.map { .retrying(after: $0) } ?? .ended(machine.steps[step].outcome), of: step,
          at: machine.steps[step].end, machine.steps[step].message)
      default: nil
      }
    }
  }

  /// Whether the attempt of a step doesn't perform it, but makes its service resolvable.
  private func isOffer(_ step: Int) -> Bool {
    (purpose == .launch || purpose == .deferred) && plan.steps[step].listed.declared.isLazy
  }

  private func event(
    _ kind: LaunchEvent.Kind, of step: Int? = nil, at time: Duration, _ message: String? = nil
  ) -> LaunchEvent {
    LaunchEvent(kind: kind, phase: purpose.phase, id: step.map { plan.steps[$0].id }, time: time, message: message)
  }

  /// Sends an event about the steps that the run waits for whenever nothing has happened for a while.
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
    guard purpose.isFirstRun, plan.steps[step].isService else { return }
    let isWanted = state.withLock { $0.machine.steps[step].outcome == .completed && $0.machine.stop == nil }
    if isWanted { sequence.startService(of: plan.steps[step], in: registry, clock) }
  }
}

extension LaunchStateMachine.Purpose {
  fileprivate var phase: LaunchEvent.Phase {
    switch self {
    case .launch: .launch
    case .deferred: .deferred
    case .lazy: .lazy
    case .foreground: .foreground
    case .shutDown: .shutDown
    }
  }
}
