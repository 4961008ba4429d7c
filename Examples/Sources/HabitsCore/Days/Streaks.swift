/// The statistics of a habit's days.
package struct Streaks: Equatable {
  /// Days in a row up to today; up to yesterday while today is not done yet.
  package let current: Int
  /// The most days in a row that there ever were.
  package let longest: Int
  /// Whether the habit was done on each of the last 14 days, today being the last.
  package let lastDays: [Bool]

  package init(of days: Set<Day>, on today: Day) {
    current = Streaks.length(endingOn: days.contains(today) ? today : today - 1, in: days)
    longest = days.filter { !days.contains($0 + 1) }.map { Streaks.length(endingOn: $0, in: days) }.max() ?? 0
    lastDays = (0..<14).reversed().map { days.contains(today - $0) }
  }

  private static func length(endingOn end: Day, in days: Set<Day>) -> Int {
    var day = end
    var length = 0
    while days.contains(day) {
      length += 1
      day = day - 1
    }
    return length
  }
}
