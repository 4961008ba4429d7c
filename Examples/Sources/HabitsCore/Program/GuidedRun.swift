import Foundation
import Spellbook
import Synchronization

/// A run that shows how the program is put together, with sample habits on fixed days.
struct GuidedRun {
  private let console: any Console
  private let lines: any Console
  private let registry: InitializerRegistry
  private let folder = FileManager.default.temporaryDirectory.appending(path: "Habits-\(UUID().uuidString)")
  private let today: Day = "2026-04-01"

  init(console: any Console) {
    self.console = console
    lines = IndentedConsole(console: console)
    // The new registry overrides some of the program's registrations, and uses the program's for the rest.
    registry = InitializerRegistry(parent: .current)
  }

  private var file: URL { folder.appending(path: "guide.preferences") }

  /// Prints the guided run, and deletes its temporary files.
  ///
  /// - Parameter number: The number of guided runs so far, including this one.
  func run(number: Int) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    registry.register((any PreferenceStore).self, scope: .singleton) { [file] in try FilePreferenceStore(url: file) }
    registry.register(.instance(lines as any Console))
    try console.print("A guided run, with habits of its own: yours stay as they are. For the commands: Habits help")
    try registry.run {
      try showServices()
      try showClock()
      try showFinal()
      try showPreferences()
    }
    try console.print("Kept for the next run, in your own preferences")
    try lines.print("guided runs so far: \(number)")
  }

  private func showServices() throws {
    try console.print("Services are made when they are first needed")
    let witness = Witness()
    registry.onInjection { value, point in witness.note(value, at: point) }
    setClock(to: today)
    let program = Program()
    try lines.print("tracker before the first command: \(program.$tracker.hasValue ? "made" : "not made")")
    try run(program, ["add", "Read"])
    try lines.print("properties that asked the registry: \(witness.notes.joined(separator: ", "))")
  }

  private func showClock() throws {
    try console.print("The clock is injected, so days pass at once")
    for day in [today - 4, today - 2, today - 1, today, today] {
      setClock(to: day)
      try run(Program(), ["done", "Read"], after: "\(day) ")
    }
  }

  private func showFinal() throws {
    try console.print("A habit's number is assigned once")
    let draft = HabitDraft(name: "Walk 🚶")
    try lines.print("number of the draft: \(draft.$number.hasValue ? "assigned" : "not assigned")")
    try registry.resolve(HabitBook.self).add(draft)
    try lines.print("number of the habit in the book: \(draft.number)")
    do { try draft.$number.assign(7) } catch { try lines.print("assigning 7: \(error)") }
  }

  private func showPreferences() throws {
    try console.print("A second program opens the same file")
    registry.register((any PreferenceStore).self, scope: .singleton) { [file] in try FilePreferenceStore(url: file) }
    try run(Program(), ["list"])
    let lastLine = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").last
    try lines.print("the file's last line: \(lastLine ?? "none")")
  }

  private func setClock(to day: Day) { registry.register(.instance(FixedClock(day) as any WallClock)) }

  private func run(_ program: Program, _ arguments: [String], after prompt: String = "") throws {
    try lines.print("\(prompt)$ Habits \(arguments.joined(separator: " "))")
    try program.perform(Command(arguments))
  }
}

/// A recorder of the properties that received a value from the registry.
private final class Witness: Sendable {
  private let made = Mutex<[String]>([])

  var notes: [String] { made.withLock(\.self) }

  func note(_ value: Any, at point: InjectionPoint) {
    guard let container = point.containerType, let property = point.propertyName else { return }
    made.withLock { $0.append("\(container).\(property)") }
  }
}

/// A console that indents its lines under a title.
private struct IndentedConsole: Console {
  let console: any Console

  func print(_ text: String) throws {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) { try console.print("  \(line)") }
  }

  func printError(_ line: String) { console.printError("  \(line)") }
}
