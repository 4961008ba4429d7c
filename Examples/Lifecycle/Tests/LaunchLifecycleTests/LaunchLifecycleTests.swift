import LaunchInitializers
import LaunchLifecycle
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@Suite("A launch and swift-service-lifecycle", .timeLimit(.minutes(1))) struct LaunchLifecycleTests {
  struct NoConfiguration: Configurable {
    var serviceStorage: ServiceStorage = [:]
    func currentStage() -> ReleaseStage { .test }
    static func defaultConfiguration() -> NoConfiguration { NoConfiguration() }
  }
  struct Broken: Error {}

  /// A record of events, in the order in which they happened.
  final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    var entries: [String] { lines.withLock { $0 } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }
  }

  struct Step: Initializable {
    let journal: Journal
    func perform(with configuration: any Configurable) { journal.note("up") }
    func shutDown() async { journal.note("down") }
  }

  /// A server that runs until a graceful shutdown, unless it is set to fail immediately.
  struct Server: Service {
    let journal: Journal
    var fails = false

    func run() async throws {
      journal.note("serves")
      if fails { throw Broken() }
      try await gracefulShutdown()
      journal.note("stopped gracefully")
    }
  }

  let journal = Journal()
  let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func waitUntil(_ line: String) async {
    while !journal.entries.contains(line) { await Task.yield() }
  }

  @Test("A sequence runs as a service, and is shut down with its group")
  func launchAsService() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) { Step(journal: journal) }
    let group = ServiceGroup(services: [LaunchService(launch)], logger: logger)
    let running = Task { try await group.run() }
    await waitUntil("up")
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(journal.entries == ["up", "down"])
  }

  @Test("A sequence that fails ends its group with its error")
  func failure() async throws {
    struct Failing: Initializable {
      func perform(with configuration: any Configurable) throws { throw Broken() }
    }
    let launch = try LaunchSequence(configuration: NoConfiguration()) { Failing().id("bad") }
    let group = ServiceGroup(services: [LaunchService(launch)], logger: logger)
    let error = await #expect(throws: LaunchError.self) { try await group.run() }
    #expect(error?.id == "bad")
  }

  @Test("A service runs as a step, and stops gracefully before the steps that it requires")
  func serviceAsStep() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      Step(journal: journal).id("database")
      ServiceStep(Server(journal: journal), logger: logger).id("http").requires("database")
    }
    try await launch.launch()
    await waitUntil("serves")
    await launch.shutDown()
    #expect(journal.entries == ["up", "serves", "stopped gracefully", "down"])
  }

  @Test("The program of the article on servers answers, and stops its server before its database")
  func article() async throws {
    struct DatabaseInitializer: Initializable {
      static let journal = Mutex<Journal?>(nil)
      var journal: Journal? { Self.journal.withLock(\.self) }
      func perform(with configuration: any Configurable) { journal?.note("up") }
      func shutDown() async { journal?.note("down") }
    }
    DatabaseInitializer.journal.withLock { $0 = journal }
    let (configuration, server) = (NoConfiguration(), Server(journal: journal))
    let launch = try LaunchSequence(configuration: configuration) {
      DatabaseInitializer().id("database")
      ServiceStep(server, logger: logger).id("http")
        .requires("database").stopTimeout(.seconds(10))
    }
    try await launch.launch()
    await waitUntil("serves")
    await launch.shutDown()
    #expect(journal.entries == ["up", "serves", "stopped gracefully", "down"])
  }

  @Test("A service that fails shuts the sequence down, and its group throws its error")
  func failingService() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      Step(journal: journal).id("database")
      ServiceStep(Server(journal: journal, fails: true), logger: logger).id("http").requires("database")
    }
    let group = ServiceGroup(services: [LaunchService(launch)], logger: logger)
    let error = await #expect(throws: LaunchError.self) { try await group.run() }
    #expect(error?.code == .serviceFailed)
    #expect(error?.id == "http")
    #expect(journal.entries == ["up", "serves", "down"])
  }

  @Test("A step that can't be shut down ends the group with an error that names it")
  func failingShutDown() async throws {
    struct Stuck: Initializable {
      func perform(with configuration: any Configurable) {}
      func shutDown() throws { throw Broken() }
    }
    let launch = try LaunchSequence(configuration: NoConfiguration()) {
      Step(journal: journal).id("database")
      Stuck().id("files").requires("database")
    }
    let group = ServiceGroup(services: [LaunchService(launch)], logger: logger)
    let running = Task { try await group.run() }
    while !launch.isReady { await Task.yield() }
    await group.triggerGracefulShutdown()
    let error = await #expect(throws: ShutDownError.self) { try await running.value }
    #expect(error?.report.entries.first { $0.id == "files" }?.outcome == .failed)
    #expect(error?.description.hasPrefix("Steps weren't shut down: files (") == true)
    #expect(journal.entries == ["up", "down"])
  }
}
