package import Spellbook

/// The habits, kept in the registered `PreferenceStore`.
///
/// Every change is one transaction, so several programs can safely change the file at the same time.
package final class HabitBook {
  @Preference var habits: [Habit] = []
  @Preference var lastNumber = 0
  @Preference var guidedRuns = 0
  @Injected var store: any PreferenceStore

  package init() {}

  /// The habits, in the order in which they were added.
  ///
  /// - Throws: An error if the file can't be read. (The property `habits` alone would be empty.)
  package func all() throws -> [Habit] {
    if let error = $habits.error { throw error }
    return habits
  }

  /// Adds the drafted habit, and stores its new number in the draft.
  ///
  /// - Throws: `HabitError.exists` if another habit has this name, or if the draft was already added.
  package func add(_ draft: HabitDraft) throws {
    if draft.$number.hasValue { throw HabitError.exists(draft.name) }
    let number = try change { habits, transaction in
      if let other = habits.first(where: { $0.name.matches(draft.name) }) { throw HabitError.exists(other.name) }
      // A habit that was added to the file by hand can have a number above `lastNumber`.
      let last = try transaction.value(Int.self, forKey: $lastNumber.key) ?? 0
      let number = habits.reduce(last) { max($0, $1.number) } + 1
      try transaction.set(number, forKey: $lastNumber.key)
      habits.append(Habit(number: number, name: draft.name))
      return number
    }
    draft.number = number
  }

  /// Changes the habit that has this name, or otherwise this number.
  ///
  /// - Throws: `HabitError.unknown` if no habit matches.
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

  /// Removes the habit and all its days, and returns the removed habit.
  package func remove(_ name: String) throws -> Habit {
    try change { habits, _ in habits.remove(at: try habits.index(of: name)) }
  }

  /// Adds one to the stored count of guided runs (`GuidedRun`), and returns the new count.
  package func countGuidedRun() throws -> Int {
    try openStore().transaction { transaction in
      let runs = (try transaction.value(Int.self, forKey: $guidedRuns.key) ?? 0) + 1
      try transaction.set(runs, forKey: $guidedRuns.key)
      return runs
    }
  }

  /// Returns the damage that was found in the preferences file, or nil if there is none.
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

  /// Returns the registered store, or throws the error that prevented opening its file.
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
