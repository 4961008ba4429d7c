// The events, reports and errors of the machine.

extension LaunchMachine {
  /// Emits an event about a step or a whole phase, if a stream or the log takes it.
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

  /// Returns the report of a pass.
  func report(of purpose: Purpose) -> LaunchReport {
    let pass = passes[purpose]
    if pass.steps.isEmpty { return .empty }
    let graph = purpose == .shutDown ? plan.dependents : plan.dependencies
    let indices = purpose == .shutDown ? Array(plan.nodes.indices.reversed()) : Array(plan.nodes.indices)
    // For each point, the step that ended last of those that the point waits for.
    var last: [Int: Int] = [:]
    var entries: [LaunchReport.Entry] = []
    entries.reserveCapacity(indices.count)
    func time(_ time: Duration) -> Duration { max(.zero, time - pass.began) }
    for index in indices {
      let (node, step) = (plan.nodes[index], pass.steps[index])
      // The beginning of the step's own group counts only if the step waits for nothing else.
      let inner = graph[index].filter { plan.nodes[$0].declared != nil || plan.nodes[$0].groups != node.groups }
      var known: Set<Int> = []
      let awaited = (inner.isEmpty ? graph[index] : inner[...]).compactMap {
        plan.nodes[$0].declared == nil ? last[$0] : $0
      }.filter { known.insert($0).inserted }
      guard node.declared != nil else {
        last[index] = awaited.max { (pass.steps[$0].end, $1) < (pass.steps[$1].end, $0) }
        continue
      }
      if !isMentioned(index, purpose) { continue }
      let isMissed = purpose == .shutDown && step.outcome == .notRun
      let message = isMissed ? reachedLimit.map { "not shut down within \($0.text)" } : step.message
      entries.append(
        LaunchReport.Entry(
          id: node.id, outcome: step.outcome, queued: time(step.queued), start: time(step.start),
          end: time(step.end), attempts: step.attempt, message: message,
          errors: (purpose == .shutDown ? shutDownProblems[index]?.errors ?? ErrorList() : step.errors).all,
          waitedFor: awaited.compactMap { isMentioned($0, purpose) ? plan.nodes[$0].id : nil },
          wasAbandoned: step.wasAbandoned, groups: node.groups))
    }
    return LaunchReport(entries: entries)
  }

  private func isMentioned(_ step: Int, _ purpose: Purpose) -> Bool {
    switch purpose {
    case .launch: true
    case .foreground: passes.foreground.steps[step].attempt > 0 && !passes.foreground.steps[step].isUnmentioned
    case .shutDown: passes.launch.steps[step].isUp || passes.launch.steps[step].isUndone
    }
  }

  /// The reason for the shut-down, for the log.
  var reason: String {
    switch cause {
    case .failed(let step, _)?: "\(plan.nodes[step].id) failed: \(passes.launch.steps[step].message ?? "")"
    case .cancelled?: "the launch was cancelled"
    case .asked?, nil: "shutDown() was called"
    case .signal(let number)?: "signal \(number) came"
    }
  }

  /// Returns the error that ended the sequence, or nil if a call or a signal shut it down after its launch.
  func makeFailure() -> LaunchError? {
    let (code, step, message): (LaunchError.Code, Int?, String)
    switch cause {
    case .failed(let failed, let failure)?:
      (code, step) = (failure, failed)
      let what =
        wasLaunched ? "the sequence was shut down" : "the launch was aborted and completed steps were shut down"
      message = "failed, so \(what): \(passes.launch.steps[failed].message ?? "")"
    case .cancelled?:
      (code, step, message) = (.cancelled, nil, "was cancelled, and the completed steps were shut down.")
    case .asked?, .signal?:
      let time = passes.launch.steps.isEmpty ? "it began" : "it had completed"
      (code, step, message) = (.shutDown, nil, "was shut down before \(time).")
    case nil: return nil
    }
    if wasLaunched, code == .shutDown { return nil }
    return LaunchError(
      code, id: step.map { plan.nodes[$0].id }, underlying: step.flatMap { passes.launch.steps[$0].errors.all.first },
      errors: errors.all, report: report(of: .launch), rollback: report(of: .shutDown), message)
  }
}
