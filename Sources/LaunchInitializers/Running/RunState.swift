/// Everything that changes while steps run: who waits, who is ready, who runs, and why nobody begins any more.
///
/// Decides, and does nothing itself: what has to be done is returned, to be done outside the lock.
struct RunState {
  /// Why no further step begins.
  enum Stop {
    case failed(Int, LaunchError.Code, any Error)
    case cancelled
    case shutDown
  }

  /// What follows from the end of an attempt.
  enum Consequence {
    case none
    /// The step is to be tried again at that time.
    case retry(at: Duration)
    /// The run stops.
    case stop(Stop)
    /// Nobody waits for the step any more, and it did its work nevertheless: it has to give it up again.
    case giveUp
    /// Nobody waits for it, and its work at launch is to stay: only the services of this attempt are withdrawn.
    case withdraw
  }

  let plan: LaunchPlan
  let isLaunch: Bool
  var records: [StepRecord]
  var stop: Stop?
  /// The steps that completed, in that order.
  var completed: [Int] = []
  /// The attempts of those that registered services.
  var services: [Int: StepContext] = [:]
  /// Whether somebody is beginning steps, and will see what becomes ready meanwhile.
  var isPumping = false
  var hasEnded = false
  private var open: [Int]
  private var ready = StepHeap()
  private var places: StepPlaces
  private var pausing = 0
  /// The latest time that anything happened at.
  private var latest = Duration.zero

  init(_ plan: LaunchPlan, width: Int, isLaunch: Bool) {
    self.plan = plan
    self.isLaunch = isLaunch
    places = StepPlaces(width)
    records = Array(repeating: StepRecord(), count: plan.steps.count)
    open = plan.dependencies.map(\.count)
    queue(plan.steps.indices.filter { open[$0] == 0 }, at: .zero)
  }

  /// The time that something happens at: clocks are read outside the lock, and what follows is never before its cause.
  private mutating func now(_ time: Duration) -> Duration {
    latest = max(latest, time)
    return latest
  }
}

extension RunState {
  /// Takes the next step to begin; nil where none is ready or too many run.
  ///
  /// - Parameter ignoresWidth: Whether to begin as many as are ready.
  mutating func next(at time: Duration, ignoresWidth: Bool) -> (place: Int, attempt: Int)? {
    guard stop == nil, ignoresWidth || !places.isFull, let place = ready.popFirst() else { return nil }
    let time = now(time)
    let former = places.take(since: records[place].queued)
    records[place].phase = .running
    records[place].attempt += 1
    records[place].attemptStart = time
    (records[place].hasBegun, records[place].hasTimedOut) = (false, false)
    (records[place].task, records[place].timer) = (nil, nil)
    if records[place].attempt == 1 {
      records[place].start = time
      records[place].tookPlaceOf = former
    }
    return (place, records[place].attempt)
  }

  /// An attempt has a thread; false where it came too late to be wanted.
  mutating func start(_ place: Int, _ attempt: Int) -> Bool {
    guard isRunning(place, attempt), stop == nil, !records[place].hasTimedOut else { return false }
    records[place].hasBegun = true
    return true
  }

  /// Whether nothing more will happen; true only once.
  mutating func takeEnd() -> Bool {
    guard !hasEnded, places.taken == 0, pausing == 0, stop != nil || ready.isEmpty else { return false }
    hasEnded = true
    return true
  }

  func isRunning(_ place: Int, _ attempt: Int) -> Bool {
    records[place].phase == .running && records[place].attempt == attempt
  }

  /// The steps whose attempts are under way.
  var underWay: [Int] { places.taken == 0 ? [] : records.indices.filter { records[$0].phase == .running } }
}

// MARK: Ends of attempts

extension RunState {
  /// An attempt returned, with whether it had anything to do, or threw.
  mutating func end(
    _ place: Int, _ attempt: Int, _ context: StepContext, _ result: Result<Bool, any Error>, at time: Duration
  ) -> Consequence {
    guard isRunning(place, attempt) else {
      // What completed at launch is shut down with the rest; a late second run of it must not be, while the app runs.
      if isLaunch, case .success(true) = result { return .giveUp }
      return .withdraw
    }
    let time = now(time)
    places.leave(place, at: time)
    // Whoever keeps the time may not have had a chance to.
    let timeout = plan.steps[place].timeout
    let isLate = records[place].hasTimedOut || timeout.map { time - records[place].attemptStart > $0 } ?? false
    switch result {
    case .success(let hasWorked):
      records[place].isUnmentioned = !hasWorked
      records[place].finish(.completed, at: time, isLate ? overrun(place) : nil)
      if hasWorked {
        completed.append(place)
        if context.hasServices { services[place] = context }
      }
      release(place, at: time)
      return .none
    case .failure(let skip as SkipInitializer):
      records[place].finish(.skipped, at: time, isLate ? "\(skip.reason); \(overrun(place))" : skip.reason)
      release(place, at: time)
      return .none
    case .failure(let error):
      return fail(place, error, isLate: isLate, at: time)
    }
  }

  /// An attempt took too long and did not even heed its cancellation.
  mutating func abandon(_ place: Int, at time: Duration, after grace: Duration) -> Consequence {
    let time = now(time)
    places.leave(place, at: time)
    records[place].context?.giveUp()
    // Whoever begins steps is still in this one, on its own stack, and can't see what becomes ready.
    if records[place].task == nil { isPumping = false }
    let message =
      if records[place].hasBegun {
        "ignored its cancellation for \(grace.text) and was abandoned"
      } else if records[place].hasTimedOut {
        overrun(place)
      } else {
        "cancelled before it began: other steps block every thread"
      }
    records[place].wasAbandoned = records[place].hasBegun
    records[place].finish(.failed, at: time, message)
    guard stop == nil else { return .none }
    if plan.steps[place].policy == .skip || !isLaunch {
      release(place, at: time)
      return .none
    }
    return .stop(.failed(place, .timedOut, TimeoutError(message: message)))
  }

  /// What to say of a step that its timeout was too short for.
  private func overrun(_ place: Int) -> String {
    let timeout = (plan.steps[place].timeout ?? .zero).text
    return records[place].hasBegun
      ? "took longer than its timeout of \(timeout)"
      : "did not begin within its timeout of \(timeout): other steps block every thread"
  }

  private mutating func fail(_ place: Int, _ error: any Error, isLate: Bool, at time: Duration) -> Consequence {
    let step = plan.steps[place]
    var message = isLate ? overrun(place) : "\(error)"
    if isLate, !(error is CancellationError) { message += ", then failed: \(error)" }
    guard stop == nil else {
      let wasCancelled = error is CancellationError && !isLate
      let cancelled = records[place].hasBegun ? "cancelled" : "cancelled before it began"
      records[place].finish(.failed, at: time, wasCancelled ? cancelled : message)
      return .none
    }
    if case .retry(let count, let pause) = step.policy, records[place].attempt <= count {
      records[place].phase = .pausing
      records[place].message = message
      records[place].end = time
      pausing += 1
      return .retry(at: time + pause)
    }
    records[place].finish(.failed, at: time, message)
    // In a pass at the foreground the app is running, and one step's failure is no reason to end it.
    if step.policy == .skip || !isLaunch {
      release(place, at: time)
      return .none
    }
    return .stop(.failed(place, isLate ? .timedOut : .stepFailed, isLate ? TimeoutError(message: message) : error))
  }
}

// MARK: Readiness

extension RunState {
  /// The pause after a failed attempt is over.
  mutating func resume(_ place: Int) {
    guard records[place].phase == .pausing else { return }
    pausing -= 1
    records[place].phase = .waiting
    ready.insert(place)
  }

  /// Lets no further step begin; tells what has to be cancelled.
  mutating func stop(_ stop: Stop) -> [any Cancellable] {
    guard self.stop == nil, !hasEnded else { return [] }
    self.stop = stop
    ready.removeAll()
    var tasks: [any Cancellable] = []
    for place in records.indices {
      switch records[place].phase {
      case .running: tasks += records[place].tasks
      case .pausing:
        tasks += records[place].tasks
        pausing -= 1
        records[place].finish(.failed, at: records[place].end, records[place].message)
      case .waiting where records[place].attempt > 0:
        records[place].finish(.failed, at: records[place].end, records[place].message)
      case .waiting, .done: break
      }
    }
    return tasks
  }

  private mutating func release(_ place: Int, at time: Duration) {
    var freed: [Int] = []
    for dependent in plan.dependents[place] {
      open[dependent] -= 1
      if open[dependent] == 0 { freed.append(dependent) }
    }
    queue(freed, at: time)
  }

  /// Makes steps ready that wait for nobody any more; those that this stage leaves out let others go on at once.
  private mutating func queue(_ freed: [Int], at time: Duration) {
    var freed = freed
    while let place = freed.popLast() {
      records[place].queued = time
      guard let reason = plan.steps[place].exclusion else {
        ready.insert(place)
        continue
      }
      records[place].start = time
      records[place].finish(.skipped, at: time, reason)
      for dependent in plan.dependents[place] {
        open[dependent] -= 1
        if open[dependent] == 0 { freed.append(dependent) }
      }
    }
  }
}
