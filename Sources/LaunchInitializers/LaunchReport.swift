/// A report of what a sequence did, step by step.
///
/// Times are since the run began, on the sequence's clock.
public struct LaunchReport: Sendable {
  /// The steps in the order of the plan; in reverse for a shut-down.
  public let entries: [Entry]

  init(_ entries: [Entry]) { self.entries = entries }

  static let empty = LaunchReport([])

  /// How long the run took, to the end of the last step.
  public var duration: Duration { entries.map(\.end).max() ?? .zero }

  /// A line for the log about each step that was skipped, failed, or has a note.
  ///
  /// Control characters of ids and errors are escaped.
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
    /// The step threw an error, took too long, or was cancelled while it ran; see the message.
    case failed
    /// The step wasn't needed or possible: a key is missing, the stage is another, a required step didn't complete.
    case skipped
    /// The step never started; a lazy step because its service was not resolved.
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
    /// When the last of the steps that it waited for had ended, so that it could begin.
    public let queued: Duration
    /// When its first attempt began; later than ``queued`` if the maximum number of steps was running.
    public let start: Duration
    /// When its last attempt ended.
    public let end: Duration
    /// The number of attempts.
    public let attempts: Int
    /// Why the step failed or was skipped, or another note about it; nil if there is none.
    public let message: String?
    /// The ids of the steps that it waited for.
    public let waitedFor: [String]
    /// The id of the step whose slot it took, if the maximum number of steps was running when it could begin.
    ///
    /// It began when that step ended or paused before a retry.
    public let tookSlotOf: String?
    /// Whether the step ignored its cancellation and was left behind.
    public let wasAbandoned: Bool
    /// The names of the groups around the step, outermost first.
    public let groups: [String]

    /// How long the step took, including pauses between attempts.
    public var duration: Duration { end - start }
  }
}

extension LaunchReport {
  /// The ids of the steps from the first to the one that ended last, of which each waited for the one before it.
  ///
  /// A step waits for the steps that it comes after and, if the maximum number of steps was running, for the one whose
  /// slot it took. The path shows what the time of this run was spent on, so look there first. It doesn't predict another
  /// run. Without a limit on concurrency, only a faster step of the path makes the launch shorter. With a limit, a faster
  /// step outside the path frees its slot earlier, which can make the launch shorter, and even longer if others then begin
  /// in another order. Takes time linear in steps and dependencies.
  public var criticalPath: [String] {
    let indices = Dictionary(entries.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    let ran = entries.indices.filter { entries[$0].outcome != .notRun }
    var path: [String] = []
    var next = ran.max { (entries[$0].end, $1) < (entries[$1].end, $0) }
    while let index = next {
      path.append(entries[index].id)
      // The slot was freed later than all steps ended that it comes after.
      let waitedFor = entries[index].tookSlotOf.map { [$0] } ?? entries[index].waitedFor
      next = waitedFor.compactMap { indices[$0] }.max { (entries[$0].end, $1) < (entries[$1].end, $0) }
    }
    return path.reversed()
  }
}

extension LaunchReport {
  /// Creates the report of a run.
  init(_ machine: LaunchStateMachine) {
    let planned = machine.plan.steps
    let isMentioned = machine.steps.map { step in
      !step.isUnmentioned && !step.isSettledBefore && (machine.purpose != .foreground || step.attempt > 0)
    }
    var entries: [Entry] = []
    entries.reserveCapacity(planned.count)
    for (index, step) in machine.steps.enumerated() where isMentioned[index] {
      entries.append(
        Entry(
          id: planned[index].id, outcome: step.outcome, queued: step.queued, start: step.start, end: step.end,
          attempts: step.outcome == .notRun ? 0 : step.attempt, message: step.message,
          waitedFor: machine.plan.dependencies[index].compactMap { isMentioned[$0] ? planned[$0].id : nil },
          tookSlotOf: step.tookSlotOf.flatMap { isMentioned[$0] ? planned[$0].id : nil },
          wasAbandoned: step.wasAbandoned, groups: planned[index].groups))
    }
    self.init(entries)
  }
}
