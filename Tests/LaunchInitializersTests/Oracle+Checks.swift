@testable import LaunchInitializers
import SpellRegistry

/// The checks of a world's state, after each input and at the end.
extension Oracle {
  /// Checks that no step waits while another step could begin.
  mutating func checkWork() {
    guard machine.phase == .launching || machine.phase == .launched || machine.phase == .draining else { return }
    let isOver = plan.steps.indices.allSatisfy { plan.steps[$0].isDeferred || outcomes[$0] != nil }
    for (node, index) in steps where outcomes[index] == nil && machine.courses[.launch][node].tries == 0 {
      let step = plan.steps[index]
      guard step.awaited.allSatisfy({ outcomes[$0.step] != nil }), !step.isDeferred || isOver else { continue }
      if machine.passes[.launch].atWork + machine.passes[.foreground].atWork < plan.maxConcurrentSteps {
        fault("\(step.id) could begin, and doesn't")
      }
    }
  }

  /// Checks that each service is asked to end when its turn comes, however many steps are being shut down, and that no
  /// service runs for longer than its timeout without being ready.
  mutating func checkServices() {
    for job in alive where job.kind == .run && machine.jobs[job] != nil && !cancelled.contains(job) {
      guard let index = steps[job.step], let begin = runs[job] else { continue }
      if machine.phase == .closing {
        if !machine.passes[.shutDown].isUnderWay || machine.closing.reachedLimit != nil || asked[job.step] != nil {
          continue
        }
        if !isHeldUp(index) { fault("\(job) isn't asked to end") }
      } else if let timeout = plan.steps[index].timeout, !readyRuns.contains(job), now > begin + timeout {
        fault("\(job) isn't ready in time, and goes on")
      }
    }
  }

  /// Returns whether a step has to stay up, because a step that depends on it, directly or indirectly, is up.
  func isHeldUp(_ index: Int) -> Bool {
    steps.contains { node, other in
      let step = plan.steps[other]
      let waits = step.awaited.contains { $0.step == index } || step.isDeferred && !plan.steps[index].isDeferred
      if !waits { return false }
      let state = machine.setups[node]
      return state.isOfShutDown && downOutcomes[other] == nil || isHeldUp(other)
    }
  }

  /// Checks the conditions that must hold when nothing more happens.
  mutating func finish() {
    if machine.phase != .over { fault("it never ends: \(machine.phase), \(machine.jobs.keys)") }
    for call in calls where answers[call] != 1 { fault("call \(call) has \(answers[call] ?? 0) answers") }
    if !machine.jobs.isEmpty { fault("jobs are left: \(machine.jobs.keys)") }
    for job in alive where !abandoned.contains(job) { fault("\(job) goes on after the end") }
    let noted = machine.errors.all.compactMap { ($0 as? Thrown)?.number }
    if noted != thrown { fault("it notes the errors \(noted), not \(thrown)") }
    let isLimited = machine.closing.reachedLimit != nil
    for (node, count) in ups {
      let down = downs[node] ?? 0
      if down > 1 || count > 1 { fault("step \(node) came up \(count) and went down \(down) times") }
      if down == 0, !isLimited, !servicesLeft.contains(node) { fault("step \(node) isn't shut down") }
    }
    for job in abandoned where job.purpose == .shutDown && job.kind != .rollBack && begun.contains(job) {
      if steps[job.step].flatMap({ downOutcomes[$0] }) == .completed {
        fault("\(job) was given up, and isn't reported")
      }
    }
    for node in downs.keys where ups[node] == nil { fault("step \(node) is shut down, and never came up") }
    checkClosings()
    checkExitCode()
    checkReports()
    if isLimited { counts["limits", default: 0] += 1 }
    if !abandoned.isEmpty { counts["abandoned", default: 0] += 1 }
    counts["plans", default: 0] += 1
  }

  /// Checks that each service was closed once and isn't registered anymore.
  ///
  /// The service of a step that is up isn't closed if the step isn't shut down, because the step's run ignored its
  /// cancellation, the time limit was reached, or the shutdown got no thread.
  mutating func checkClosings() {
    if products.registeredCount > 0 { fault("\(products.registeredCount) services are still registered") }
    for problem in products.problems { fault(problem) }
    for service in products.all {
      let (count, step) = (service.closings, service.attempt.step)
      let hasNoThread =
        !begun.contains(machine.shutDownJob(of: step)) && steps[step].map { downOutcomes[$0] } == .failed
      let isLeft = machine.closing.reachedLimit != nil || servicesLeft.contains(step) || hasNoThread
      let isMissed = isLeft && completed.contains(service.attempt)
      if count > 1 || count == 0 && !isMissed { fault("the service of \(service.attempt) is closed \(count) times") }
    }
  }

  mutating func checkReports() {
    let launch = ReportOracle(plan: plan, times: launchTimes, outcomes: outcomes)
    for problem in launch.problems(of: machine.report(of: .launch)) { fault("the launch's report: \(problem)") }
    // If a step's turn had passed, the step ends again when its abandoned attempt has been undone.
    if !lateUndos.isEmpty { return }
    let shutDown = ReportOracle(plan: plan, times: shutDownTimes, outcomes: downOutcomes, isReversed: true)
    for problem in shutDown.problems(of: machine.report(of: .shutDown)) { fault("the shutdown's report: \(problem)") }
  }

  mutating func checkExitCode() {
    let isDown =
      failedUndos.isEmpty
      && steps.allSatisfy { node, index in
        !machine.setups[node].isUp || downOutcomes[index] == .completed
      }
    let expected: Int32 =
      switch (machine.closing.cause, machine.closing.wasLaunched) {
      case (.signal?, false): 128 + 15
      case (.signal?, true), (.asked?, true): isDown ? 0 : 1
      default: 1
      }
    if machine.exitCode != expected { fault("the exit code is \(machine.exitCode), not \(expected)") }
    if (machine.failure == nil)
      != (machine.closing.wasLaunched && expected == 0 || machine.closing.wasLaunched && isShutDown)
    {
      fault("the failure is \(String(describing: machine.failure))")
    }
    if let failure = machine.failure, failure.errors.compactMap({ ($0 as? Thrown)?.number }) != thrownUntilEnd {
      fault("the failure has the errors \(failure.errors), not \(thrownUntilEnd)")
    }
  }

  var isShutDown: Bool {
    switch machine.closing.cause {
    case .asked?, .signal?: true
    case .failed?, .cancelled?, nil: false
    }
  }
}
