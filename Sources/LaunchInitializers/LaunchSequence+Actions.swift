internal import SpellRegistry
internal import Support

/// The state machine of a sequence, with the tasks, timers, callers and streams that the machine's actions refer to.
struct SequenceState {
  var machine: LaunchMachine
  /// The registry that was current when a caller first launched the sequence; nil before that call.
  var registry: InitializerRegistry?
  /// The context of the step (of another sequence) that launched this sequence; nil if no step launched it.
  var outer: StepContext?
  var tasks: [LaunchMachine.Job: Task<Void, Never>] = [:]
  var timers: [LaunchMachine.Timer: LaunchClock.Cancel] = [:]
  /// For each step, the services that its attempts registered, in order.
  var registered: [Int: [any StepService]] = [:]
  /// The callers that wait for an answer, and the answers that callers haven't received yet.
  ///
  /// The keys of both dictionaries are the numbers of the calls.
  var waiting: [Int: CheckedContinuation<LaunchMachine.Answer, Never>] = [:]
  var answers: [Int: LaunchMachine.Answer] = [:]
  /// The event streams that are still being read; the keys are the streams' numbers.
  var streams: [Int: AsyncStream<LaunchEvent>.Continuation] = [:]
  var lastStream = 0
  let log: LaunchLog
  var lastCall = 0

  init(_ machine: LaunchMachine, log: LaunchLog) { (self.machine, self.log) = (machine, log) }

  /// Passes an input to the machine, sends the resulting events to the streams and the log, and returns the actions.
  ///
  /// The caller must hold the sequence's lock, so that the events arrive in the order in which they happen.
  mutating func decide(_ input: LaunchMachine.Input, at time: Duration) -> [LaunchMachine.Action] {
    let actions = machine.handle(input, at: time)
    for case .event(let event) in actions {
      for stream in streams.values { stream.yield(event) }
      if LaunchEvent.isLogged(event.kind, event.phase, event.message) { log.add(event) }
    }
    return actions
  }

  /// Returns whether a timer that was just set may still be needed.
  ///
  /// A job's timer isn't needed after the job has ended or the machine has canceled the timer. Any other timer may be
  /// needed until the sequence is over.
  func isWanted(_ timer: LaunchMachine.Timer) -> Bool {
    switch timer {
    case .timeout(let job), .readiness(let job), .stop(let job), .grace(let job):
      machine.jobs[job]?.timers.contains(timer) ?? false
    case .retry, .restart, .limit, .drain, .watch: machine.phase != .over
    }
  }
}

// MARK: Inputs and actions

extension LaunchSequence {
  typealias Job = LaunchMachine.Job

  /// Passes an input to the machine, and carries out the actions that the machine returns.
  func handle(_ input: LaunchMachine.Input) { carryOut(decide(input)) }

  private func decide(_ input: LaunchMachine.Input) -> [LaunchMachine.Action] {
    let time = clock.now()
    return state.withLock { state in state.decide(input, at: time) }
  }

  private func carryOut(_ actions: [LaunchMachine.Action]) { for action in actions { carryOut(action) } }
  func carryOut(_ action: LaunchMachine.Action) {
    switch action {
    case .start(let job): startSource.yield(job)
    case .giveUp(let job): handle(registry.run { unbegun(job) })
    case .cancel(let job): state.withLock { $0.tasks[job] }?.cancel()
    case .schedule(let timer, let time): schedule(timer, at: time)
    case .unschedule(let timer): state.withLock { $0.timers.removeValue(forKey: timer) }?()
    case .withdraw(let job): withdraw(job.step) { $0 == job }
    case .withdrawAll(let step, let kept): withdraw(step) { job in kept.map { job.precedes($0) } ?? true }
    case .event(let event): if LaunchEvent.isLogged(event.kind, event.phase, event.message) { log.start() }
    case .answer(let calls, let answer):
      log.answer { [self] in for call in calls { resume(call) { $0.answers[call] = answer } } }
    // `signalArrived(_:_:)` has already carried out this action on the signal thread.
    case .endProcess: break
    case .over: end()
    }
  }

  /// Passes a signal to the machine, and ends the process if the machine decides to.
  ///
  /// This method runs on the signal thread. All other actions are carried out on a new thread, because they could block
  /// the signal thread.
  func signalArrived(_ number: Int32, _ arrival: Int) {
    let actions = decide(.signal(number, arrival: arrival))
    for case .endProcess(let number) in actions { SignalListener.endProcess(number) }
    callOnThread { [self] in carryOut(actions) }
  }

  private func schedule(_ timer: LaunchMachine.Timer, at time: Duration) {
    let body = { @Sendable [self] in
      state.withLock { $0.timers[timer] = nil }
      handle(.fired(timer))
    }
    // The `.watch` timer runs in real time, even if the sequence was created with another clock, such as a test clock.
    let set =
      if case .watch = timer { LaunchClock.timer(after: time - clock.now(), body) } else { clock.timer(time, body) }
    // The timer may have become unneeded before it was stored in the state, for example because its job ended.
    state.withLock { $0.timers[timer] = set }
    if !state.withLock({ $0.isWanted(timer) }) { carryOut(.unschedule(timer)) }
  }

  private func end() {
    let (timers, streams, registered) = state.withLock { state in
      defer { (state.timers, state.streams, state.registered) = ([:], [:], [:]) }
      return (state.timers.values, state.streams.values, state.registered.values)
    }
    for timer in timers { timer() }
    for service in registered.joined().reversed() { service.withdraw() }
    for stream in streams { stream.finish() }
  }

  // MARK: Callers

  /// Passes a call of a public method, such as `launch()`, to the machine, and returns the number of the call.
  ///
  /// The first call that launches the sequence also determines the registry that all steps use.
  func enroll(_ call: LaunchMachine.Call) -> Int {
    let (id, actions) = decide(call)
    carryOut(actions)
    return id
  }

  private func decide(_ call: LaunchMachine.Call) -> (id: Int, actions: [LaunchMachine.Action]) {
    let (time, registry, outer) = (clock.now(), InitializerRegistry.current, StepContext.current)
    let (id, actions, isFirst) = state.withLock { state in
      state.lastCall += 1
      let id = state.lastCall
      let isFirst = state.registry == nil && (call.isLaunch || call.isRun)
      if isFirst { (state.registry, state.outer) = (registry, outer) }
      return (id, state.decide(.call(id, call), at: time), isFirst)
    }
    // The task doesn't retain the sequence between jobs, so that an unused sequence is released.
    if isFirst { Task { [weak self, starts] in for await job in starts { self?.start(job) } } }
    return (id, actions)
  }

  func answer(to call: Int) async -> LaunchMachine.Answer {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in resume(call) { $0.waiting[call] = continuation } }
    } onCancel: {
      handle(.cancelled(call))
    }
  }

  /// Calls `note`, which stores a caller or the answer to its call, and then resumes the caller if both are stored.
  private func resume(_ call: Int, _ note: (inout SequenceState) -> Void) {
    let (caller, answer) = state.withLock { state in
      note(&state)
      let caller = state.answers[call] == nil ? nil : state.waiting.removeValue(forKey: call)
      return (caller, caller == nil ? nil : state.answers.removeValue(forKey: call))
    }
    if let answer { caller?.resume(returning: answer) }
  }

  // MARK: Jobs

  /// Begins the launch on the main actor, and returns when no further job can begin without waiting.
  ///
  /// The object in `immediate` has the jobs that this method still has to begin. When a job ends, the jobs that can
  /// begin next are added to the object.
  ///
  /// - Returns: The number of the call for the launch.
  @MainActor func beginImmediately() -> Int {
    let (call, actions) = decide(.launch)
    let immediate = ImmediateJobs()
    immediate.carryOut(actions, in: self)
    while let job = immediate.next() {
      // The context is bound outside the task, because `withValue` with an async closure would leave the main actor.
      let task = StepContext.$current.withValue(context(of: job)) {
        registry.run {
          guard #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) else {
            return Task { @MainActor in await self.work(on: job, immediate) }
          }
          return Task.immediate { @MainActor in await self.work(on: job, immediate) }
        }
      }
      keep(task, for: job)
    }
    return call
  }

  private func start(_ job: Job) { keep(registry.run { Task { await self.work(on: job) } }, for: job) }
  private var registry: InitializerRegistry { state.withLock(\.registry) ?? .current }
  private func context(of job: Job) -> StepContext { StepContext(self, job, in: state.withLock(\.outer)) }

  /// Stores the task of a job that hasn't ended, so that the task can be canceled.
  ///
  /// If the job is already canceled, the task is canceled immediately.
  private func keep(_ task: Task<Void, Never>, for job: Job) {
    let isCancelled = state.withLock { state in
      guard let known = state.machine.jobs[job] else { return false }
      state.tasks[job] = task
      return known.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Works on a job; then, in the same task, on a job that can begin because the previous job has ended, and so on.
  ///
  /// If `immediate` isn't nil, the method works only on the first job, and carries out the resulting actions with
  /// `immediate`. A task for each step would take twice as long (the benchmarks "Launch 1,000 steps").
  private nonisolated(nonsending) func work(on first: Job, _ immediate: ImmediateJobs? = nil) async {
    var next: Job? = first
    while let job = next {
      let (actions, task) = ended(job, await end(of: job))
      if let immediate { return immediate.carryOut(actions, in: self) }
      next = nil
      for action in actions {
        if next == nil, let task, case .start(let other) = action {
          next = other
          keep(task, for: other)
        } else {
          carryOut(action)
        }
      }
    }
  }

  /// Records the end of a job, and returns the machine's actions and the job's task, in which another job can run.
  ///
  /// The task is nil if the job was canceled or abandoned, or if it ended before `keep(_:for:)` stored the task.
  private func ended(_ job: Job, _ end: LaunchMachine.Input) -> ([LaunchMachine.Action], Task<Void, Never>?) {
    let time = clock.now()
    return state.withLock { state in
      let isFree = state.machine.jobs[job]?.isCancelled == false
      let task = state.tasks.removeValue(forKey: job)
      return (state.decide(end, at: time), isFree ? task : nil)
    }
  }

  private nonisolated(nonsending) func end(of job: Job) async -> LaunchMachine.Input {
    if let end = state.withLock({ $0.machine.began(job) }) {
      // The failure policy is asked outside the lock, because its condition is user code.
      if case .unbegun = end { return unbegun(job) }
      return end
    }
    let current = StepContext.current
    if let current, current.sequence === self, current.job == job { return .ended(job, await runCode(of: job)) }
    return .ended(job, await StepContext.$current.withValue(context(of: job)) { await runCode(of: job) })
  }

  private func unbegun(_ job: Job) -> LaunchMachine.Input {
    .unbegun(job, isRetryable: isRetryable(job, CancellationError()))
  }

  /// Returns whether the retry condition of the step's failure policy accepts an error; true if it has no condition.
  private func isRetryable(_ job: Job, _ error: any Error) -> Bool {
    plan.nodes[job.step].declared?.policy.retry?.condition?(error) ?? true
  }

  private nonisolated(nonsending) func runCode(of job: Job) async -> LaunchMachine.Result {
    guard let declared = plan.nodes[job.step].declared else { return .completed }
    do {
      switch job.kind {
      case .rollBack: try await declared.rollback?()
      case .run:
        let service = RunningService(configuration: configuration) { [self] in handle(.ready(job)) }
        _ = try await declared.work.call(.run(service))
      case .stop: _ = try await declared.work.call(.stop)
      case .shutDown, .undo: _ = try await declared.work.call(.shutDown)
      case .setUp where job.purpose == .foreground:
        return try await declared.work.call(.performAgain(configuration)) ? .completed : .idle
      case .setUp: _ = try await declared.work.call(.perform(configuration))
      }
      return .completed
    } catch let skip as SkipInitializer where job.kind == .setUp {
      return .skipped(skip.description)
    } catch {
      return .failed(error, text: "\(error)", isRetryable: isRetryable(job, error))
    }
  }

  // MARK: The services that steps register

  func isUnderWay(_ job: Job) -> Bool { state.withLock { $0.machine.jobs[job] != nil } }

  func register(_ service: some Sendable, by job: Job) {
    if !isUnderWay(job) { return }
    let service = RegisteredService(service, by: job)
    let isWanted = state.withLock { state in
      let isWanted = state.machine.jobs[job] != nil
      if isWanted { state.registered[job.step, default: []].append(service) }
      return isWanted
    }
    if !isWanted { service.withdraw() }
  }

  /// Unregisters services of a step, in reverse order.
  ///
  /// A service is unregistered if `isUnwanted` returns true for the attempt that registered it. If the service is still
  /// registered, the step's newest other service of the same type is registered again instead. The service stays in
  /// `registered` until then. If the sequence ends on another thread in the meantime, `end()` also unregisters it.
  private func withdraw(_ step: Int, of isUnwanted: (Job) -> Bool) {
    var kept = state.withLock { $0.registered[step, default: []] }
    let services = kept.filter { isUnwanted($0.job) }
    if services.isEmpty { return }
    kept.removeAll { isUnwanted($0.job) }
    for service in services.reversed() {
      _ = kept.last { $0.takeOver(from: service) }
      service.withdraw()
    }
    // A service's deinitializer is user code, so the last reference to the service must not be released in the lock.
    withExtendedLifetime(services) {
      state.withLock { $0.registered[step]?.removeAll { other in services.contains { $0 === other } } }
    }
  }
}

/// The jobs that `launchImmediately()` still has to begin before it returns.
///
/// `jobs` is nil once all these jobs have begun, and later jobs aren't added. The object is used only on the main
/// actor. It isn't isolated to the main actor, because the functions that work on jobs aren't isolated.
private final class ImmediateJobs: Sendable {
  private let jobs = Lock<[LaunchMachine.Job]?>([])

  /// Carries out actions, except that a job to start is added to `jobs` as long as this list isn't nil.
  ///
  /// The loop in `beginImmediately()` starts the added jobs.
  func carryOut(_ actions: [LaunchMachine.Action], in sequence: LaunchSequence) {
    for action in actions {
      if case .start(let job) = action, jobs.withLock({ $0?.append(job) }) != nil { continue }
      sequence.carryOut(action)
    }
  }

  func next() -> LaunchMachine.Job? {
    jobs.withLock { jobs in
      if jobs?.isEmpty ?? true { jobs = nil }
      return jobs?.removeFirst()
    }
  }
}
