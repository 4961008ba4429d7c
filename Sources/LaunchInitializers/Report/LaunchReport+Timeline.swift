extension LaunchReport {
  /// Returns the report as text with bars, to be read in a terminal.
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
  /// A star marks the ``criticalPath``. Light bars are the wait for a turn while the maximum number of steps was
  /// running; the step that made room is named. Control characters of ids and messages are escaped, and columns are
  /// counted as a terminal shows them. Takes time linear in the steps.
  public func timeline() -> String {
    guard !entries.isEmpty else { return "Nothing ran.\n" }
    let (total, names) = (duration, entries.map(\.id.escaped))
    let nameWidth = names.map(\.displayWidth).max() ?? 0
    let critical = Set(criticalPath)
    let end = total.text
    let indent = String(repeating: " ", count: nameWidth + 5)
    let scale = "\(indent)0 s\(String(repeating: " ", count: max(1, Self.columns - 3 - end.count)))\(end)"
    let lines = zip(entries, names).map { entry, name in
      let star = critical.contains(entry.id) ? "*" : " "
      return
        "\(name.padded(to: nameWidth)) \(entry.sign) \(star) \(bar(of: entry, in: total))  \(entry.note(of: total))"
    }
    return ([summary, scale] + lines).joined(separator: "\n") + "\n"
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
    func column(_ time: Duration) -> Int { Self.column(time, of: total) }
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

  /// The column that a time is in.
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

  /// What there is to say about the step: how long it took or why it didn't run, and what it waited for.
  ///
  /// - Parameter total: How long everything took. A shorter wait for a turn than a hundredth of that isn't mentioned.
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
    var waits: [String] = []
    if !waitedFor.isEmpty {
      let names = waitedFor.prefix(4).map(\.escaped).joined(separator: ", ")
      waits.append("after \(names)\(waitedFor.count > 4 ? " and \(waitedFor.count - 4) more" : "")")
    }
    if start - queued > total / 100 {
      waits.append(
        "waited \((start - queued).text) for \(tookPlaceOf.map { "the place of \($0.escaped)" } ?? "its turn")")
    }
    if !waits.isEmpty { parts.append(waits.joined(separator: ", ")) }
    return parts.joined(separator: "  ")
  }
}
