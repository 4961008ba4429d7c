@testable import LaunchInitializers
import SpellRegistry
import SpellTesting
import Support
import TestSupport
import Testing

@Suite("Services of steps", .registry, .timeLimit(.hang)) struct ServiceInitializerTests {
  final class Database: Sendable {
    let path: String
    init(path: String) { self.path = path }
  }
  final class Page {}
  protocol Tracker: Sendable { var name: String { get } }
  struct FileTracker: Tracker { let name = "file" }

  struct DatabaseInitializer: ServiceInitializer {
    func makeService(with configuration: any Configurable) async throws -> Database {
      Database(path: try configuration.requiredValue(for: "Database", key: "Path"))
    }
  }
  struct TrackerInitializer: ServiceInitializer {
    func makeService(with configuration: any Configurable) async throws -> any Tracker { FileTracker() }
  }

  let configuration = NoConfiguration(serviceStorage: ["Database": [.test: ["Path": "/data"]]])

  @Test("a service is registered in the registry that is current at the launch")
  func registers() async throws {
    let launch = try LaunchSequence(configuration: configuration, clock: TestClock()) {
      DatabaseInitializer()
      TrackerInitializer()
    }
    try await launch.launch()
    let database: Database = try InitializerRegistry.current.resolve()
    #expect(database.path == "/data")
    #expect(try InitializerRegistry.current.resolve(Database.self) === database)
    #expect(try InitializerRegistry.current.resolve((any Tracker).self).name == "file")
    #expect(throws: InjectionError.self) { try InitializerRegistry.shared.resolve(Database.self) }
  }

  @Test("later steps can resolve a service")
  func forLaterSteps() async throws {
    let launch = try LaunchSequence(configuration: configuration, clock: TestClock()) {
      DatabaseInitializer().id("db")
      Do { _ in
        let database: Database = try InitializerRegistry.current.resolve()
        #expect(database.path == "/data")
      }.after("db").id("user")
    }
    try await launch.launch()
  }

  @Test("a failing step registers no service")
  func failure() async throws {
    let launch = try LaunchSequence { DatabaseInitializer() }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect((error.underlying as? ConfigurationError)?.code == .missing)
    #expect(throws: InjectionError.self) { try InitializerRegistry.current.resolve(Database.self) }
  }

  private func registeredPath() -> String? {
    do { return try InitializerRegistry.current.resolve(Database.self).path } catch { return nil }
  }

  @Test("a service is withdrawn after its step's shutdown, which can still resolve it")
  func shutDown() async throws {
    struct Asking: ServiceInitializer {
      let journal: Journal
      func makeService(with configuration: any Configurable) async throws -> Database { Database(path: "/asked") }
      func shutDown() async {
        do { journal.note(try InitializerRegistry.current.resolve(Database.self).path) } catch { journal.note("gone") }
      }
    }
    let journal = Journal()
    let launch = try LaunchSequence(configuration: configuration, clock: TestClock()) { Asking(journal: journal) }
    try await launch.launch()
    #expect(registeredPath() == "/asked")
    await launch.shutDown()
    #expect(journal.entries == ["/asked"])
    #expect(registeredPath() == nil)
  }

  @Test("a service is withdrawn when a later step aborts the launch")
  func abort() async throws {
    let launch = try LaunchSequence(configuration: configuration, clock: TestClock()) {
      DatabaseInitializer().id("db")
      Do { _ in
        #expect(try InitializerRegistry.current.resolve(Database.self).path == "/data")
        throw Broken()
      }.after("db")
    }
    await #expect(throws: LaunchError.self) { try await launch.launch() }
    #expect(registeredPath() == nil)
  }

  @Test("a service that was created again at the foreground is withdrawn")
  func foreground() async throws {
    struct Again: ServiceInitializer {
      let journal: Journal
      func makeService(with configuration: any Configurable) async throws -> Database {
        journal.note("made")
        return Database(path: "/\(journal.entries.count)")
      }
      func shouldPerformWhenApplicationEntersForeground() async -> Bool { true }
    }
    let launch = try LaunchSequence(configuration: configuration, clock: TestClock()) { Again(journal: Journal()) }
    try await launch.launch()
    await launch.enterBackground()
    await launch.enterForeground()
    #expect(registeredPath() == "/2")
    await launch.shutDown()
    #expect(registeredPath() == nil)
  }

  @Test("a service's deinitializer can ask the sequence, after a repetition and after the shutdown")
  func deinitializer() async throws {
    final class Asking: Sendable {
      let launch: Box<LaunchSequence>
      let journal: Journal
      init(_ launch: Box<LaunchSequence>, _ journal: Journal) { (self.launch, self.journal) = (launch, journal) }
      deinit { journal.note("\(launch.value.withLock { $0 }?.isReady == true)") }
    }
    struct Make: ServiceInitializer {
      let launch = Box<LaunchSequence>()
      let journal = Journal()
      func makeService(with configuration: any Configurable) async throws -> Asking { Asking(launch, journal) }
      func shouldPerformWhenApplicationEntersForeground() async -> Bool { true }
    }
    let step = Make()
    let launch = try LaunchSequence { step }
    step.launch.value.withLock { $0 = launch }
    try await launch.launch()
    await launch.enterBackground()
    await launch.enterForeground()
    #expect(step.journal.entries == ["true"])
    await launch.shutDown()
    #expect(step.journal.entries == ["true", "false"])
    step.launch.value.withLock { $0 = nil }
  }

  @Test("a repetition that fails leaves the services that the step had registered before", arguments: [false, true])
  func failedRepetition(isReplaced: Bool) async throws {
    struct Composed: Initializable {
      let calls = Counter()
      let whenRepeated: @Sendable () -> Void
      func perform(with configuration: any Configurable) async throws {
        let call = calls.increment()
        let paths = NoConfiguration(serviceStorage: ["Database": [.test: ["Path": "/\(call)"]]])
        try await DatabaseInitializer().perform(with: paths)
        if call == 1 { return }
        #expect(try InitializerRegistry.current.resolve(Database.self).path == "/2")
        whenRepeated()
        throw Broken()
      }
      func shouldPerformWhenApplicationEntersForeground() async -> Bool { true }
    }
    let launch = try LaunchSequence(log: { _ in }) {
      Composed {
        if isReplaced { InitializerRegistry.current.register(.instance(Database(path: "/other"))) }
      }
    }
    // This registration is only for one class, so it doesn't count as a replacement of the step's service.
    InitializerRegistry.current.register(.instance(Database(path: "/page")).in(Page.self))
    try await launch.launch()
    await launch.enterBackground()
    #expect(await launch.enterForeground().entries.map(\.outcome) == [.failed])
    // A service that other code has registered in the meantime isn't replaced.
    #expect(registeredPath() == (isReplaced ? "/other" : "/1"))
    await launch.shutDown()
    #expect(registeredPath() == (isReplaced ? "/other" : nil))
  }

  @Test("a repetition that fails registers nothing that other code has withdrawn")
  func withdrawnByOthers() async throws {
    struct Once: Initializable {
      let calls = Counter()
      let configuration: NoConfiguration
      func perform(with _: any Configurable) async throws {
        if calls.increment() > 1 { throw Broken() }
        try await DatabaseInitializer().perform(with: configuration)
      }
      func shouldPerformWhenApplicationEntersForeground() async -> Bool { true }
    }
    let launch = try LaunchSequence(log: { _ in }) { Once(configuration: configuration) }
    try await launch.launch()
    #expect(registeredPath() == "/data")
    InitializerRegistry.current.register(.instance(Database(path: "/other"))).unregister()
    await launch.enterBackground()
    #expect(await launch.enterForeground().entries.map(\.outcome) == [.failed])
    #expect(registeredPath() == nil)
    await launch.shutDown()
  }

  @Test("an abandoned step registers nothing, and later registrations stay")
  func abandoned() async throws {
    struct Slow: ServiceInitializer {
      let gate = Gate()
      let isShutDown = AsyncLatch()
      func makeService(with configuration: any Configurable) async throws -> Database {
        await gate.pass()
        return Database(path: "/late")
      }
      func shutDown() async { isShutDown.open() }
    }
    let (clock, slow) = (TestClock(), Slow())
    let launch = try LaunchSequence(configuration: configuration, cancellationGracePeriod: .seconds(2), clock: clock) {
      slow.id("slow").timeout(.seconds(5)).onFailure(.skip)
      DatabaseInitializer().id("db")
    }
    let launched = Task { try await launch.launch() }
    await slow.gate.waitForArrival()
    await clock.pass(.seconds(5))
    await clock.waitForSleeper(until: .seconds(7))
    clock.advance(by: .seconds(2))
    #expect(try await launched.value.entries.map(\.outcome) == [.failed, .completed])
    slow.gate.open()
    await slow.isShutDown.wait()
    #expect(registeredPath() == "/data")
    await launch.shutDown()
    #expect(registeredPath() == nil)
  }

  @Test("the services of a step that fails are withdrawn, and a step can register several")
  func composed() async throws {
    struct Both: Initializable {
      let fails: Bool
      func perform(with configuration: any Configurable) async throws {
        try await DatabaseInitializer().perform(with: configuration)
        try await TrackerInitializer().perform(with: configuration)
        if fails { throw Broken() }
      }
    }
    func isRegistered() throws -> Bool {
      let tracker: (any Tracker)? = try InitializerRegistry.current.resolve()
      return tracker != nil
    }
    let failing = try LaunchSequence(configuration: configuration, clock: TestClock()) {
      Both(fails: true).onFailure(.skip)
    }
    try await failing.launch()
    #expect(registeredPath() == nil)
    #expect(try !isRegistered())
    let launch = try LaunchSequence(configuration: configuration, clock: TestClock()) { Both(fails: false) }
    try await launch.launch()
    #expect(registeredPath() == "/data")
    #expect(try isRegistered())
    await launch.shutDown()
    #expect(registeredPath() == nil)
    #expect(try !isRegistered())
  }

  @Test("a sequence that is shut down leaves the service that another one registered after its own")
  func twoSequences() async throws {
    let other = NoConfiguration(serviceStorage: ["Database": [.test: ["Path": "/other"]]])
    let first = try LaunchSequence(configuration: configuration, clock: TestClock()) { DatabaseInitializer() }
    let second = try LaunchSequence(configuration: other, clock: TestClock()) { DatabaseInitializer() }
    try await first.launch()
    try await second.launch()
    #expect(registeredPath() == "/other")
    await first.shutDown()
    #expect(registeredPath() == "/other")
    await second.shutDown()
    #expect(registeredPath() == nil)
  }

  @Test("a service is registered without a launch too")
  func alone() async throws {
    try await DatabaseInitializer().perform(with: configuration)
    #expect(registeredPath() == "/data")
  }

  @Test("two concurrent launches register services in their own registries")
  func twoRegistries() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          let registry = InitializerRegistry()
          let configuration = NoConfiguration(serviceStorage: ["Database": [.test: ["Path": "/\(number)"]]])
          let launch = try LaunchSequence(configuration: configuration, clock: TestClock()) {
            DatabaseInitializer().id("db")
            Do { _ in
              await Task.yield()
              #expect(InitializerRegistry.current === registry)
            }.after("db")
          }
          _ = try await registry.run { try await launch.launch() }
          #expect(try registry.resolve(Database.self).path == "/\(number)")
        }
      }
      try await group.waitForAll()
    }
  }
}
