internal import SpellRegistry
internal import Support

// The jobs of a sequence's machine, which run the code of the steps.

extension LaunchSequence {
  /// Begins the launch on the main actor, and returns when no further job can begin without waiting.
  ///
  /// The object in `immediate` has the jobs that this method still has to begin. When a job ends, the jobs that can
  /// begin next are added to the object.
  ///
  /// - Returns: The number of the call for the launch.
  @MainActor func beginImmediately() -> Int {
    let (call, actions) = enter(.launch)
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

  func start(_ job: Job) {
    let priority = state.withLock(\.raisedPriority)
    keep(registry.run { Task(priority: priority) { await self.work(on: job) } }, for: job)
  }

  var registry: InitializerRegistry { state.withLock(\.registry) ?? .current }
  private func context(of job: Job) -> StepContext { StepContext(self, job, in: state.withLock(\.outer)) }

  /// Makes tasks as urgent as a caller that waits for them.
  func escalate(_ tasks: [Task<Void, Never>], to priority: TaskPriority) {
    guard #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) else { return }
    for task in tasks { task.escalatePriority(to: priority) }
  }

  /// Stores the task of a job that hasn't ended, so that the task can be canceled.
  ///
  /// If the job is already canceled, the task is canceled too.
  private func keep(_ task: Task<Void, Never>, for job: Job) {
    let isCancelled = state.withLock { state in
      guard let known = state.machine.jobs[job] else { return false }
      state.tasks[job] = task
      return known.isCancelled
    }
    if isCancelled { callOnSharedThread { task.cancel() } }
  }

  /// Works on a job; then, in the same task, on a job that can begin because the previous job has ended, and so on.
  ///
  /// If `immediate` isn't nil, the method works only on the first job, and carries out the resulting actions with
  /// `immediate`. A task for each step would take twice as long (the benchmarks "Launch 1,000 steps").
  private nonisolated(nonsending) func work(on first: Job, _ immediate: ImmediateJobs? = nil) async {
    var next: Job? = first
    // The time at which a job followed the previous one, so that the clock isn't read again.
    var begin: Duration?
    while let job = next {
      let end = await end(of: job, begin)
      let time = clock.now()
      let (actions, task) = ended(job, end, at: time)
      begin = time
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
  /// The task is nil if the job was canceled or abandoned, if it ended before `keep(_:for:)` stored the task, or if the
  /// task isn't as urgent as the launch.
  private func ended(
    _ job: Job, _ end: LaunchMachine.Input, at time: Duration
  ) -> ([LaunchMachine.Action], Task<Void, Never>?) {
    state.withLock { state in
      let isUrgent = state.raisedPriority.map { Task.currentPriority >= $0 } ?? true
      let isFree = state.machine.jobs[job]?.isCancelled == false && isUrgent
      let task = state.tasks.removeValue(forKey: job)
      return (state.decide(end, at: time), isFree ? task : nil)
    }
  }

  /// Runs the code of a job, unless the job needn't run anymore, and returns the input about its end.
  private nonisolated(nonsending) func end(of job: Job, _ begin: Duration?) async -> LaunchMachine.Input {
    if let current = StepContext.current, current.sequence === self, current.job == job {
      return await endInPlace(of: job, begin)
    }
    return await StepContext.$current.withValue(context(of: job)) { await endInPlace(of: job, begin) }
  }

  private nonisolated(nonsending) func endInPlace(of job: Job, _ begin: Duration?) async -> LaunchMachine.Input {
    switch plan.declared(job.step).work.place {
    case .anywhere: await endHere(of: job, begin)
    case .mainActor: await endOnMainActor(of: job)
    case .actor(let actor): await end(of: job, on: actor)
    }
  }

  @MainActor private func endOnMainActor(of job: Job) async -> LaunchMachine.Input { await endHere(of: job, nil) }

  private func end(of job: Job, on actor: isolated any Actor) async -> LaunchMachine.Input {
    await endHere(of: job, nil)
  }

  private nonisolated(nonsending) func endHere(of job: Job, _ begin: Duration?) async -> LaunchMachine.Input {
    let time = begin ?? clock.now()
    let (end, products) = state.withLock { $0.began(job, at: time) }
    // The failure policy is asked outside the lock, because its condition is user code.
    if case .unbegun? = end { return unbegun(job) }
    if let end { return end }
    if products.isEmpty { return .ended(job, await callCode(of: job, closing: [])) }
    // A step that closes its products gets them, whatever hides them by now.
    let own = registry.child { for product in products { product.register(in: $0) } }
    return .ended(job, await own.run { await callCode(of: job, closing: products) })
  }

  func unbegun(_ job: Job) -> LaunchMachine.Input {
    .unbegun(job, isRetryable: isRetryable(job, CancellationError()))
  }

  /// Returns whether the retry condition of the step's failure policy accepts an error.
  ///
  /// The condition isn't asked if no retry can follow.
  private func isRetryable(_ job: Job, _ error: any Error) -> Bool {
    guard let condition = plan.declared(job.step).policy.retry?.condition else { return true }
    return state.withLock { $0.machine.couldRetry(job) } ? condition(error) : true
  }

  private nonisolated(nonsending) func callCode(
    of job: Job, closing products: [any StepProduct]
  ) async -> LaunchMachine.Result {
    var errors: [any Error] = []
    for product in products.reversed() {
      do { try await product.close() } catch { errors.append(error) }
    }
    do {
      let declared = plan.declared(job.step)
      if try await !declared.work.call(job, in: self, rollback: declared.rollback) { return .idle }
    } catch let skip as SkipInitializer where job.kind == .setUp {
      return .skipped(skip.description)
    } catch {
      errors.append(error)
    }
    guard let first = errors.first else { return .completed }
    let error = errors.count == 1 ? first : SeveralErrors(all: errors)
    return .failed(error, text: "\(error)", isRetryable: isRetryable(job, first))
  }

  // MARK: Products of attempts

  func isUnderWay(_ job: Job) -> Bool { state.withLock { $0.machine.jobs[job] != nil } }

  func keep(_ product: some StepProduct, by job: Job) {
    if state.withLock({ $0.machine.keep(product, by: job) }) { product.register() }
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
