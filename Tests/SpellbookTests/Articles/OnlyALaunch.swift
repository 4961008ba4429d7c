import LaunchInitializers
import SpellTesting
import Testing

private func connect(to url: String?) async throws { #expect(url == "db.example.com") }
private func disconnect() async throws {}
private func warm() async {}

private struct Database: Initializable {
  func perform(with configuration: any Configurable) async throws {
    try await connect(to: configuration.value(for: "db", key: "url"))
  }
  func shutDown() async throws { try await disconnect() }
}

private struct Consumer: RunningInitializer {
  func run(_: any Configurable) async throws { try await Task.sleep(for: .seconds(3600)) }
}

private struct Settings: Configurable {
  var serviceStorage: ServiceStorage = ["db": [.test: ["url": "db.example.com"]]]
  func currentStage() -> ReleaseStage { .test }
  static func defaultConfiguration() -> Settings { Settings() }
}

/// The code samples of the article with this name.
@Suite("Only a launch", .timeLimit(.minutes(20))) struct OnlyALaunch {
  private let settings = Settings()

  private func sequence() throws -> LaunchSequence {
    let launch = try LaunchSequence(configuration: settings) {
      Database().id("database").timeout(.seconds(5))
      LaunchStep("cache") { _ in await warm() }.after("database")
      Consumer().id("consumer").requires("database")
        .onExit(.restart(max: 3, within: .seconds(60)))
    }
    return launch
  }

  @Test("a launch runs, is looked at, and is shut down")
  func launch() async throws {
    #expect(throws: Never.self) { try sequence() }
    let launch = try LaunchSequence(configuration: settings, clock: TestClock()) {
      Database().id("database")
      Consumer().id("consumer").requires("database")
    }
    _ = {
      let code = await launch.run(on: [.terminate, .interrupt])
      return code
    }
    func print(_ timeline: String) { #expect(timeline.contains("consumer")) }
    do {
      let report = try await launch.launch()
      print(report.timeline())
    }
    _ = try await launch.launch()
    let report = await launch.shutDown()
    #expect(report.entries.allSatisfy { $0.errors.isEmpty })
  }
}
