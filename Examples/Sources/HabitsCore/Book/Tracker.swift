package import Spellbook

/// A tracker of a person's habits on the current day.
package final class Tracker {
  let clock: any WallClock
  private let book: HabitBook
  /// The current day at the first read, so that a run past midnight stays on one day.
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
  /// - Returns: The habit, and whether it wasn't yet done today.
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

  /// Returns the names that none of the person's habits has.
  package func unused(_ names: [String]) throws -> [String] {
    let habits = try book.all()
    return names.filter { name in !habits.contains { $0.name.matches(name) } }
  }

  package func streaks(of habit: Habit) -> Streaks { Streaks(of: habit.days, on: today) }

  /// Returns the habits as columns: number, name, current and longest streak, and the last 14 days.
  ///
  /// Returns nil if there are no habits.
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

  /// Returns the damage to the file, or nil if it has none.
  package func damage() throws -> PreferenceRecovery? { try book.damage() }
}
