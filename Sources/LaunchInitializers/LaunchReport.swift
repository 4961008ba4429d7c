internal import Support

/// A report of the steps of a launch, a return to the foreground, or a shutdown.
///
/// All times in the report count from the beginning of the launch, the return or the shutdown.
public struct LaunchReport: Sendable {
  /// The reports of the steps in the order of the plan, or in reverse order for a shutdown.
  public let entries: [Entry]

  static let empty = LaunchReport(entries: [])

  /// The time from the beginning of the launch, return or shutdown to the end of the last step.
  public var duration: Duration {
    entries.reduce(.zero) { $1.outcome == .notRun ? $0 : max($0, $1.end) }
  }

  /// A line about each step that failed, was skipped, or completed with a note; control characters are escaped.
  public var warnings: [String] {
    entries.compactMap { entry in
      guard let message = entry.message, entry.outcome != .notRun else { return nil }
      return "\(entry.id) (\(entry.outcome.rawValue)): \(message)".escaped
    }
  }

  /// The way in which a step ended, if it has ended.
  public enum Outcome: String, Sendable, Hashable {
    /// The step completed, or it failed: it threw an error, took too long, or was canceled.
    case completed, failed
    /// The step had nothing to set up, isn't for the current stage, or requires a step that didn't complete.
    case skipped
    /// The step never began, or hasn't ended yet.
    case notRun
  }

  /// A report of one step.
  public struct Entry: Sendable {
    /// The ID of the step.
    public let id: String
    /// The outcome of the step: completed, failed, skipped or not run.
    public let outcome: Outcome
    /// The time at which the step could begin, because every step that it waited for had ended.
    public let queued: Duration
    /// The time at which the first attempt began; later than ``queued`` if the maximum number of steps was running.
    public let start: Duration
    /// The time at which the step ended; the same as ``start`` if the step hasn't ended yet.
    ///
    /// The step of a ``ReadyInitializer`` ends when its service is ready.
    public let end: Duration
    /// The number of attempts; 0 if the step never began.
    public let attempts: Int
    /// The reason that the step failed or was skipped, or another note about the step; nil if there is none.
    public let message: String?
    /// The errors of the step's attempts, its rollback and its service, in order; in the report of a shutdown, the
    /// errors of the shutdown.
    ///
    /// If there are more than a hundred errors, the list has only the first fifty and the latest fifty.
    public let errors: [any Error]
    /// The IDs of the steps that this step waited for.
    ///
    /// In place of a group, the list has the group's step that ended last. The list may end with one more step, which
    /// ended after all the others: the last step that the group around this step waited for, or the last step of the
    /// launch if this step is deferred.
    public let waitedFor: [String]
    /// Whether the step ignored its cancellation and was abandoned.
    public let wasAbandoned: Bool
    /// The names of the groups around the step, outermost first.
    public let groups: [String]

    /// The time that the step took, including pauses between attempts; zero if the step hasn't ended yet.
    public var duration: Duration { end - start }
  }

  /// The IDs of the chain of steps that leads to the step that ended last.
  ///
  /// Each step in the chain waited for the step before it.
  public var criticalPath: [String] {
    let indices = Dictionary(entries.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    func last(_ candidates: [Int]) -> Int? { candidates.max { (entries[$0].end, $1) < (entries[$1].end, $0) } }
    var path: [String] = []
    var next = last(entries.indices.filter { entries[$0].outcome != .notRun })
    while let index = next {
      path.append(entries[index].id)
      next = last(entries[index].waitedFor.compactMap { indices[$0] })
    }
    return path.reversed()
  }
}

extension LaunchReport {
  /// Returns the report as text with bars, for a terminal.
  ///
  /// ```
  /// 1.25 s, 4 completed, 1 skipped
  /// logging  ✓ * ███                                     100 ms
  /// crash    ○   ·                                       skipped: no ApiKey
  /// database ✓ *    ███████████████████████████████████  1.15 s  after logging
  /// fonts    ✓      █████                                160 ms  after logging
  /// cache    ✓      ░░░░░███████                         250 ms  after logging
  /// ```
  ///
  /// A star marks a step of the ``criticalPath``. A light bar is a wait while the maximum number of steps was running,
  /// which is two in this example.
  public func timeline() -> String {
    let width = entries.map(\.id.escaped.columns).max() ?? 0
    let (critical, scale) = (Set(criticalPath), Scale(duration: duration, width: Self.columns))
    return entries.reduce(into: "\(summary)\n") { text, entry in
      let id = entry.id.escaped
      let star = critical.contains(entry.id) ? "*" : " "
      let bar = Self.bar(of: entry, on: scale)
      text += "\(id)\(Self.bar(" ", width - id.columns)) \(entry.sign) \(star) \(bar)  \(entry.note)\n"
    }
  }

  /// The duration, and the number of steps with each outcome.
  var summary: String {
    let counts = [Outcome.completed, .skipped, .failed, .notRun].compactMap { outcome -> String? in
      let count = entries.count { $0.outcome == outcome }
      return count == 0 ? nil : "\(count) \(outcome == .notRun ? "not run" : outcome.rawValue)"
    }
    return ([duration.text] + counts).joined(separator: ", ")
  }

  /// The number of columns that are reserved for the bar of a step.
  private static let columns = 48

  private static func bar(of entry: Entry, on scale: Scale) -> String {
    if entry.outcome == .notRun { return Self.bar(" ", Self.columns) }
    let first = min(scale.position(of: entry.start), Self.columns - 1)
    let length = max(1, scale.position(of: entry.end) - first)
    let queued = min(scale.position(of: entry.queued), first)
    let bar = entry.duration == .zero ? "·" : Self.bar("█", length)
    return Self.bar(" ", queued) + Self.bar("░", first - queued) + bar + Self.bar(" ", Self.columns - first - length)
  }

  private static func bar(_ character: String, _ count: Int) -> String {
    String(repeating: character, count: max(0, count))
  }

  /// A time axis that maps the duration of a report to a number of columns or pixels.
  struct Scale {
    let duration: Duration
    let width: Int

    /// Returns the position of a time on the axis.
    ///
    /// A time after ``duration`` is at the end of the axis. A step that didn't run may have such a time.
    func position(of time: Duration) -> Int {
      duration > .zero ? min(Int((time / duration * Double(width)).rounded()), width) : 0
    }
  }

  /// Returns the report as a JSON object, with times in seconds.
  ///
  /// The members have the names of the properties of ``LaunchReport`` and ``Entry``.
  public func json() -> String {
    func list(_ strings: [String]) -> String { "[\(strings.map(\.jsonQuoted).joined(separator: ", "))]" }
    let entries = entries.map { entry in
      """
          {"id": \(entry.id.jsonQuoted), "outcome": \(entry.outcome.rawValue.jsonQuoted), "queued": \(entry.queued / .seconds(1)), \
      "start": \(entry.start / .seconds(1)), "end": \(entry.end / .seconds(1)), "attempts": \(entry.attempts), \
      "message": \(entry.message?.jsonQuoted ?? "null"), "errors": \(list(entry.errors.map { "\($0)" })), \
      "waitedFor": \(list(entry.waitedFor)), "wasAbandoned": \(entry.wasAbandoned), "groups": \(list(entry.groups))}
      """
    }
    return """
      {
        "duration": \(duration / .seconds(1)),
        "criticalPath": \(list(criticalPath)),
        "entries": [
      \(entries.joined(separator: ",\n"))
        ]
      }

      """
  }
}

extension LaunchReport.Entry {
  fileprivate var sign: String { [.completed: "✓", .failed: "✗", .skipped: "○"][outcome] ?? "–" }

  /// The step's time or outcome, its message and number of attempts, its groups, and the steps that it waited for.
  var note: String {
    var parts = [outcome == .completed ? duration.text : outcome == .notRun ? "not run" : outcome.rawValue]
    if outcome == .failed, duration > .zero { parts[0] += " after \(duration.text)" }
    if let message { parts[0] += ": \(message)" }
    if attempts > 1 { parts[0] += ", \(attempts) attempts" }
    if !groups.isEmpty { parts.append("in \(groups.joined(separator: "/"))") }
    if !waitedFor.isEmpty {
      let names = waitedFor.prefix(4).joined(separator: ", ")
      parts.append("after \(names)\(waitedFor.count > 4 ? " and \(waitedFor.count - 4) more" : "")")
    }
    return parts.joined(separator: "  ").escaped
  }
}

extension Duration {
  /// The duration as text for people, rounded to about three significant digits, with a unit.
  var text: String {
    if self == .zero { return "0 s" }
    var units = ["ns", "µs", "ms", "s"]
    var value = self / .nanoseconds(1)
    while units.count > 1, value.rounded() >= 1_000 {
      value /= 1_000
      units.removeFirst()
    }
    let digits: Double = value < 9.995 ? 100 : value < 99.95 ? 10 : 1
    let rounded = (value * digits).rounded() / digits
    return "\(Int64(exactly: rounded).map { "\($0)" } ?? "\(rounded)") \(units[0])"
  }
}
