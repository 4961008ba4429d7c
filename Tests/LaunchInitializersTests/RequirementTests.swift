import LaunchInitializers
import TestSupport
import Testing

@Suite("Requirements", .timeLimit(.hang)) struct RequirementTests {
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
    let launch = try LaunchSequence {
      note("migration", journal).id("migration").requires("Database")
      note("index", journal).id("index").requires("migration")
      Database(journal: journal)
    }
    try await launch.launch()
    #expect(journal.entries == ["database", "migration", "index"])
  }

  @Test(
    "a step is skipped with the reason if the required step fails or is skipped, and so are the steps that require it")
  func unmet() async throws {
    let launch = try LaunchSequence {
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

  @Test("two steps that require each other are a cycle")
  func cycle() throws {
    let error = #expect(throws: LaunchPlanError.self) {
      try LaunchSequence {
        note("a", journal).id("a").requires("b")
        note("b", journal).id("b").after("a")
      }
    }
    #expect(error?.path == ["a", "b", "a"])
  }
}
