extension LaunchReport {
  /// The report as text with bars, to be read in a terminal.
  ///
  /// ```
  /// 1.25 s, 3 completed, 1 skipped
  ///              0 s                             1.25 s
  /// logging  ✓ * ███                                     100 ms
  /// crash    ○   ·                                       skipped: no ApiKey
  /// database ✓ *    ███████████████████████████████████  1.15 s  after logging
  /// cache    ✓      ░░░░░███████                         250 ms  after logging, waited 150 ms for the place of flags
  /// ```
  ///
  /// A star marks the critical path. Light bars are the wait for a turn, where as many steps were running as the width
  /// allows, and the step that made room is named.
  public func timeline() -> String {
    guard !entries.isEmpty else { return "Nothing ran.\n" }
    let nameWidth = entries.map(\.id.count).max() ?? 0
    let critical = Set(criticalPath)
    let end = duration.text
    let indent = String(repeating: " ", count: nameWidth + 5)
    let scale = "\(indent)0 s\(String(repeating: " ", count: max(1, Self.columns - 3 - end.count)))\(end)"
    let lines = entries.map { entry in
      let name = entry.id + String(repeating: " ", count: nameWidth - entry.id.count)
      return
        "\(name) \(entry.sign) \(critical.contains(entry.id) ? "*" : " ") \(bar(of: entry))  \(entry.note(of: duration))"
    }
    return ([summary, scale] + lines).joined(separator: "\n") + "\n"
  }

  /// How many columns the bars take.
  private static let columns = 48

  /// The duration and how many steps came to which end.
  var summary: String {
    let outcomes: [Outcome] = [.completed, .skipped, .failed, .notRun]
    let counts = outcomes.compactMap { outcome -> String? in
      let count = entries.count { $0.outcome == outcome }
      return count == 0 ? nil : "\(count) \(outcome == .notRun ? "not run" : outcome.rawValue)"
    }
    return ([duration.text] + counts).joined(separator: ", ")
  }

  private func bar(of entry: Entry) -> String {
    let (queued, start, end) = (column(entry.queued), column(entry.start), column(entry.end))
    var cells = [Character](repeating: " ", count: Self.columns)
    if entry.outcome == .notRun { return String(cells) }
    for column in queued..<max(queued, start) { cells[column] = "░" }
    if entry.duration == .zero {
      cells[min(start, Self.columns - 1)] = "·"
    } else {
      let first = min(start, Self.columns - 1)
      for column in first..<max(first + 1, end) { cells[column] = "█" }
    }
    return String(cells)
  }

  /// The column that a time is in, of as many as there are.
  private func column(_ time: Duration) -> Int {
    let total = duration.nanoseconds
    guard total > 0 else { return 0 }
    return Int((Double(time.nanoseconds) / Double(total) * Double(Self.columns)).rounded())
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

  /// What there is to say about the step: how long it took or why not, what it waited for.
  ///
  /// - Parameter total: How long everything took. A wait for a turn of less than a hundredth of it is none.
  fileprivate func note(of total: Duration) -> String {
    var parts: [String]
    switch outcome {
    case .completed: parts = [duration.text]
    case .failed: parts = [duration > .zero ? "failed after \(duration.text)" : "failed"]
    case .skipped: parts = ["skipped"]
    case .notRun: parts = ["not run"]
    }
    if let message { parts[0] += ": \(message.split(whereSeparator: \.isNewline).joined(separator: " "))" }
    if attempts > 1 { parts[0] += ", \(attempts) attempts" }
    var waits: [String] = []
    if !waitedFor.isEmpty {
      let names = waitedFor.prefix(4).joined(separator: ", ")
      waits.append("after \(names)\(waitedFor.count > 4 ? " and \(waitedFor.count - 4) more" : "")")
    }
    if start - queued > total / 100 {
      waits.append("waited \((start - queued).text) for \(tookPlaceOf.map { "the place of \($0)" } ?? "its turn")")
    }
    if !waits.isEmpty { parts.append(waits.joined(separator: ", ")) }
    return parts.joined(separator: "  ")
  }
}
