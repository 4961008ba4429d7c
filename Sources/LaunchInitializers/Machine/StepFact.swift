/// A fact about a step, from which reports, events and errors make their messages.
indirect enum StepFact: Sendable {
  // Why the step didn't run:
  case skipped(String)
  case requires(String, groups: [String], wasSkipped: Bool)
  case asksForNoRepetition

  // What happened to an attempt, to a service, or to a shutdown:
  case threw(String)
  case wasCancelled
  case overran(Duration)
  case gotNoThread(within: Duration)
  case ignoredCancellation(for: Duration)
  case notRolledBack(within: Duration)
  case notShutDown(within: Duration)
  case gotNoThreadToShutDown
  /// A service returned without being asked to, wasn't ready in time, or didn't end in time.
  case returned
  case notReady(within: Duration)
  case notReadyBeforeShutDown
  case cutOff(after: Duration)

  // A fact about a part of the step:
  case ofRollback(StepFact)
  case ofService(StepFact)
  case ofStop(StepFact)
  /// A fact about a job that cleaned up while the step went on.
  case ofCleanUp(LaunchMachine.Job.Kind, StepFact)

  /// The fact as a message of its own.
  var text: String {
    switch self {
    case .threw(let text): text
    case .wasCancelled: "cancelled"
    default: predicate
    }
  }

  /// The fact as words that can follow the name of what it is about.
  var predicate: String {
    switch self {
    case .skipped(let reason): reason
    case .requires(let id, let groups, let wasSkipped):
      "requires \(id)\(groups.isEmpty ? "" : " of \(groups.joined(separator: "/"))"), which "
        + (wasSkipped ? "was skipped" : "failed")
    case .asksForNoRepetition: "doesn't ask to be repeated"
    case .threw(let text): "failed: \(text)"
    case .wasCancelled: "was cancelled"
    case .overran(let time): "took longer than its timeout of \(time.text)"
    case .gotNoThread(let time): "did not get a thread within its timeout of \(time.text)"
    case .ignoredCancellation(let time):
      "ignored its cancellation for \(time.text) and was abandoned"
    case .notRolledBack(let time): "not rolled back within \(time.text)"
    case .notShutDown(let time): "not shut down within \(time.text)"
    case .gotNoThreadToShutDown: "did not get a thread to shut down"
    case .returned: "returned without being asked to"
    case .notReady(let time): "was not ready within its timeout of \(time.text)"
    case .notReadyBeforeShutDown: "was not ready before the sequence was shut down"
    case .cutOff(let time): "did not end within its stop timeout of \(time.text) and was cancelled"
    case .ofRollback(let fact): "its rollback \(fact.predicate)"
    case .ofService(let fact): "its service \(fact.predicate)"
    case .ofStop(let fact): "its stop() \(fact.predicate)"
    case .ofCleanUp(.undo, let fact): "the shutdown of its abandoned attempt \(fact.predicate)"
    case .ofCleanUp(.lateRollBack, let fact): "the rollback of its abandoned attempt \(fact.predicate)"
    case .ofCleanUp(_, let fact): "the shutdown of a service that it had made \(fact.predicate)"
    }
  }

  /// Returns the words that join the fact to the message about the facts before it.
  fileprivate func continuation(after former: StepFact) -> String {
    switch (former, self) {
    case (.overran, .wasCancelled), (.gotNoThread, .wasCancelled): ""
    case (.overran, .threw), (.gotNoThread, .threw), (.notReady, .threw): ", then \(predicate)"
    case (.overran, .ignoredCancellation), (.gotNoThread, .ignoredCancellation):
      ", then \(predicate)"
    default: "; \(text)"
    }
  }
}

extension [StepFact] {
  /// The message about all facts; nil if there is none.
  var text: String? { first.map { $0.text + continuations } }

  /// The message as words that can follow the name of what the facts are about.
  var predicate: String? { first.map { $0.predicate + continuations } }

  private var continuations: String {
    zip(self, dropFirst()).map { $1.continuation(after: $0) }.joined()
  }
}
