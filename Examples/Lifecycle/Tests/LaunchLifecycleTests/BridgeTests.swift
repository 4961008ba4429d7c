import InMemoryLogging
import LaunchInitializers
import LaunchLogging
import LaunchMetrics
import Logging
import Metrics
import MetricsTestKit
import Synchronization
import Testing

@Suite("The events of a launch in logs and metrics", .timeLimit(.minutes(1))) struct BridgeTests {
  struct NoConfiguration: Configurable {
    var serviceStorage: ServiceStorage = [:]
    func currentStage() -> ReleaseStage { .test }
    static func defaultConfiguration() -> NoConfiguration { NoConfiguration() }
  }
  struct Broken: Error {}

  struct Step: Initializable {
    func perform(with configuration: any Configurable) {}
  }
  struct Skipped: Initializable {
    func perform(with configuration: any Configurable) throws { throw SkipInitializer("nothing to do") }
  }
  /// A step that fails at its first attempt only.
  final class Shaky: Initializable, Sendable {
    private let hasFailed = Mutex(false)
    func perform(with configuration: any Configurable) throws {
      let isFirst = hasFailed.withLock { hasFailed in
        defer { hasFailed = true }
        return !hasFailed
      }
      if isFirst { throw Broken() }
    }
  }

  private func sequence() throws -> LaunchSequence {
    try LaunchSequence(configuration: NoConfiguration()) {
      Step().id("database")
      Skipped().id("migration").after("database")
      Shaky().id("cache").onFailure(.retry(1, after: .zero)).after("migration")
    }
  }

  @Test("A logger gets each event, with the step, its outcome and its duration")
  func logging() async throws {
    let memory = InMemoryLogHandler()
    let launch = try sequence()
    let events = launch.events
    try await launch.launch()
    await launch.shutDown()
    await events.log(to: Logger(label: "test") { _ in memory })
    func line(_ message: String) throws -> InMemoryLogHandler.Entry {
      try #require(memory.entries.first { $0.message.description.hasPrefix(message) })
    }
    let completed = try line("launch: database completed")
    #expect(completed.level == .info)
    #expect(completed.metadata["phase"] == "launch" && completed.metadata["step"] == "database")
    #expect(completed.metadata["outcome"] == "completed")
    #expect(completed.metadata["duration"].flatMap { Double($0.description) } != nil)
    let skipped = try line("launch: migration skipped")
    #expect(skipped.metadata["outcome"] == "skipped")
    #expect(try line("launch: cache failed, next attempt").level == .warning)
    #expect(try line("shutDown: database completed").metadata["phase"] == "shutDown")
    #expect(try line("shutDown: began").metadata["step"] == nil)
  }

  @Test("The metrics have the duration of each step, and count repeated attempts")
  func metrics() async throws {
    let metrics = TestMetrics()
    let launch = try sequence()
    let events = launch.events
    try await launch.launch()
    await launch.shutDown()
    await events.record(in: metrics)
    let timer = try metrics.expectTimer(
      "launch_step_duration_seconds", [("phase", "launch"), ("step", "database"), ("outcome", "completed")])
    #expect(timer.values.count == 1)
    #expect(
      throws: Never.self,
      performing: {
        try metrics.expectTimer(
          "launch_step_duration_seconds", [("phase", "launch"), ("step", "migration"), ("outcome", "skipped")])
      })
    #expect(try metrics.expectCounter("launch_retries_total", [("step", "cache")]).totalValue == 1)
  }
}
