package import Spellbook

/// A habit tracker, which lists and changes a person's habits on the current day.
package final class Tracker {
  let clock: any WallClock
  private let book: HabitBook
  /// The current day, set at the first read, so that a run past midnight stays on one day.
  @Final package var today: Day

  package init(book: HabitBook, clock: any WallClock) {
    self.book = book
    self.clock = clock
  }

  /// Adds a habit and returns its number.
  package func add(_ name: String) throws -> Int {
    let draft = HabitDraft(name: try name.asHabitName())
    try book.add(draft)
    return draft.number
  }

  /// Marks the habit as done today.
  ///
  /// - Returns: The habit, and `isNew`, which is false if the habit was already done today.
  package func markDone(_ name: String) throws -> (habit: Habit, isNew: Bool) {
    try book.change(name) { habit in
      let isNew = habit.days.insert(today).inserted
      return (habit, isNew)
    }
  }

  package func rename(_ name: String, to newName: String) throws -> (old: String, new: String) {
    let newName = try newName.asHabitName()
    return (try book.rename(name, to: newName), newName)
  }

  package func remove(_ name: String) throws -> Habit { try book.remove(name) }

  /// Returns the given names, except for the names of existing habits.
  package func unused(_ names: [String]) throws -> [String] {
    let habits = try book.all()
    return names.filter { name in !habits.contains { $0.name.matches(name) } }
  }

  package func streaks(of habit: Habit) -> Streaks { Streaks(of: habit.days, on: today) }

  /// Returns the habits as a printable table, or nil if there are no habits.
  ///
  /// The columns are the number, the name, the current streak, the longest streak, and the last 14 days.
  package func table() throws -> String? {
    let habits = try book.all()
    if habits.isEmpty { return nil }
    var table = TextTable([("#", .right), ("Habit", .left), ("Now", .right), ("Best", .right), ("Last 14 days", .left)])
    for habit in habits {
      let streaks = streaks(of: habit)
      table.add([
        String(habit.number), habit.name, String(streaks.current), String(streaks.longest),
        String(streaks.lastDays.map { $0 ? "█" : "·" }),
      ])
    }
    return table.text
  }

  package func countGuidedRun() throws -> Int { try book.countGuidedRun() }

  /// Returns the damage that was found in the preferences file, or nil if there is none.
  package func damage() throws -> PreferenceRecovery? { try book.damage() }
}
