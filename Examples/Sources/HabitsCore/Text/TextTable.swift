/// Rows of text in columns that are as wide as their contents.
struct TextTable {
  enum Side { case left, right }

  private let sides: [Side]
  private var rows: [[String]]

  init(_ columns: [(title: String, side: Side)]) {
    sides = columns.map(\.side)
    rows = [columns.map(\.title)]
  }

  mutating func add(_ row: [String]) { rows.append(row) }

  /// The titles and the rows, one line each, without spaces at the ends of lines.
  var text: String {
    let widths = sides.indices.map { column in rows.map { $0[column].displayWidth }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, zip(widths, sides)).map { cell, column in
        let space = String(repeating: " ", count: column.0 - cell.displayWidth)
        return column.1 == .left ? cell + space : space + cell
      }
      return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }
}
