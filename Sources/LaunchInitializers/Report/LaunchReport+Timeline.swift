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
  var summary: String {
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
