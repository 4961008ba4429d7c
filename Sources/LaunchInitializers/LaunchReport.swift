/// What a sequence did, step by step: for the log, for a person, for a test.
///
/// Times are since the run began, on the sequence's clock.
public struct LaunchReport: Sendable {
  /// The steps, in the order of the plan; of a shut-down, in the order of shutting down.
  public let entries: [Entry]

  init(_ entries: [Entry]) { self.entries = entries }

  static let empty = LaunchReport([])

  /// How long it took, to the end of the last step.
  public var duration: Duration { entries.map(\.end).max() ?? .zero }

  /// The skipped and failed steps, and those with something to say, each as a sentence for the log.
  public var warnings: [String] {
    entries.compactMap { entry in
      guard let message = entry.message, entry.outcome != .notRun else { return nil }
      return "\(entry.id) (\(entry.outcome)): \(message)"
    }
  }
}

extension LaunchReport {
  /// What became of a step.
  public enum Outcome: String, Sendable, Hashable, CustomStringConvertible {
    /// It did what it is for.
    case completed
    /// It threw, took too long, or was cancelled while it ran; the message says which.
    case failed
    /// It had nothing to do here: a missing key, another stage.
    case skipped
    /// Its turn never came.
    case notRun

    /// The case's name.
    public var description: String { rawValue }
  }

  /// What became of one step.
  public struct Entry: Sendable, Hashable {
    /// The step's name.
    public let id: String
    /// What became of it.
    public let outcome: Outcome
    /// When the last of those it waits for was done, so that it could have begun.
    public let queued: Duration
    /// When its first attempt began: after ``queued`` where too many others were running.
    public let start: Duration
    /// When it ended, its last attempt included.
    public let end: Duration
    /// How often it was tried.
    public let attempts: Int
    /// Why it failed or was skipped; nil where there is nothing to say.
    public let message: String?
    /// The steps that it waited for.
    public let waitedFor: [String]
    /// The step whose place it took, where as many as the width allows were running when it could have begun.
    ///
    /// It began when that one ended or, where that is tried again later, paused.
    public let tookPlaceOf: String?
    /// Whether it ignored its cancellation and was left behind.
    public let wasAbandoned: Bool

    /// How long it took, pauses between attempts included.
    public var duration: Duration { end - start }
  }
}

extension LaunchReport {
  /// The report of a run.
  init(_ state: borrowing RunState) {
    let ids = state.plan.steps.map(\.id)
    let isMentioned = state.records.map { [isLaunch = state.isLaunch] in
      isLaunch || !$0.isUnmentioned && $0.attempt > 0
    }
    var entries: [Entry] = []
    for (place, record) in state.records.enumerated() where isMentioned[place] {
      entries.append(
        Entry(
          id: ids[place], outcome: record.outcome, queued: record.queued, start: record.start, end: record.end,
          attempts: record.attempt, message: record.message,
          waitedFor: state.plan.dependencies[place].filter { isMentioned[$0] }.map { ids[$0] },
          tookPlaceOf: record.tookPlaceOf.flatMap { isMentioned[$0] ? ids[$0] : nil },
          wasAbandoned: record.wasAbandoned))
    }
    self.init(entries)
  }
}
