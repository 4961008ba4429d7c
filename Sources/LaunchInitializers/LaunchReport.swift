/// A report of what a sequence did, step by step: for the log, for a person, for a test.
///
/// Times are since the run began, on the sequence's clock.
public struct LaunchReport: Sendable {
  /// The steps in the order of the plan; of a shut-down, in the order of the plan backwards.
  public let entries: [Entry]

  init(_ entries: [Entry]) { self.entries = entries }

  static let empty = LaunchReport([])

  /// How long the run took, to the end of the last step.
  public var duration: Duration { entries.map(\.end).max() ?? .zero }

  /// A sentence for the log about each step that was skipped, failed, or has something to say.
  ///
  /// Control characters of ids and errors are escaped, so that a sentence stays one line.
  public var warnings: [String] {
    entries.compactMap { entry in
      guard let message = entry.message, entry.outcome != .notRun else { return nil }
      return "\(entry.id) (\(entry.outcome)): \(message)".escaped
    }
  }

  /// The ways in which a step can end.
  public enum Outcome: String, Sendable, Hashable, CustomStringConvertible {
    /// The step completed.
    case completed
    /// The step threw an error, took too long, or was cancelled while it ran; the message says which.
    case failed
    /// The step had nothing to do here: a missing key, another stage, a required step that didn't complete.
    case skipped
    /// The step never started.
    case notRun

    /// The name of the case.
    public var description: String { rawValue }
  }

  /// A report of one step.
  public struct Entry: Sendable, Hashable {
    /// The step's id.
    public let id: String
    /// How the step ended.
    public let outcome: Outcome
    /// When the last of the steps that it waited for was done, so that it could begin.
    public let queued: Duration
    /// When its first attempt began: after ``queued`` if too many other steps were running.
    public let start: Duration
    /// When it ended, its last attempt included.
    public let end: Duration
    /// The number of attempts.
    public let attempts: Int
    /// Why the step failed or was skipped, as the step says it; nil if there is nothing to say.
    public let message: String?
    /// The ids of the steps that it waited for.
    public let waitedFor: [String]
    /// The id of the step whose place it took, if the maximum number of steps was running when it could begin.
    ///
    /// It began when that one ended or, if that is retried later, paused.
    public let tookPlaceOf: String?
    /// Whether the step ignored its cancellation and was left behind.
    public let wasAbandoned: Bool

    /// How long the step took, pauses between attempts included.
    public var duration: Duration { end - start }
  }
}

extension LaunchReport {
  /// The report of a run.
  init(_ machine: LaunchStateMachine) {
    let ids = machine.plan.steps.map(\.id)
    let isMentioned = machine.steps.map { step in
      !step.isUnmentioned && !step.isSettledBefore && (machine.purpose != .foreground || step.attempt > 0)
    }
    var entries: [Entry] = []
    for (index, step) in machine.steps.enumerated() where isMentioned[index] {
      entries.append(
        Entry(
          id: ids[index], outcome: step.outcome, queued: step.queued, start: step.start, end: step.end,
          attempts: step.attempt, message: step.message,
          waitedFor: machine.plan.dependencies[index].filter { isMentioned[$0] }.map { ids[$0] },
          tookPlaceOf: step.tookPlaceOf.flatMap { isMentioned[$0] ? ids[$0] : nil },
          wasAbandoned: step.wasAbandoned))
    }
    self.init(entries)
  }
}
