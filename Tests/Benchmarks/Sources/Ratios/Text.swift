import Foundation

/// Returns a duration with three digits and a unit.
func duration(_ nanoseconds: Double) -> String {
  let units: [(name: String, length: Double)] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1)]
  let unit = units.first { nanoseconds >= $0.length } ?? ("ns", 1)
  let value = nanoseconds / unit.length
  return String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value) + " " + unit.name
}

func decimals(_ value: Double) -> String { String(format: value < 10 ? "%.2f" : "%.1f", value) }

func count(_ value: Double) -> String { value == value.rounded() ? String(Int(value)) : decimals(value) }

/// Returns the rows as text with columns that are as wide as their longest cell.
func table(_ rows: [[String]]) -> String {
  let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
  return rows.map { row in
    zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
      .replacing(/[ ]+$/, with: "")
  }.joined(separator: "\n")
}
