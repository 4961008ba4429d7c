internal import Support

extension LaunchReport {
  /// Returns the report as an SVG picture: a bar for each step over time, and arrows to the steps that waited for it.
  ///
  /// Bars of the critical path are dark. A dashed arrow leads to a step that waited for the slot of another one. Any
  /// browser opens the picture; point at a bar for details.
  public func svg() -> String {
    let chart = Chart(self)
    let critical = Set(criticalPath)
    let bars = entries.indices.map { chart.bar($0, entries[$0], isCritical: critical.contains(entries[$0].id)) }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(chart.width)" height="\(chart.height)" \
      viewBox="0 0 \(chart.width) \(chart.height)" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">
      <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto">\
      <path d="M0 0 L8 4 L0 8 z" fill="#889"/></marker></defs>
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="16" y="22" font-weight="bold">\(summary.escaped.xmlEscaped)</text>
      \(chart.grid)
      <g fill="none" stroke="#b5bac6" marker-end="url(#arrow)">
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
      let slot = entry.tookSlotOf.map { arrow(from: $0, to: index, at: entry.start, " stroke-dasharray=\"3 3\"") }
      return (entry.waitedFor.map { arrow(from: $0, to: index, at: entry.queued) } + [slot ?? nil]).compactMap(\.self)
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
      entry.outcome == .notRun
      ? ""
      : "<rect x=\"\(start)\" y=\"\(y + 4)\" width=\"\(end - start)\" height=\"14\" rx=\"2\" fill=\"\(entry.color(isCritical))\"/>"
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

  fileprivate func color(_ isCritical: Bool) -> String {
    switch outcome {
    case .completed: isCritical ? "#2f5d9b" : "#8fb0dd"
    case .failed: "#c0392b"
    case .skipped: "#c9b458"
    case .notRun: "#cccccc"
    }
  }
}
