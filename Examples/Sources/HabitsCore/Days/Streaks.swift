/// The statistics of a habit, calculated from the days on which it was done.
package struct Streaks: Equatable {
  /// The number of days in a row up to today, or up to yesterday if the habit isn't done yet today.
  package let current: Int
  /// The largest number of days in a row.
  package let longest: Int
  /// Whether the habit was done, for each of the last 14 days, from the oldest to today.
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
