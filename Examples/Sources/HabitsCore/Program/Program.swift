import Spellbook

/// The program, which runs one command.
package final class Program {
  /// The tracker, created by the first command that needs it, so `help` opens no file.
  @Lazy var tracker: Tracker
  /// Ideas for habits, loaded from the resource `Ideas.json` when the command `ideas` runs.
  @Partial("Ideas") var ideas: [String]
  @Injected var console: any Console

  package init() {}

  /// Runs the command, prints its result, and returns the exit code.
  ///
  /// The exit code is 0 on success, and 1 if a name is unknown, taken or unusable. It is 64 if the arguments aren't a
  /// command, and 74 if the file couldn't be read or written.
  package func run(_ arguments: [String]) -> Int32 {
    do {
      try perform(Command(arguments))
      return 0
    } catch let error as UsageError {
      console.printError("Habits: \(error)\n\n\(Command.usage)")
      return 64
    } catch let error as HabitError {
      console.printError("Habits: \(error)")
      return 1
    } catch {
      console.printError("Habits: \(error)")
      return 74
    }
  }

  /// Runs the command and prints its result.
  func perform(_ command: Command) throws {
    switch command {
    case .help: try console.print(Command.usage)
    case .guide: try GuidedRun(console: console).run(number: tracker.countGuidedRun())
    case .add(let name):
      let number = try tracker.add(name)
      try console.print("Habit \(number) is added. When you have done it: Habits done \(number)")
    case .done(let name): try markDone(name)
    case .list: try console.print(tracker.table() ?? "No habit yet. Add one: Habits add \"Read\"")
    case .ideas: for idea in try tracker.unused($ideas.load()) { try console.print("Habits add \"\(idea)\"") }
    case .rename(let name, let newName):
      let names = try tracker.rename(name, to: newName)
      try console.print("\"\(names.old)\" is called \"\(names.new)\" now.")
    case .remove(let name):
      let habit = try tracker.remove(name)
      try console.print("\"\(habit.name)\" is removed, with \(habit.days.count.counted("day")).")
    }
    if $tracker.hasValue, let damage = try tracker.damage() {
      console.printError("Habits: the file was damaged: \(damage)")
    }
  }

  private func markDone(_ name: String) throws {
    let (habit, isNew) = try tracker.markDone(name)
    let streak = tracker.streaks(of: habit).current.counted("day")
    try console.print(
      isNew
        ? "\"\(habit.name)\" is done today, \(streak) in a row."
        : "\"\(habit.name)\" was done today already, \(streak) in a row.")
  }
}
