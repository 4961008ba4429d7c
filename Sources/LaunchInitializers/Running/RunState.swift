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
  }

  let plan: LaunchPlan
  let isLaunch: Bool
  var records: [StepRecord]
  var stop: Stop?
  /// The steps that completed, in that order.
  var completed: [Int] = []
  /// Whether somebody is beginning steps, and will see what becomes ready meanwhile.
  var isPumping = false
  var hasEnded = false
  private var open: [Int]
  private var ready = StepHeap()
  private var running = 0
  private var pausing = 0
  /// The latest time that anything happened at.
  private var latest = Duration.zero

  init(_ plan: LaunchPlan, isLaunch: Bool) {
    self.plan = plan
    self.isLaunch = isLaunch
    records = Array(repeating: StepRecord(), count: plan.steps.count)
    open = plan.dependencies.map(\.count)
    queue(plan.steps.indices.filter { open[$0] == 0 }, at: .zero)
  }

  /// The time that something happens at: clocks are read outside the lock, and what follows is never before its cause.
  private mutating func now(_ time: Duration) -> Duration {
    latest = max(latest, time)
    return latest
  }

  /// Takes the next step to begin; nil where none is ready or too many run.
  mutating func next(width: Int, at time: Duration) -> (place: Int, attempt: Int)? {
    guard stop == nil, running < width, let place = ready.popFirst() else { return nil }
    running += 1
    records[place].phase = .running
    records[place].attempt += 1
    records[place].hasTimedOut = false
    (records[place].task, records[place].timer) = (nil, nil)
    if records[place].attempt == 1 { records[place].start = now(time) }
    return (place, records[place].attempt)
  }

  /// Whether nothing more will happen; true only once.
  mutating func takeEnd() -> Bool {
    guard !hasEnded, running == 0, pausing == 0, stop != nil || ready.isEmpty else { return false }
    hasEnded = true
    return true
  }

  func isRunning(_ place: Int, _ attempt: Int) -> Bool {
    records[place].phase == .running && records[place].attempt == attempt
  }

  // MARK: Ends of attempts

  /// An attempt returned, with whether it had anything to do, or threw.
  mutating func end(
    _ place: Int, _ attempt: Int, _ result: Result<Bool, any Error>, at time: Duration
  ) -> Consequence {
    guard isRunning(place, attempt) else {
      // What completed at launch is shut down with the rest; a late second run of it must not be, while the app runs.
      if isLaunch, case .success(true) = result { return .giveUp }
      return .none
    }
    running -= 1
    let time = now(time)
    let step = plan.steps[place]
    switch result {
    case .success(let hasWorked):
      let isLate = records[place].hasTimedOut
      records[place].isUnmentioned = !hasWorked
      records[place].finish(
        .completed, at: time, isLate ? step.timeout.map { "took longer than its timeout of \($0.text)" } : nil)
      if hasWorked { completed.append(place) }
      release(place, at: time)
      return .none
    case .failure(let error):
      if records[place].hasTimedOut { return fail(place, .timedOut, error, at: time) }
      if let skip = error as? SkipInitializer {
        records[place].finish(.skipped, at: time, skip.reason)
        release(place, at: time)
        return .none
      }
      return fail(place, .stepFailed, error, at: time)
    }
  }

  /// An attempt took too long and did not even heed its cancellation.
  mutating func abandon(_ place: Int, at time: Duration, after grace: Duration) -> Consequence {
    running -= 1
    let time = now(time)
    let message = "ignored its cancellation for \(grace.text) and was abandoned"
    records[place].wasAbandoned = true
    records[place].finish(.failed, at: time, message)
    guard stop == nil else { return .none }
    if plan.steps[place].policy == .skip || !isLaunch {
      release(place, at: time)
      return .none
    }
    return .stop(.failed(place, .timedOut, TimeoutError(message: message)))
  }

  private mutating func fail(
    _ place: Int, _ code: LaunchError.Code, _ error: any Error, at time: Duration
  ) -> Consequence {
    let step = plan.steps[place]
    let message = code == .timedOut ? "took longer than its timeout of \((step.timeout ?? .zero).text)" : "\(error)"
    records[place].failure = error
    guard stop == nil else {
      records[place].finish(.failed, at: time, error is CancellationError ? "cancelled" : message)
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
    return .stop(.failed(place, code, code == .timedOut ? TimeoutError(message: message) : error))
  }

  // MARK: Readiness

  /// The pause after a failed attempt is over.
  mutating func resume(_ place: Int) {
    guard records[place].phase == .pausing else { return }
    pausing -= 1
    records[place].phase = .waiting
    ready.insert(place)
  }

  /// Lets no further step begin; tells what has to be cancelled.
  mutating func stop(_ stop: Stop, at time: Duration) -> [Task<Void, Never>] {
    guard self.stop == nil, !hasEnded else { return [] }
    self.stop = stop
    ready.removeAll()
    var tasks: [Task<Void, Never>] = []
    for place in records.indices {
      switch records[place].phase {
      case .running: tasks += [records[place].task, records[place].timer].compactMap(\.self)
      case .pausing:
        tasks += records[place].takeTasks()
        pausing -= 1
        records[place].finish(.failed, at: records[place].end, records[place].message)
      case .waiting where records[place].attempt > 0:
        records[place].finish(.failed, at: records[place].end, records[place].message)
      case .waiting, .done: break
      }
    }
    return tasks
  }

  /// The steps whose attempts are under way.
  var underWay: [Int] { running == 0 ? [] : records.indices.filter { records[$0].phase == .running } }

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
