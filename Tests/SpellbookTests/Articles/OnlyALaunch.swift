import LaunchInitializers
import SpellTesting
import Testing

private struct Connection: Sendable {
  func close() async throws {}
}
private func connect(to url: String) async throws -> Connection {
  #expect(url == "db.example.com")
  return Connection()
}
private func warm() async {}

private struct Database: ServiceInitializer {
  let url: String

  func makeService(with _: any Configurable) async throws -> Connection {
    try await connect(to: url)
  }
  func shutDown(_ connection: Connection) async throws { try await connection.close() }
}

/// A queue that has no messages.
private let messages = AsyncStream<String> { _ in }
private func handle(_ message: String) {}

private struct Consumer: RunningInitializer {
  func run(_: any Configurable) async throws {
    for await message in messages { handle(message) }
  }
}

/// The code samples of the article with this name.
@Suite("Only a launch", .registry, .timeLimit(.minutes(20))) struct OnlyALaunch {
  private let url = "db.example.com"

  private func sequence() throws -> LaunchSequence {
    let launch = try LaunchSequence {
      Database(url: url).id("database").timeout(.seconds(5))
      LaunchStep("cache") { _ in await warm() }.after("database")
      Consumer().id("consumer").requires("database")
        .onExit(.restart(max: 3, within: .seconds(60)))
    }
    return launch
  }

  @Test("a sequence needs no configuration, and its steps then read no values of the stage production")
  func noConfiguration() async throws {
    struct Read: Initializable {
      func perform(with configuration: any Configurable) {
        #expect(configuration.currentStage() == .production)
        #expect(configuration.value(for: "db", key: "url") == nil)
      }
    }
    let launch = try LaunchSequence { Read() }
    #expect(try await launch.launch().entries.map(\.outcome) == [.completed])
    await launch.shutDown()
  }

  @Test("a launch runs, is looked at, and is shut down")
  func launch() async throws {
    #expect(throws: Never.self) { try sequence() }
    let launch = try LaunchSequence(clock: TestClock()) {
      Database(url: url).id("database")
      Consumer().id("consumer").requires("database")
    }
    _ = {
      exit(
        await launch.run(
          on: [.terminate, .interrupt], repeatingOn: [.hangup]))
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
