import LaunchInitializers
import SpellTesting
import TestSupport
import Testing

@Suite("Order of steps", .timeLimit(.hang)) struct StepOrderTests {
  let clock = TestClock()
  let journal = Journal()

  private func sequence(maxConcurrentSteps: Int = 8, @LaunchBuilder _ steps: () -> [LaunchStep]) throws
    -> LaunchSequence
  {
    try LaunchSequence(maxConcurrentSteps: maxConcurrentSteps, clock: clock, steps)
  }

  @Test("steps that declare nothing run line by line")
  func line() async throws {
    let launch = try sequence { for number in 0..<50 { note("\(number)", journal) } }
    try await launch.launch()
    #expect(journal.entries == (0..<50).map { "\($0)" })
  }

  @Test("steps that wait for the same step overlap, and have exact times on a test's clock")
  func overlap() async throws {
    let launch = try sequence {
      take(.milliseconds(100), on: clock).id("log")
      take(.milliseconds(250), on: clock).id("db").after("log")
      take(.milliseconds(400), on: clock).id("net").after("log")
      take(.milliseconds(150), on: clock).id("index").after("db")
      take(.milliseconds(50), on: clock).id("ui").after("index", "net")
    }
    let launched = Task { try await launch.launch() }
    await clock.pass(.milliseconds(100))
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(250))
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await clock.pass(.milliseconds(50))
    let report = try await launched.value
    #expect(report.entries.map(\.id) == ["log", "db", "net", "index", "ui"])
    #expect(report.entries.map(\.queued) == [0, 100, 100, 350, 500].map { .milliseconds($0) })
    #expect(report.entries.map(\.start) == [0, 100, 100, 350, 500].map { .milliseconds($0) })
    #expect(report.entries.map(\.end) == [100, 350, 500, 500, 550].map { .milliseconds($0) })
    #expect(report.entries.allSatisfy { $0.attempts == 1 && $0.outcome == .completed })
    #expect(report.criticalPath == ["log", "net", "ui"])
  }

  @Test("no more steps run than the maximum number, and the first in the plan begin first")
  func width() async throws {
    let launch = try sequence(maxConcurrentSteps: 2) {
      for number in 0..<5 { take(.seconds(1), on: clock).id("\(number)").after() }
    }
    let launched = Task { try await launch.launch() }
    for _ in 0..<2 {
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(1))
    }
    await clock.pass(.seconds(1))
    let report = try await launched.value
    #expect(report.entries.map(\.start) == [0, 0, 1, 1, 2].map { .seconds($0) })
    #expect(report.entries.allSatisfy { $0.queued == .zero })
  }

  @Test("steps that declare their order don't hold up the others")
  func besideTheLine() async throws {
    let gate = AsyncLatch()
    let launch = try sequence {
      note("a", journal)
      Do { _ in await gate.wait() }.id("slow").after()
      note("b", journal)
      Do { _ in gate.open() }
    }
    try await launch.launch()
    #expect(journal.entries == ["a", "b"])
  }

  @Test("steps of other stages are skipped, and later steps go on")
  func stages() async throws {
    let launch = try sequence {
      note("crash", journal).id("crash").only(in: .production, "beta")
      note("next", journal).id("next").after("crash")
      note("here", journal).id("here").only(in: .test)
    }
    let report = try await launch.launch()
    #expect(Set(journal.entries) == ["next", "here"])
    #expect(report.entry("crash")?.outcome == .skipped)
    #expect(report.entry("crash")?.message == "only in beta, production, and this is test")
    #expect(report.entry("crash")?.attempts == 0)
  }

  @Test("the methods of each kind of type run on its actor")
  @MainActor func isolation() async throws {
    struct Plain: Initializable {
      func perform(with configuration: any Configurable) throws {}
    }
    actor Counting: Initializable {
      var count = 0
      func perform(with configuration: any Configurable) async throws { count += 1 }
    }
    @MainActor final class OnMain: Initializable {
      var count = 0
      func perform(with configuration: any Configurable) async throws {
        MainActor.assertIsolated()
        count += 1
      }
      func shutDown() async { count -= 1 }
    }
    final class Shared: Initializable, Sendable {
      func perform(with configuration: any Configurable) async throws {}
    }
    let (counting, onMain) = (Counting(), OnMain())
    let launch = try sequence {
      Plain()
      counting
      onMain
      Shared()
    }
    let report = try await launch.launch()
    #expect(report.entries.map(\.id) == ["Plain", "Counting", "OnMain", "Shared"])
    #expect(await counting.count == 1)
    #expect(onMain.count == 1)
    await launch.shutDown()
    #expect(onMain.count == 0)
  }
}
