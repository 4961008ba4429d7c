internal import SpellRegistry
internal import Support

// The inputs that the sequence passes to its machine, and the machine's actions, which the sequence carries out.

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
    case .cancel(let job): callOnSharedThread { [self] in cancelTask(of: job) }
    case .schedule(let timer, let time): schedule(timer, at: time)
    case .unschedule: cancelDroppedTimers()
    case .withdraw(let products): for product in products.reversed() { product.withdraw() }
    case .event(let event): if LaunchEvent.isLogged(event.kind, event.phase, event.message) { log.start() }
    case .answer(let calls, let answer):
      log.whenWritten { [self] in for call in calls { resume(call) { $0.answers[call] = answer } } }
    // `signalArrived(_:_:)` has already carried out this action on the signal thread.
    case .endProcess: break
    case .over: end()
    }
  }

  /// Cancels the task of a job; the cancellation handlers, which are code of the steps, may block the thread.
  private func cancelTask(of job: Job) {
    handle(.isCancelled(job))
    state.withLock { $0.tasks[job] }?.cancel()
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

  /// Performs again the steps that ask for it, as at a return to the foreground.
  func repeatSteps() {
    callOnThread { [self] in
      handle(.background)
      handle(.call(nil, .foreground))
    }
  }

  private func schedule(_ timer: LaunchMachine.Timer, at time: Duration) {
    let body = { @Sendable [self] in
      if state.withLock({ $0.fires(timer, at: time) }) { handle(.fired(timer)) }
    }
    // The `.watch` timer runs in real time, even if the sequence was created with another clock, such as a test clock.
    let cancel =
      if case .watch = timer { LaunchClock.timer(after: time - clock.now(), body) } else { clock.timer(time, body) }
    // The timer may have fired or become unneeded in the meantime, for example because its job ended.
    if !state.withLock({ $0.store(cancel, for: timer, at: time) }) { cancel() }
    cancelDroppedTimers()
  }

  private func cancelDroppedTimers() {
    for cancel in state.withLock({ $0.takeDroppedTimers() }) { cancel() }
  }

  private func end() {
    let streams = state.withLock { state in
      state.dropAllTimers()
      defer { state.streams = [:] }
      return state.streams.values
    }
    cancelDroppedTimers()
    for stream in streams { stream.finish() }
  }

  // MARK: Callers

  /// Passes a call of a public method, such as `launch()`, to the machine, and returns the number of the call.
  ///
  /// The first call that launches the sequence also determines the registry that all steps use.
  func enroll(_ call: LaunchMachine.Call) -> Int {
    let (id, actions) = enter(call)
    carryOut(actions)
    return id
  }

  /// Passes a call to the machine, and returns the number of the call and the machine's actions.
  func enter(_ call: LaunchMachine.Call) -> (id: Int, actions: [LaunchMachine.Action]) {
    let (time, registry, outer) = (clock.now(), InitializerRegistry.current, StepContext.current)
    let priority = Task.currentPriority
    let (id, actions, isFirst, tasks) = state.withLock { state in
      state.lastCall += 1
      let id = state.lastCall
      let isLaunch = call.isLaunch || call.isRun
      let isFirst = state.registry == nil && isLaunch
      if isFirst { (state.registry, state.outer) = (registry, outer) }
      let tasks = isLaunch ? state.raisePriority(to: priority) : []
      return (id, state.decide(.call(id, call), at: time), isFirst, tasks)
    }
    escalate(tasks, to: priority)
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
}
