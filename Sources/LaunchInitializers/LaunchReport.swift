internal import Support

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
      // The slot became free only after all steps it waits for had ended.
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

// MARK: Timeline

extension LaunchReport {
  /// Returns the report as text with bars, for a terminal.
  ///
  /// ```
  /// 1.25 s, 3 completed, 1 skipped
  ///              0 s                             1.25 s
  /// logging  ✓ * ███                                     100 ms
  /// crash    ○   ·                                       skipped: no ApiKey
  /// database ✓ *    ███████████████████████████████████  1.15 s  after logging
  /// cache    ✓      ░░░░░███████                         250 ms  after logging, waited 150 ms for the slot of flags
  /// ```
  ///
  /// A star marks the ``criticalPath``. A light bar is the time that a step waited for a slot while the maximum number of
  /// steps was running; the step that freed the slot is named. Steps of a group name the group. Control characters of ids
  /// and messages are escaped, and columns are counted as a terminal shows them. Takes time linear in the steps.
  public func timeline() -> String {
    guard !entries.isEmpty else { return "Nothing ran.\n" }
    let (total, names) = (duration, entries.map(\.id.escaped))
    let nameWidth = names.map(\.displayWidth).max() ?? 0
    let critical = Set(criticalPath)
    let end = total.text
    let indent = String(repeating: " ", count: nameWidth + 5)
    var text = "\(summary)\n\(indent)0 s\(String(repeating: " ", count: max(1, Self.columns - 3 - end.count)))\(end)\n"
    for (entry, name) in zip(entries, names) {
      text += name.padded(to: nameWidth)
      text += " \(entry.sign) \(critical.contains(entry.id) ? "*" : " ") "
      text += bar(of: entry, in: total)
      text += "  \(entry.note(of: total))\n"
    }
    return text
  }

  /// The number of columns of the bars.
  private static let columns = 48

  /// The duration, and the number of steps with each outcome.
  private var summary: String {
    let outcomes: [Outcome] = [.completed, .skipped, .failed, .notRun]
    let counts = outcomes.compactMap { outcome -> String? in
      let count = entries.count { $0.outcome == outcome }
      return count == 0 ? nil : "\(count) \(outcome == .notRun ? "not run" : outcome.rawValue)"
    }
    return ([duration.text] + counts).joined(separator: ", ")
  }

  private func bar(of entry: Entry, in total: Duration) -> String {
    if entry.outcome == .notRun { return Self.blank[Self.columns] }
    func column(_ time: Duration) -> Int { Self.column(time, of: total) }
    let (queued, start) = (column(entry.queued), column(entry.start))
    let first = min(start, Self.columns - 1)
    // A wait that ends in the last column is hidden by the bar there.
    let wait = Self.light[max(0, first - queued)]
    let bar = entry.duration == .zero ? "·" : Self.full[max(1, column(entry.end) - first)]
    let rest = entry.duration == .zero ? first + 1 : max(first + 1, column(entry.end))
    return Self.blank[min(queued, first)] + wait + bar + Self.blank[Self.columns - rest]
  }

  // Parts of bars by their lengths: putting bars together from characters took a third of the time of a timeline.
  private static let blank = (0...columns).map { String(repeating: " ", count: $0) }
  private static let light = (0...columns).map { String(repeating: "░", count: $0) }
  private static let full = (0...columns).map { String(repeating: "█", count: $0) }

  /// The column of a time.
  private static func column(_ time: Duration, of total: Duration) -> Int {
    let total = total.nanoseconds
    guard total > 0 else { return 0 }
    return Int((Double(time.nanoseconds) / Double(total) * Double(columns)).rounded())
  }
}

extension LaunchReport.Entry {
  fileprivate var sign: String {
    switch outcome {
    case .completed: "✓"
    case .failed: "✗"
    case .skipped: "○"
    case .notRun: "–"
    }
  }

  /// The note beside the bar: how long the step took or why it didn't run, its groups, and what it waited for.
  ///
  /// A wait for a slot of less than a hundredth of `total` isn't mentioned.
  fileprivate func note(of total: Duration) -> String {
    var parts: [String]
    switch outcome {
    case .completed: parts = [duration.text]
    case .failed: parts = [duration > .zero ? "failed after \(duration.text)" : "failed"]
    case .skipped: parts = ["skipped"]
    case .notRun: parts = ["not run"]
    }
    if let message { parts[0] += ": \(message.escaped)" }
    if attempts > 1 { parts[0] += ", \(attempts) attempts" }
    var waits = groups.isEmpty ? [] : ["in \(groups.joined(separator: "/").escaped)"]
    if !waitedFor.isEmpty {
      let names = waitedFor.prefix(4).map(\.escaped).joined(separator: ", ")
      waits.append("after \(names)\(waitedFor.count > 4 ? " and \(waitedFor.count - 4) more" : "")")
    }
    if start - queued > total / 100 {
      waits.append(
        "waited \((start - queued).text) for \(tookSlotOf.map { "the slot of \($0.escaped)" } ?? "a slot")")
    }
    if !waits.isEmpty { parts.append(waits.joined(separator: ", ")) }
    return parts.joined(separator: "  ")
  }
}

// MARK: JSON

extension LaunchReport {
  /// Returns the report as a JSON object; the members have the names of the properties, and times are in seconds.
  public func json() -> String {
    let entries = entries.map { entry in
      """
          {"id": \(entry.id.jsonQuoted), "outcome": \(entry.outcome.rawValue.jsonQuoted), "queued": \(entry.queued.seconds), \
      "start": \(entry.start.seconds), "end": \(entry.end.seconds), "attempts": \(entry.attempts), \
      "message": \(entry.message?.jsonQuoted ?? "null"), "waitedFor": \(Self.list(entry.waitedFor)), \
      "tookSlotOf": \(entry.tookSlotOf?.jsonQuoted ?? "null"), "wasAbandoned": \(entry.wasAbandoned), \
      "groups": \(Self.list(entry.groups))}
      """
    }
    return """
      {
        "duration": \(duration.seconds),
        "criticalPath": \(Self.list(criticalPath)),
        "entries": [
      \(entries.joined(separator: ",\n"))
        ]
      }

      """
  }

  private static func list(_ strings: [String]) -> String {
    "[\(strings.map(\.jsonQuoted).joined(separator: ", "))]"
  }
}

// MARK: Picture

extension LaunchReport {
  /// Returns the report as an SVG picture: a bar for each step over time, and arrows to the steps that waited for it.
  ///
  /// Bars of the critical path are dark, those of failed steps are red. A dashed arrow leads to a step that waited for the slot of another one. Any
  /// browser opens the picture, alone or as a part of a page; point at a bar for details.
  public func svg() -> String {
    let chart = Chart(self)
    let critical = Set(criticalPath)
    let bars = entries.indices.map { chart.bar($0, entries[$0], isCritical: critical.contains(entries[$0].id)) }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(chart.width)" height="\(chart.height)" \
      viewBox="0 0 \(chart.width) \(chart.height)" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">
      <defs><marker id="launch-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto">\
      <path d="M0 0 L8 4 L0 8 z" fill="#889"/></marker></defs>
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="16" y="22" font-weight="bold">\(summary.escaped.xmlEscaped)</text>
      \(chart.grid)
      <g fill="none" stroke="#b5bac6" marker-end="url(#launch-arrow)">
      \(chart.arrows(entries).joined(separator: "\n"))
      </g>
      \(bars.joined(separator: "\n"))
      </svg>

      """
  }
}

/// The layout of the picture.
private struct Chart {
  private let left: Int
  private let plotWidth = 640
  private let top = 56
  private let row = 26
  private let total: Duration
  private let count: Int

  init(_ report: LaunchReport) {
    left = 32 + 8 * min(40, report.entries.map(\.id.count).max() ?? 0)
    total = report.duration
    count = report.entries.count
  }

  // With room on the right for the text beside the last bars.
  var width: Int { left + plotWidth + 320 }
  var height: Int { top + count * row + 16 }

  private func x(_ time: Duration) -> Int {
    let nanoseconds = total.nanoseconds
    guard nanoseconds > 0 else { return left }
    return left + Int((Double(time.nanoseconds) / Double(nanoseconds) * Double(plotWidth)).rounded())
  }

  private func y(_ index: Int) -> Int { top + index * row }

  /// Five lines with their times.
  var grid: String {
    (0...4).map { quarter in
      let time = total * quarter / 4
      return """
        <path d="M\(x(time)) \(top - 6) V\(height - 12)" stroke="#e3e6ee"/>\
        <text x="\(x(time))" y="\(top - 12)" text-anchor="middle" fill="#667">\(time.text.escaped.xmlEscaped)</text>
        """
    }.prefix(total > .zero ? 5 : 1).joined(separator: "\n")
  }

  func arrows(_ entries: [LaunchReport.Entry]) -> [String] {
    let indices = Dictionary(entries.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    func arrow(from id: String, to index: Int, at time: Duration, _ style: String = "") -> String? {
      guard let other = indices[id], entries[index].outcome != .notRun else { return nil }
      let (from, to) = (x(entries[other].end), x(time))
      return
        "<path d=\"M\(from) \(y(other) + 16) L\(max(from, to)) \(y(index) + (other < index ? 3 : 18))\"\(style)/>"
    }
    return entries.indices.flatMap { index in
      let entry = entries[index]
      let slot = entry.tookSlotOf.flatMap { arrow(from: $0, to: index, at: entry.start, " stroke-dasharray=\"3 3\"") }
      return (entry.waitedFor.map { arrow(from: $0, to: index, at: entry.queued) } + [slot]).compactMap(\.self)
    }
  }

  func bar(_ index: Int, _ entry: LaunchReport.Entry, isCritical: Bool) -> String {
    let (queued, start, end) = (x(entry.queued), x(entry.start), max(x(entry.start) + 2, x(entry.end)))
    let (y, middle) = (y(index), y(index) + 15)
    let details = [entry.outcome.rawValue, entry.message].compactMap(\.self).joined(separator: ": ")
    let wait =
      start > queued && entry.outcome != .notRun
      ? "<rect x=\"\(queued)\" y=\"\(y + 4)\" width=\"\(start - queued)\" height=\"14\" fill=\"#e3e6ee\"/>" : ""
    let shape =
      entry.color(isCritical).map { color in
        "<rect x=\"\(start)\" y=\"\(y + 4)\" width=\"\(end - start)\" height=\"14\" rx=\"2\" fill=\"\(color)\"/>"
      } ?? ""
    let note = entry.outcome == .completed ? entry.duration.text : details
    let name = entry.id.count > 40 ? entry.id.prefix(39) + "…" : entry.id[...]
    return """
      <g><title>\("\(entry.path): \(details), \(entry.start.text) to \(entry.end.text)".escaped.xmlEscaped)</title>\
      <text x="\(left - 12)" y="\(middle)" text-anchor="end"\(isCritical ? " font-weight=\"bold\"" : "")>\
      \(String(name).escaped.xmlEscaped)</text>\(wait)\(shape)\
      <text x="\((entry.outcome == .notRun ? left : end) + 6)" y="\(middle)" fill="#445">\(String(note.prefix(80)).escaped.xmlEscaped)</text></g>
      """
  }
}

extension LaunchReport.Entry {
  /// The id after the names of the groups.
  fileprivate var path: String { (groups + [id]).joined(separator: "/") }

  /// The color of the step's bar; nil for a step that hasn't run, which has no bar.
  fileprivate func color(_ isCritical: Bool) -> String? {
    switch outcome {
    case .completed: isCritical ? "#2f5d9b" : "#8fb0dd"
    case .failed: "#c0392b"
    case .skipped: "#c9b458"
    case .notRun: nil
    }
  }
}
