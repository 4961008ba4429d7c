internal import Support

extension LaunchReport {
  /// Returns the report as an SVG image with a bar for each step on a time axis; bars of failed steps are red.
  ///
  /// The image is wide enough for all names and notes. A note of more than 100 columns is split into several lines.
  public func svg() -> String {
    let picture = Picture(self)
    let (width, height) = (picture.width, picture.height)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
      font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">
      <style>text { white-space: pre; }</style>
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="16" y="22" font-weight="bold">\(summary.xmlEscaped)</text>
      \(picture.rows.joined(separator: "\n"))
      </svg>

      """
  }

  /// The rows of the image, and its size in pixels.
  private struct Picture {
    /// The width of a character in pixels, slightly more than in the widest common font.
    private static let column = 8
    private static let line = 16
    private static let margin = 16
    /// The maximum number of columns in a line of a note.
    private static let noteColumns = 100

    private(set) var rows: [String] = []
    private(set) var width: Int
    private(set) var height = 40

    init(_ report: LaunchReport) {
      let names = report.entries.map(\.id.escaped)
      let left = 2 * Self.margin + Self.column * (names.map(\.columns).max() ?? 0)
      let (critical, scale) = (Set(report.criticalPath), Scale(duration: report.duration, width: 640))
      width = max(left + scale.width, Self.column * report.summary.columns) + 2 * Self.margin
      for (entry, name) in zip(report.entries, names) {
        let (x, y) = (left + scale.position(of: entry.start), height)
        let length = max(2, scale.position(of: entry.end) - scale.position(of: entry.start))
        let weight = critical.contains(entry.id) ? " font-weight=\"bold\"" : ""
        var row = """
          <text x="\(left - 12)" y="\(y + 11)" text-anchor="end"\(weight)>\(name.xmlEscaped)</text>\
          <rect x="\(x)" y="\(y)" width="\(length)" height="14" rx="2" fill="\(entry.color)"/>
          """
        let lines = entry.note.lines(ofColumns: Self.noteColumns)
        for (number, line) in lines.enumerated() {
          let begin = x + length + 6
          row += "<text x=\"\(begin)\" y=\"\(y + 11 + number * Self.line)\" fill=\"#445\">\(line.xmlEscaped)</text>"
          width = max(width, begin + Self.column * line.columns + Self.margin)
        }
        rows.append(row)
        height += 10 + Self.line * max(1, lines.count)
      }
      height += Self.margin
    }
  }
}

extension LaunchReport.Entry {
  fileprivate var color: String { [.completed: "#2f5d9b", .failed: "#c0392b"][outcome] ?? "#c9b458" }
}

extension String {
  /// The number of columns of a fixed-width font that the text takes.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// Returns the text as lines of at most `limit` columns.
  ///
  /// Lines are broken at spaces. A word that is longer than a line is broken inside the word.
  fileprivate func lines(ofColumns limit: Int) -> [String] {
    var lines: [String] = []
    var (line, width) = ("", 0)
    for word in split(separator: " ", omittingEmptySubsequences: false) {
      let needed = String(word).columns
      if width > 0, width + 1 + needed > limit {
        lines.append(line)
        (line, width) = ("", 0)
      } else if width > 0 || !line.isEmpty {
        line += " "
        width += 1
      }
      for character in word {
        if width + character.columns > limit {
          lines.append(line)
          (line, width) = ("", 0)
        }
        line.append(character)
        width += character.columns
      }
    }
    return lines + [line]
  }
}

extension Character {
  /// The number of columns that the character takes in a fixed-width font: 2 for most East Asian characters and emoji,
  /// and 1 for other characters.
  fileprivate var columns: Int {
    guard let value = unicodeScalars.first?.value, value >= 0x1100 else { return 1 }
    let wide: [ClosedRange<UInt32>] = [
      0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]
    return wide.contains { $0.contains(value) } ? 2 : 1
  }
}
