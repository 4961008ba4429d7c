import Foundation
import HabitsCore
import SpellTesting
import Spellbook
import Testing

private let services = { @Sendable (registry: InitializerRegistry) in
  registry.registerServices()
  registry.register(.instance(RecordingConsole(), as: .anySupertype))
  registry.register(.instance(FixedClock("2026-04-01") as any WallClock))
}

@Suite(.registry(services)) struct ProgramTests {
  let console: RecordingConsole

  init() throws { console = try InitializerRegistry.current.resolve() }

  /// Runs a command in a new program on the given day, and returns the exit code.
  @discardableResult
  private func run(_ arguments: String..., on day: Day = "2026-04-01") -> Int32 {
    InitializerRegistry.current.register(.instance(FixedClock(day) as any WallClock))
    return Program().run(arguments)
  }

  @Test func everyPropertyIsServed() {
    let registry = InitializerRegistry()
    registry.registerHabits()
    let properties = WrappedProperty.all(inModules: "HabitsCore")
    #expect(!properties.isEmpty)
    #expect(registry.validate(properties: properties).isEmpty)
    #expect(registry.validate().isEmpty)
  }

  @Test func showsWhoNeedsWhat() {
    let properties = WrappedProperty.all(inModules: "HabitsCore")
    let graph = InitializerRegistry.current.graph(properties: properties)
    let picture = graph.mermaid()
    #expect(picture.contains("any WallClock"))
    let edges = graph.edges.map { "\($0.from) > \($0.to)" }
    #expect(edges.contains("Program > RecordingConsole") && edges.contains("Program > Tracker"))
    #expect(edges.contains("HabitBook > any PreferenceStore"))
  }

  @Test func keepsHabitsBetweenRuns() {
    #expect(run("add", "Read") == 0)
    #expect(run("done", "read", on: "2026-03-31") == 0)
    #expect(run("done", "1") == 0)
    #expect(run("done", "Read") == 0)
    #expect(
      console.output == """
        Habit 1 is added. When you have done it: Habits done 1
        "Read" is done today, 1 day in a row.
        "Read" is done today, 2 days in a row.
        "Read" was done today already, 2 days in a row.
        """)
    #expect(console.errors.isEmpty)
  }

  @Test func listsHabitsInColumns() {
    for name in ["Read", "Walk 🚶", "日本語", "Café", "👩‍👩‍👧 call ❤️"] { run("add", name) }
    for day in ["2026-03-18", "2026-03-19", "2026-03-20", "2026-03-31", "2026-04-01"] as [Day] {
      run("done", "Read", on: day)
    }
    let before = console.output.count
    run("list")
    #expect(
      console.output.dropFirst(before + 1) == """
        #  Habit       Now  Best  Last 14 days
        1  Read          2     3  ██··········██
        2  Walk 🚶       0     0  ··············
        3  日本語        0     0  ··············
        4  Café          0     0  ··············
        5  👩‍👩‍👧 call ❤️    0     0  ··············
        """)
  }

  @Test func saysThatThereIsNoHabitYet() {
    #expect(run("list") == 0)
    #expect(console.output == #"No habit yet. Add one: Habits add "Read""#)
  }

  @Test func showsIdeasThatThePersonHasNot() {
    run("add", "read")
    #expect(run("ideas") == 0)
    #expect(console.output.contains("\nHabits add \"Take a walk\"\n"))
    #expect(!console.output.contains("Habits add \"Read\""))
  }

  @Test func saysWhichResourceIsMissing() {
    let folder = URL.temporaryDirectory.appending(path: "nowhere")
    InitializerRegistry.current.register((any PartialLoader).self) { DecodablePartialLoader(folder: folder) }
    #expect(run("ideas") == 74)
    #expect(console.errors.contains("Ideas.json"))
  }

  @Test func keepsDaysAndNumberOfARenamedHabit() {
    run("add", "Read")
    run("done", "Read", on: "2026-03-31")
    #expect(run("rename", "Read", "READ") == 0)
    #expect(run("rename", "read", "Books") == 0)
    run("done", "Books")
    #expect(console.output.hasSuffix("\"READ\" is called \"Books\" now.\n\"Books\" is done today, 2 days in a row."))
  }

  @Test func neverGivesTheNumberOfARemovedHabitToAnother() {
    run("add", "Read")
    run("done", "Read")
    run("remove", "Read")
    run("add", "Walk")
    #expect(console.output.contains("\"Read\" is removed, with 1 day."))
    #expect(console.output.hasSuffix("Habit 2 is added. When you have done it: Habits done 2"))
  }

  @Test func suggestsTheNearestNameForAnUnknownHabit() {
    run("add", "Walk")
    run("add", "Read")
    #expect(run("done", "Raed") == 1)
    #expect(run("remove", "3") == 1)
    #expect(
      console.errors.hasPrefix("Habits: No habit is called \"Raed\". The nearest is \"Read\".\n"))
  }

  @Test func saysHowToAddTheFirstHabit() {
    #expect(run("done", "Read") == 1)
    #expect(
      console.errors == "Habits: No habit is called \"Read\", and there is none yet. Add it: Habits add \"Read\"")
  }

  @Test func refusesANameThatIsTaken() {
    run("add", "Read")
    run("add", "Walk")
    #expect(run("add", "READ ") == 1)
    #expect(run("rename", "Walk", "read") == 1)
    let line = "Habits: There is a habit called \"Read\" already."
    #expect(console.errors == "\(line)\n\(line)")
  }

  @Test(arguments: ["", " ", "a\nb", "a\u{1B}[31m", "\u{200D}", "a\u{2028}b"])
  func refusesANameThatCannotBeShown(name: String) { #expect(run("add", name) == 1) }

  @Test func showsUsageForOtherArguments() {
    #expect(run("ad", "Read") == 64)
    #expect(console.errors == "Habits: There is no command \"ad\".\n\n\(Command.usage)")
    #expect(console.output.isEmpty)
    #expect(run("help") == 0)
    #expect(console.output == Command.usage)
  }
}

@Suite(.registry) struct UnregisteredServicesTests {
  @Test func arePropertiesThatNothingServes() {
    let properties = WrappedProperty.all(inModules: "HabitsCore")
    let problems = InitializerRegistry.current.validate(properties: properties)
    #expect(problems.contains { $0.description.contains("any Console for Program.console") })
  }
}
