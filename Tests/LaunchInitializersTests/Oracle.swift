import LaunchInitializers

/// What has to happen in a run of a plan, found by walking from event to event with no concurrency at all.
struct Oracle {
  struct Step {
    enum Phase { case waiting, running, pausing, done }
    var phase = Phase.waiting
    var attempt = 0
    var attemptStart = Duration.zero
    var bodyEnd = Duration.zero
    var timeoutEnd: Duration?
    var graceEnd: Duration?
    var pauseEnd = Duration.zero
    var queued = Duration.zero
    var start = Duration.zero
    var end = Duration.zero
    var isLate = false
    var wasAbandoned = false
    var tookSlotOf: Int?
    var outcome = LaunchReport.Outcome.notRun
    var isQueued = false
    var isBetweenAttempts: Bool { phase == .waiting && attempt > 0 }
  }
  /// What goes on after the run has given it up: the work of an abandoned step, or its shutting down.
  private struct Ghost {
    var end: Duration
    var step: Int
    var shutsDownNext: Bool
  }

  let plan: RandomPlan
  let origin: Duration
  private(set) var steps: [Step]
  private(set) var now: Duration
  private(set) var blamed: Int?
  private(set) var eventCount = 0
  private let isShutDown: Bool
  private let participants: Set<Int>
  /// The steps in the order of the run, and what each waits for in it.
  private let order: [Int]
  private let dependencies: [[Int]]
  private var ghosts: [Ghost] = []
  private var unused: Int
  private var rooms: [(step: Int, time: Duration)] = []

  init(_ plan: RandomPlan) {
    self.init(plan, Self.order(plan), plan.dependencies, Set(plan.steps.indices), isShutDown: false, at: .zero)
  }

  /// The way back through a plan after a launch.
  init(shuttingDown launch: Oracle) {
    let plan = launch.plan
    var dependencies = plan.steps.map { _ in [Int]() }
    for (step, others) in plan.dependencies.enumerated() {
      for other in others { dependencies[other].append(step) }
    }
    self.init(
      plan, Self.order(plan).reversed(), dependencies, launch.completed, isShutDown: true, at: launch.now)
    ghosts = launch.ghosts
  }

  private init(
    _ plan: RandomPlan, _ order: [Int], _ dependencies: [[Int]], _ participants: Set<Int>, isShutDown: Bool,
    at time: Duration
  ) {
    self.plan = plan
    self.order = order
    self.dependencies = dependencies
    self.participants = participants
    self.isShutDown = isShutDown
    (origin, now) = (time, time)
    unused = plan.maxConcurrentSteps
    steps = plan.steps.map { _ in Step() }
  }

  /// Again and again the first step, as listed, that waits for no step that is left.
  private static func order(_ plan: RandomPlan) -> [Int] {
    let dependencies = plan.dependencies
    var order: [Int] = []
    while order.count < plan.steps.count {
      guard
        let next = plan.steps.indices.first(where: { step in
          !order.contains(step) && dependencies[step].allSatisfy(order.contains)
        })
      else { break }
      order.append(next)
    }
    return order
  }

  var completed: Set<Int> { Set(steps.indices.filter { steps[$0].outcome == .completed }) }
  var reported: [Int] { order.filter(participants.contains) }
  func waitedFor(_ step: Int) -> [Int] { dependencies[step].filter(participants.contains) }

  private var running: [Int] { steps.indices.filter { steps[$0].phase == .running } }

  var isOver: Bool {
    !steps.contains { $0.phase == .running || $0.phase == .pausing }
      && (blamed != nil || steps.allSatisfy { $0.phase == .done })
  }

  /// Until when something sleeps on the clock.
  var deadlines: [Duration] {
    // While there are streams of events, each run watches for silence; shutting down has a limit.
    var deadlines = [origin + .seconds(10)] + ghosts.map(\.end)
    if isShutDown { deadlines.append(origin + .seconds(30)) }
    for step in steps {
      switch step.phase {
      case .running:
        deadlines.append(step.bodyEnd)
        if !step.isLate { deadlines += [step.timeoutEnd].compactMap(\.self) }
        deadlines += [step.graceEnd].compactMap(\.self)
      case .pausing: deadlines.append(step.pauseEnd)
      case .waiting, .done: break
      }
    }
    return deadlines.filter { $0 > now }.sorted()
  }

  /// When the next thing happens.
  var next: Duration? { deadlines.first }

  // MARK: Events

  mutating func begin() {
    settle()
    beginSteps()
  }

  /// - Returns: Whether a pause ended.
  mutating func advance(to time: Duration) -> Bool {
    now = time
    var endsPause = false
    for ghost in ghosts.indices.reversed() where ghosts[ghost].end == now {
      let former = ghosts.remove(at: ghost)
      if former.shutsDownNext {
        ghosts.append(
          Ghost(end: now + plan.steps[former.step].shutDownDuration, step: former.step, shutsDownNext: false))
      }
    }
    for step in steps.indices {
      if steps[step].phase == .pausing, steps[step].pauseEnd == now {
        steps[step].phase = .waiting
        endsPause = true
      }
      guard steps[step].phase == .running else { continue }
      if steps[step].bodyEnd == now {
        returned(step)
      } else if steps[step].graceEnd == now {
        abandon(step)
      } else if steps[step].timeoutEnd == now, blamed == nil {
        steps[step].isLate = true
        cancel(step)
      }
    }
    settle()
    beginSteps()
    return endsPause
  }

  private mutating func returned(_ step: Int) {
    leave(step)
    if let timeoutEnd = steps[step].timeoutEnd, now > timeoutEnd { steps[step].isLate = true }
    switch isShutDown ? .completes : plan.steps[step].attempt(steps[step].attempt).ending {
    case .completes: finish(step, .completed)
    case .skips: finish(step, .skipped)
    case .fails: fail(step)
    }
  }

  private mutating func fail(_ step: Int) {
    if blamed != nil { return finish(step, .failed) }
    var skips = false
    switch plan.steps[step].policy {
    case .abort: break
    case .skip: skips = true
    case .retry(let count, let pause, let skipsAtLast):
      skips = skipsAtLast
      if steps[step].attempt <= count, !steps[step].wasAbandoned {
        steps[step].phase = .pausing
        steps[step].end = now
        steps[step].pauseEnd = now + pause
        eventCount += 1
        return
      }
    }
    finish(step, .failed)
    if !skips { stop(step) }
  }

  private mutating func stop(_ step: Int) {
    blamed = step
    for other in running where !steps[other].isLate { cancel(other) }
    for other in steps.indices where steps[other].phase == .pausing || steps[other].isBetweenAttempts {
      steps[other].phase = .done
      steps[other].outcome = .failed
      eventCount += 1
    }
  }

  private mutating func cancel(_ step: Int) {
    guard plan.steps[step].heedsCancellation else {
      steps[step].graceEnd = now + plan.grace
      return
    }
    leave(step)
    fail(step)
  }

  private mutating func abandon(_ step: Int) {
    leave(step)
    let undoes = plan.steps[step].attempt(steps[step].attempt).ending == .completes
    ghosts.append(Ghost(end: steps[step].bodyEnd, step: step, shutsDownNext: undoes))
    (steps[step].wasAbandoned, steps[step].isLate) = (true, true)
    fail(step)
  }

  private mutating func finish(_ step: Int, _ outcome: LaunchReport.Outcome) {
    steps[step].phase = .done
    steps[step].outcome = outcome
    steps[step].end = now
    eventCount += 1
  }

  // MARK: What follows

  private func isReady(_ step: Int) -> Bool {
    steps[step].phase == .waiting && dependencies[step].allSatisfy { steps[$0].phase == .done }
  }

  /// Skips what does not run, and notes since when the others could, until nothing changes.
  private mutating func settle() {
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for step in order where isReady(step) && blamed == nil {
        if !participants.contains(step) {
          steps[step].phase = .done
          hasChanged = true
          continue
        }
        if steps[step].attempt > 0 || steps[step].isQueued { continue }
        steps[step].isQueued = true
        steps[step].queued = now
        let required = isShutDown ? [] : plan.steps[step].declared?.filter(\.isRequired) ?? []
        let isUnmet = required.contains { steps[$0.step].outcome != .completed }
        if !isShutDown, plan.steps[step].isExcluded || isUnmet {
          steps[step].start = now
          finish(step, .skipped)
          hasChanged = true
        }
      }
    }
  }

  private mutating func beginSteps() {
    while blamed == nil, running.count < plan.maxConcurrentSteps, let step = order.first(where: isReady) {
      var former: Int?
      if unused > 0 {
        unused -= 1
      } else if !rooms.isEmpty {
        let room = rooms.removeFirst()
        if room.time > steps[step].queued { former = room.step }
      }
      steps[step].phase = .running
      steps[step].attempt += 1
      steps[step].attemptStart = now
      (steps[step].isLate, steps[step].graceEnd) = (false, nil)
      if steps[step].attempt == 1 { (steps[step].start, steps[step].tookSlotOf) = (now, former) }
      if isShutDown {
        steps[step].bodyEnd = now + plan.steps[step].shutDownDuration
        steps[step].timeoutEnd = now + .seconds(100)
      } else {
        steps[step].bodyEnd = now + plan.steps[step].attempt(steps[step].attempt).duration
        steps[step].timeoutEnd = plan.steps[step].timeout.map { now + $0 }
      }
    }
  }

  private mutating func leave(_ step: Int) {
    steps[step].phase = .done
    if running.count < plan.maxConcurrentSteps { rooms.append((step, now)) }
  }
}
