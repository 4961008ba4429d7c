import Foundation
import LaunchInitializers
import SpellTesting
import Spellbook
import Synchronization
import TestSupport
import Testing

/// The code samples of the article with this name.
@Suite("Launching", .registry, .timeLimit(.hang)) struct Launching {
  struct AppConfiguration: Configurable {
    var serviceStorage: ServiceStorage = [
      "Crash": [
        .production: [
          "ApiKey": ProcessInfo.processInfo.environment["CRASH_API_KEY"]
        ].compactMapValues { $0 }
      ],
      "Database": [
        .test: ["Path": "/tmp/test.sqlite"],
        .production: ["Path": "/var/app.sqlite"],
      ],
    ]
    func currentStage() -> ReleaseStage { .test }
    static func defaultConfiguration() -> AppConfiguration { AppConfiguration() }
  }

  struct CrashInitializer: Initializable {
    func perform(with configuration: any Configurable) throws {
      guard let key = configuration.value(for: "Crash", key: "ApiKey") else {
        throw SkipInitializer("no ApiKey")
      }
      CrashReporter.start(key: key)
    }
  }
  enum CrashReporter {
    static func start(key: String) {}
  }

  struct Database: Sendable {
    let path: String
  }
  struct DatabaseInitializer: ServiceInitializer {
    func makeService(with configuration: any Configurable) async throws -> Database {
      Database(path: try configuration.requiredValue(for: "Database", key: "Path"))
    }
  }

  final class ConnectionPool: Sendable {
    let isClosed = Mutex(false)
    func close() async { isClosed.withLock { $0 = true } }
  }
  struct PoolInitializer: ServiceInitializer {
    func makeService(with configuration: any Configurable) async throws -> ConnectionPool {
      ConnectionPool()
    }
    func shutDown(_ pool: ConnectionPool) async throws {
      await pool.close()
    }
  }

  /// A queue that has no messages.
  enum Queue {
    static let messages = AsyncStream<String> { _ in }
  }
  struct Consumer: RunningInitializer {
    func run(_ configuration: any Configurable) async throws {
      for await message in Queue.messages { handle(message) }
    }
  }

  struct DiskCache: Sendable {
    static func open() async throws -> DiskCache { DiskCache() }
    func close() async throws {}
  }

  /// A server that answers no requests.
  final class Listener: Sendable {
    private let (end, ending) = AsyncStream.makeStream(of: Never.self)
    func accept() async throws { for await _ in end {} }
    func close() { ending.finish() }
  }
  struct HTTPServer: ReadyInitializer {
    let listener = Listener()
    func run(_ service: RunningService) async throws {
      service.ready()  // Listener() has bound the port.
      try await listener.accept()
    }
    func stop() async { listener.close() }
  }

  /// A clock that advances at each sleep, so that nothing waits.
  final class SteppingClock: Clock {
    struct Instant: InstantProtocol {
      var offset = Duration.zero
      func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
      func duration(to other: Instant) -> Duration { other.offset - offset }
      static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }
    private let time = Mutex(Instant())
    var now: Instant { time.withLock { $0 } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
      time.withLock { $0 = max($0, deadline) }
    }
  }

  struct Work: Initializable {
    let duration: Duration
    let clock: SteppingClock
    func perform(with configuration: any Configurable) async throws { try await clock.sleep(for: duration) }
  }

  struct Cache: Initializable {
    func perform(with configuration: any Configurable) async throws {}
    func shouldPerformWhenApplicationEntersForeground() async -> Bool { true }
  }

  /// A server that can't be reached at the first attempt.
  final class SignIn: Initializable, Sendable {
    struct Unreachable: Error {}
    private let calls = Mutex(0)
    func perform(with configuration: any Configurable) async throws {
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      if call == 1 { throw Unreachable() }
    }
  }

  /// A step that sleeps until its timeout.
  struct Advertisement: Initializable {
    func perform(with configuration: any Configurable) async throws {
      let (stream, end) = AsyncStream<Never>.makeStream()
      defer { end.finish() }
      for await _ in stream {}
      try Task.checkCancellation()
    }
  }

  struct Broken: Error {}
  struct Fail: Initializable {
    func perform(with configuration: any Configurable) throws { throw Broken() }
  }

  #if os(macOS) || os(Linux)
    @Test("a program runs until a signal ends it")
    func run() async {
      await #expect(processExitsWith: .success) {
        // With this handler, the signal doesn't end the process before or after the launch handles it.
        signal(SIGTERM) { _ in }
        let former = handlerOfTerminate()
        Task {
          while handlerOfTerminate() == former { await Task.yield() }
          kill(getpid(), SIGTERM)
        }
        let launch = try LaunchSequence(configuration: AppConfiguration.defaultConfiguration()) {
          CrashInitializer().id("crash").onFailure(.skip)
          DatabaseInitializer().id("database").after("crash").timeout(.seconds(5))
          Consumer().id("consumer").requires("database").onExit(.restart(max: 3, within: .seconds(60)))
        }
        let code = await launch.run(on: [.terminate, .interrupt], drain: .seconds(5))
        // The signal comes during the launch, or after it.
        exit(code == 128 + SIGTERM ? 0 : code)
      }
    }
  #endif

  @Test("a declared step runs")
  func declare() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      CrashInitializer()
      DatabaseInitializer()
      Cache().id("cache").only(in: .production)
    }
    let report = try await launch.launch()

    #expect(report.entries.map(\.outcome) == [.skipped, .completed, .skipped])
    #expect(report.warnings.first == "CrashInitializer (skipped): no ApiKey")
  }

  @Test("steps declare their order, and a misspelled id is reported")
  func order() async throws {
    let (clock, isDemo) = (SteppingClock(), true)
    let work = Work(duration: .zero, clock: clock)
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      work.id("logging")
      DatabaseInitializer().after("logging")
      work.id("network").after("logging")
      work.id("migration").requires("DatabaseInitializer")
      work.id("metrics").before("network")
      if isDemo { work.id("demo").requires("migration").only(in: .development, .test) }
    }
    try await launch.launch()

    let error = #expect(throws: LaunchPlanError.self) {
      try LaunchSequence(configuration: AppConfiguration()) {
        work.id("logging")
        work.id("database").after("loging")
      }
    }
    #expect(error?.code == .unknownDependency)
    #expect(error?.description.contains("Did you mean \"logging\"?") == true)
  }

  @Test("steps that come after a skipped migration run, and steps that require it are skipped")
  func migration() async throws {
    let work = Work(duration: .zero, clock: SteppingClock())
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      LaunchStep("migration") { _ in
        throw SkipInitializer("nothing to migrate")
      }
      work.id("search").after("migration")
      work.id("report").requires("migration")
    }
    let report = try await launch.launch()

    #expect(
      report.entries.map(\.outcome) == [.skipped, .completed, .skipped])
  }

  @Test("a group is ordered as one step")
  func groups() async throws {
    let work = Work(duration: .zero, clock: SteppingClock())
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      work.id("logging")
      LaunchGroup("storage") {
        DatabaseInitializer()
        work.id("cache")
      }.after("logging").onFailure(.retry(2, after: .seconds(1)))
      work.id("user interface").requires("storage")
    }
    #expect(try await launch.launch().entries.last?.waitedFor == ["cache"])
  }

  @Test("a failure is retried or skipped as declared")
  func failures() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration(), clock: SteppingClock()) {
      SignIn().id("sign-in").onFailure(
        .retry(
          .exponential(from: .seconds(10), to: .seconds(60)), times: 2, if: { $0 is SignIn.Unreachable }, then: .skip))
      Advertisement().id("advertisement").timeout(.milliseconds(150)).onFailure(.skip)
    }
    let report = try await launch.launch()

    #expect(report.entries.map(\.outcome) == [.completed, .failed])
    #expect(report.entries[0].attempts == 2)
    #expect(report.entries[0].duration == .seconds(10))
  }

  @Test("an abort shuts down what completed")
  func abort() async throws {
    @Sendable func removeHalfWrittenFile() {}
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      DatabaseInitializer()
      Fail().id("broken").onRollback { removeHalfWrittenFile() }
      Cache()
    }
    let error = await #expect(throws: LaunchError.self) { try await launch.launch() }
    #expect(error?.id == "broken")
    #expect(error?.underlying is Broken)
    let outcomes = error?.report?.entries.map(\.outcome)
    #expect(outcomes == [.completed, .failed, .notRun])
  }

  @Test("a return to the foreground performs the steps that ask for it")
  func foreground() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      DatabaseInitializer()
      Cache()
    }
    try await launch.launch()
    #expect(await launch.enterForeground().entries.isEmpty)

    await launch.enterBackground()
    #expect(await launch.enterForeground().entries.map(\.id) == ["Cache"])
  }

  @Test("deferred steps run after the launch")
  func deferred() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      DatabaseInitializer()
      Cache().id("warm-up").deferred()
    }
    let outcomes = try await launch.launch().entries.map(\.outcome)
    #expect(outcomes == [.completed, .notRun])
  }

  @Test("a property gets the service of a completed step")
  func services() async throws {
    final class Screen {
      @Injected var database: Database
    }
    let launch = try LaunchSequence(configuration: AppConfiguration()) { DatabaseInitializer() }
    try await launch.launch()

    #expect(Screen().database.path == "/tmp/test.sqlite")
  }

  @Test("the shutdown of a step gets the service that it closes")
  func closing() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration(), clock: TestClock()) { PoolInitializer() }
    try await launch.launch()
    let pool = try InitializerRegistry.current.resolve(ConnectionPool.self)

    let report = await launch.shutDown(within: .seconds(10))
    #expect(report.entries.map(\.outcome) == [.completed])

    #expect(pool.isClosed.withLock { $0 })
    #expect(try InitializerRegistry.current.resolve(ConnectionPool?.self) == nil)
  }

  @Test("a step can be made of closures, and a server says when it is ready")
  func closures() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration(), clock: TestClock()) {
      LaunchStep("cache") { configuration in
        try await DiskCache.open()
      } shutDown: { cache in
        try await cache.close()
      }
      HTTPServer().id("http").after("cache").stopTimeout(.seconds(20))
      Cache().id("registration").after("http")
    }
    try await launch.launch()
    #expect(launch.isReady)
    let report = await launch.shutDown()
    #expect(report.entries.map(\.outcome) == [.completed, .completed, .completed])
  }

  @Test("events show what the steps do")
  func events() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration(), clock: TestClock()) { Cache() }
    let events = launch.events
    let log = Task {
      var lines: [String] = []
      for await event in events { lines.append("\(event)") }
      return lines
    }
    try await launch.launch()

    #expect(launch.isReady)
    await launch.shutDown()
    // On a busy machine, the log may also say that the launch waits for a step; such lines are left out.
    func expectSteps(in log: Task<[String], Never>) async {
      #expect(
        await log.value == [
          "launch: began", "launch: Cache began", "launch: Cache completed", "launch: ended after 0 s",
          "shutDown: began: shutDown() was called", "shutDown: Cache began", "shutDown: Cache completed",
          "shutDown: ended after 0 s",
        ])
    }
    await expectSteps(in: Task { await log.value.filter { !$0.contains("still waiting") } })
  }

  @Test("the report is the same each time on a test's own clock")
  func report() async throws {
    let clock = SteppingClock()
    let launch = try LaunchSequence(configuration: AppConfiguration(), clock: clock) {
      Work(duration: .milliseconds(250), clock: clock).id("logging")
      CrashInitializer().id("crash")
      Work(duration: .seconds(1), clock: clock).id("database")
    }
    let report = try await launch.launch()

    #expect(report.duration == .milliseconds(1_250))
    #expect(report.criticalPath == ["logging", "crash", "database"])
    #expect(report.entries[2].start == .milliseconds(250))
    #expect(
      report.timeline() == """
        1.25 s, 2 completed, 1 skipped
        logging  ✓ * ██████████                                        250 ms
        crash    ○ *           ·                                       skipped: no ApiKey  after logging
        database ✓ *           ██████████████████████████████████████  1 s  after crash

        """)
    #expect(report.svg().hasPrefix("<svg"))
    #expect(report.json().contains("\"duration\": 1.25,"))
  }
}

private func handle(_ message: String) {}

#if os(macOS) || os(Linux)
  /// Returns the address of the process's handler of SIGTERM.
  private func handlerOfTerminate() -> UInt {
    var action = sigaction()
    sigaction(SIGTERM, nil, &action)
    return withUnsafeBytes(of: &action) { $0.loadUnaligned(as: UInt.self) }
  }
#endif
