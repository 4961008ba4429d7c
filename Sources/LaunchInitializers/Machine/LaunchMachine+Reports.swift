// The events, reports and errors that the launch state machine creates.

extension LaunchMachine {
  /// Emits an event about a step or a whole phase, if a stream or the log needs the event.
  mutating func event(
    _ kind: LaunchEvent.Kind, _ purpose: Purpose, _ step: Int? = nil, message: String? = nil,
    isService: Bool = false
  ) {
    let isDeferred = step.map { plan.nodes[$0].isDeferred } ?? false
    let phase: LaunchEvent.Phase =
      switch purpose {
      case .launch: isService ? .running : isDeferred ? .deferred : .launch
      case .foreground: .foreground
      case .shutDown: .shutDown
      }
    guard isObserved || LaunchEvent.isLogged(kind, phase, message) else { return }
    let time = now - passes[purpose].began
    let id = step.map { plan.nodes[$0].id }
    actions.append(.event(LaunchEvent(kind: kind, phase: phase, id: id, time: time, message: message)))
  }

  /// Emits an event about the failure of a job that was abandoned, or that cleaned up after an abandoned one.
  mutating func emitLateFailure(of job: Job, _ fact: StepFact) {
    event(.ended(.failed), job.purpose, job.step, message: "after it was left behind: \(fact.text)")
  }

  /// Returns the report of the pass for `purpose`; it is empty if that pass hasn't begun.
  ///
  /// - Complexity: O(*n*), where *n* is the number of nodes and dependencies.
  func report(of purpose: Purpose) -> LaunchReport {
    let courses = courses[purpose]
    if courses.isEmpty { return .empty }
    let indices = purpose == .shutDown ? Array(plan.nodes.indices.reversed()) : Array(plan.nodes.indices)
    // For each node that isn't in the report: of the reported steps that the node waited for, the step that ended last.
    var last: [Int?] = Array(repeating: nil, count: plan.nodes.count)
    var entries: [LaunchReport.Entry] = []
    entries.reserveCapacity(indices.count)
    for index in indices {
      let awaited = awaited(by: index, purpose, last)
      if isReported(index, purpose) {
        entries.append(entry(of: index, purpose, waitedFor: awaited.map { plan.nodes[$0].id }))
      } else {
        last[index] = lastEnded(awaited, in: courses)
      }
    }
    return LaunchReport(entries: entries)
  }

  /// Returns the step in `steps` that ended last, or nil if `steps` is empty.
  ///
  /// If several steps ended last, returns the step that comes first in the plan.
  private func lastEnded(_ steps: [Int], in courses: [StepCourse]) -> Int? {
    steps.max { (courses[$0].end, $1) < (courses[$1].end, $0) }
  }

  /// Returns the reported steps that the node at `index` waited for.
  ///
  /// The node may also have waited for a node that isn't reported. In place of an unreported node, the result contains
  /// the step that `last` stores for the unreported node, if any.
  private func awaited(by index: Int, _ purpose: Purpose, _ last: [Int?]) -> [Int] {
    let (node, courses) = (plan.nodes[index], courses[purpose])
    let graph = purpose == .shutDown ? plan.dependents : plan.dependencies
    var awaited: [Int] = []
    var known: Set<Int> = []
    // The awaited steps that had to end before the group of the step at `index` could begin. If that step is deferred,
    // also the awaited steps that had to end before any deferred step could begin.
    var outside: [Int] = []
    for other in graph[index] {
      guard let step = isReported(other, purpose) ? other : last[other] else { continue }
      let isBorder =
        plan.nodes[other].declared == nil && (other == plan.deferral || plan.nodes[other].groups == node.groups)
      if isBorder, node.declared != nil {
        outside.append(step)
      } else if known.insert(step).inserted {
        awaited.append(step)
      }
    }
    // The step of `outside` that ended last is added only if it ended after all steps in `awaited`. Usually, it
    // didn't, because `awaited` has a step of the same group, and that step has also waited for the steps in `outside`.
    guard let step = lastEnded(outside, in: courses), known.insert(step).inserted else { return awaited }
    let isLast = awaited.allSatisfy { courses[$0].end < courses[step].end }
    return isLast ? awaited + [step] : awaited
  }

  private func entry(of index: Int, _ purpose: Purpose, waitedFor: [String]) -> LaunchReport.Entry {
    let (node, began, course) = (plan.nodes[index], passes[purpose].began, courses[purpose][index])
    func time(_ time: Duration) -> Duration { max(.zero, time - began) }
    var (outcome, facts, errors) = (course.outcome, course.facts, course.errors)
    var wasAbandoned = course.wasAbandoned
    if purpose == .shutDown {
      let problems = closing.problems[index] ?? Closing.Problems()
      errors = problems.errors
      if isMissed(index) {
        (facts, wasAbandoned) = (missedFacts(of: index), setups[index].isInUse)
      } else if outcome == .notRun {
        // The shutdown reached its time limit before it came to this step, but the step's abandoned attempt was undone.
        (outcome, facts) = (problems.facts.isEmpty ? .completed : .failed, problems.facts)
      }
    }
    return LaunchReport.Entry(
      id: node.id, outcome: outcome, queued: time(course.queued), start: time(course.start),
      // A step that hasn't ended has a `start`, but no `end` yet.
      end: time(max(course.start, course.end)),
      attempts: course.attempts, message: facts.text,
      errors: errors.all, waitedFor: waitedFor, wasAbandoned: wasAbandoned, groups: node.groups)
  }

  /// Returns whether the node at the index `step` is a step that the report of the pass for `purpose` lists.
  private func isReported(_ step: Int, _ purpose: Purpose) -> Bool {
    if plan.nodes[step].declared == nil { return false }
    return switch purpose {
    case .launch: true
    case .foreground: courses[.foreground][step].tries > 0 && !courses[.foreground][step].isUninvolved
    case .shutDown: setups[step].isOfShutDown
    }
  }

  /// The reason for the shutdown, for the log.
  var reason: String {
    switch closing.cause {
    case .failed(let step, _)?: "\(plan.nodes[step].id) failed: \(courses[.launch][step].facts.text ?? "")"
    case .cancelled?: "the launch was cancelled"
    case .asked?, nil: "shutDown() was called"
    case .signal(let number)?: "signal \(number) came"
    }
  }

  /// Returns the error that ended the sequence, or nil if a call or a signal shut the sequence down after its launch.
  func makeFailure() -> LaunchError? {
    let (code, step, message): (LaunchError.Code, Int?, String)
    switch closing.cause {
    case .failed(let failed, let failure)?:
      (code, step) = (failure, failed)
      let what =
        closing.wasLaunched
        ? "the sequence was shut down" : "the launch was aborted and completed steps were shut down"
      message = "failed, so \(what): \(courses[.launch][failed].facts.text ?? "")"
    case .cancelled?:
      (code, step, message) = (.cancelled, nil, "was cancelled, and the completed steps were shut down.")
    case .asked?, .signal?:
      let time = passes[.launch].hasBegun ? "it had completed" : "it began"
      (code, step, message) = (.shutDown, nil, "was shut down before \(time).")
    case nil: return nil
    }
    if closing.wasLaunched, code == .shutDown { return nil }
    return LaunchError(
      code, id: step.map { plan.nodes[$0].id }, underlying: step.flatMap { courses[.launch][$0].errors.all.first },
      errors: errors.all, report: report(of: .launch), rollback: report(of: .shutDown), message)
  }

  /// The exit code of a program that ran the sequence.
  var exitCode: Int32 {
    if !closing.wasLaunched, case .signal(let number)? = closing.cause { return 128 + number }
    let isDown = report(of: .shutDown).entries.allSatisfy { $0.outcome == .completed }
    return closing.wasLaunched && failure == nil && isDown ? 0 : 1
  }
}
