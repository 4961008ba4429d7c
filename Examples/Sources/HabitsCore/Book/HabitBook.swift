package import Spellbook

/// The habits, kept in the registered store.
///
/// Every change is one transaction, so any number of programs may change the same file at once.
package final class HabitBook {
  @Preference var habits: [Habit] = []
  @Preference var lastNumber = 0
  @Preference var guidedRuns = 0
  @Injected var store: any PreferenceStore

  package init() {}

  /// The habits, in the order in which they were added.
  ///
  /// - Throws: The reason that the file can't be read; the property would read as if there were no habits.
  package func all() throws -> [Habit] {
    if let error = $habits.error { throw error }
    return habits
  }

  /// Adds a habit, and gives its number to the draft.
  ///
  /// - Throws: `HabitError.exists` if another habit has this name, or if the draft was already added.
  package func add(_ draft: HabitDraft) throws {
    if draft.$number.hasValue { throw HabitError.exists(draft.name) }
    let number = try change { habits, transaction in
      if let other = habits.first(where: { $0.name.matches(draft.name) }) { throw HabitError.exists(other.name) }
      // A habit that a person added to the file by hand counts, too.
      let last = try transaction.value(Int.self, forKey: $lastNumber.key) ?? 0
      let number = habits.reduce(last) { max($0, $1.number) } + 1
      try transaction.set(number, forKey: $lastNumber.key)
      habits.append(Habit(number: number, name: draft.name))
      return number
    }
    draft.number = number
  }

  /// Changes the habit with this name, or else with this number.
  ///
  /// - Throws: `HabitError.unknown` if there is none.
  package func change<Result>(_ name: String, _ body: (inout Habit) throws -> Result) throws -> Result {
    try change { habits, _ in try body(&habits[habits.index(of: name)]) }
  }

  /// Renames a habit, which keeps its days and its number.
  ///
  /// - Returns: The former name.
  package func rename(_ name: String, to newName: String) throws -> String {
    try change { habits, _ in
      let index = try habits.index(of: name)
      for (other, habit) in habits.enumerated() where other != index && habit.name.matches(newName) {
        throw HabitError.exists(habit.name)
      }
      defer { habits[index].name = newName }
      return habits[index].name
    }
  }

  /// Removes the habit with all its days, and returns it.
  package func remove(_ name: String) throws -> Habit {
    try change { habits, _ in habits.remove(at: try habits.index(of: name)) }
  }

  /// Counts one more guided run, and returns the number of guided runs so far.
  package func countGuidedRun() throws -> Int {
    try openStore().transaction { transaction in
      let runs = (try transaction.value(Int.self, forKey: $guidedRuns.key) ?? 0) + 1
      try transaction.set(runs, forKey: $guidedRuns.key)
      return runs
    }
  }

  /// Returns the damage to the file, or nil if it has none.
  package func damage() throws -> PreferenceRecovery? { (try openStore() as? FilePreferenceStore)?.recovery }

  private func change<Result>(
    _ body: (inout [Habit], inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    try openStore().transaction { transaction in
      var habits = try transaction.value([Habit].self, forKey: $habits.key) ?? []
      let result = try body(&habits, &transaction)
      try transaction.set(habits, forKey: $habits.key)
      return result
    }
  }

  /// Returns the store, or throws the reason that its file can't be opened.
  private func openStore() throws -> any PreferenceStore {
    do throws(InjectionError) { return try $store.resolve() } catch { throw error.underlying ?? error }
  }
}

extension [Habit] {
  fileprivate func index(of name: String) throws(HabitError) -> Int {
    if let index = firstIndex(where: { $0.name.matches(name) }) { return index }
    if let number = Int(name), let index = firstIndex(where: { $0.number == number }) { return index }
    throw .unknown(name, nearest: name.nearest(among: map(\.name)))
  }
}
