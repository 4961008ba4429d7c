import LaunchInitializers
import TestSupport
import Testing

@Suite("Requirements", .timeLimit(.minutes(10))) struct RequirementTests {
  let journal = Journal()

  private struct Database: Initializable {
    let journal: Journal
    var fails = false
    func perform(with configuration: any Configurable) throws {
      if fails { throw Broken() }
      journal.note("database")
    }
  }

  @Test("a step runs after the required step if that completes")
  func completed() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      note("migration", journal).id("migration").requires(Database.self)
      note("index", journal).id("index").requires("migration")
      Database(journal: journal)
    }
    try await launch.launch()
    #expect(journal.entries == ["database", "migration", "index"])
  }

  @Test(
    "a step is skipped with the reason if the required step fails or is skipped, and so are the steps that require it")
  func unmet() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      Database(journal: journal, fails: true).id("database").onFailure(.skip)
      note("migration", journal).id("migration").requires("database")
      note("index", journal).id("index").requires("migration")
      Do { _ in throw SkipInitializer("no key") }.id("analytics").after()
      note("events", journal).id("events").requires("analytics")
      note("beta", journal).id("beta").only(in: .production)
      note("beta menu", journal).id("beta menu").requires("beta")
      note("wants", journal).id("wants").after("database", "analytics", "migration")
    }
    let report = try await launch.launch()
    #expect(journal.entries == ["wants"])
    #expect(report.entry("migration")?.outcome == .skipped)
    #expect(report.entry("migration")?.message == "requires database, which failed")
    #expect(report.entry("index")?.message == "requires migration, which was skipped")
    #expect(report.entry("events")?.message == "requires analytics, which was skipped")
    #expect(report.entry("beta menu")?.message == "requires beta, which was skipped")
    #expect(report.entry("index")?.attempts == 0)
  }

  @Test("a reference to a type needs exactly one step of the type")
  func types() throws {
    func mistake(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchPlanError {
      try #require(throws: LaunchPlanError.self) { try LaunchSequence(configuration: NoConfiguration(), steps) }
    }
    let none = try mistake { note("a", journal).id("a").requires(Database.self) }
    #expect(none.code == .unknownDependency)
    #expect(none.path == ["a", "Database"])
    #expect(
      none.description.contains("\"a\" refers to Database.self, and no step is of that type. List one: Database()."))
    let two = try mistake {
      Database(journal: journal).id("one")
      Database(journal: journal).id("two")
      note("a", journal).id("a").after(Database.self)
    }
    #expect(two.code == .duplicateID)
    #expect(two.description.contains("2 steps are of that type. Refer to one of them by its id."))
  }

  @Test("a reference to an optional step waits if the sequence has the step")
  func ifPresent() async throws {
    func launch(_ hasCache: Bool) throws -> LaunchSequence {
      try LaunchSequence(configuration: NoConfiguration()) {
        note("ui", journal).id("ui").after(ifPresent: "cache")
        if hasCache { note("cache", journal).id("cache") }
      }
    }
    try await launch(true).launch()
    #expect(journal.entries == ["cache", "ui"])
    try await launch(false).launch()
    #expect(journal.entries == ["cache", "ui", "ui"])
  }

  @Test("two steps that require each other are a cycle")
  func cycle() throws {
    let error = #expect(throws: LaunchPlanError.self) {
      try LaunchSequence(configuration: NoConfiguration()) {
        note("a", journal).id("a").requires("b")
        note("b", journal).id("b").after("a")
      }
    }
    #expect(error?.path == ["a", "b", "a"])
  }
}
