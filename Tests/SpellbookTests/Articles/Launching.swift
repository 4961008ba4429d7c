import SpellTesting
import Spellbook
import Synchronization
import Testing

/// The samples of the article of this name.
@Suite("Launching", .registry, .timeLimit(.minutes(1))) struct Launching {
  struct AppConfiguration: Configurable {
    var serviceStorage: ServiceStorage = [
      "Crash": [.production: ["ApiKey": "live-key"]],
      "Database": [.test: ["Path": "/tmp/test.sqlite"], .production: ["Path": "/var/app.sqlite"]],
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

  /// The time moves on by each wait, and nobody waits.
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

  /// Can't be reached at the first attempt.
  final class SignIn: Initializable {
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

  /// Takes as long as it is let.
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

  @Test("Declare a step")
  func declare() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration.defaultConfiguration()) {
      CrashInitializer()
      DatabaseInitializer()
    }
    let report = try await launch.launch()

    #expect(report.entries.map(\.outcome) == [.skipped, .completed])
    #expect(report.warnings == ["CrashInitializer (skipped): no ApiKey"])
  }

  @Test("Configuration and secrets")
  func configuration() throws {
    let configuration = LayeredConfiguration(
      stage: .production,
      layers: [
        .environment(prefix: "APP", variables: ["APP_CRASH_API_KEY": "from-outside"]),
        .memory(["Crash": [.production: ["ApiKey": "live-key", "Limit": "7"]]]),
      ])
    #expect(try configuration.requiredValue(for: "Crash", key: "ApiKey") == "from-outside")
    #expect(try configuration.value(for: "Crash", key: "Limit", as: Int.self) == 7)

    #expect(
      configuration.explanation(for: "Crash", key: "ApiKey") == """
        Crash.ApiKey = •••, stage production
          environment: •••  (APP_CRASH_API_KEY)  ← used
          memory: •••
        """)
    #expect(!"\(configuration)".contains("live-key"))
  }

  @Test("Order")
  func order() async throws {
    let (clock, isDemo) = (SteppingClock(), true)
    let work = Work(duration: .zero, clock: clock)
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      work.id("logging")
      work.id("database").after("logging")
      work.id("network").after("logging")
      work.id("migration").after("database")
      work.id("metrics").before("network")
      if isDemo { work.id("demo").after("migration").only(in: .development, .test) }
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

  @Test("Failures")
  func failures() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration(), clock: SteppingClock()) {
      SignIn().id("sign-in").onFailure(.retry(2, after: .seconds(10)))
      Advertisement().id("advertisement").timeout(.milliseconds(150)).onFailure(.skip)
    }
    let report = try await launch.launch()

    #expect(report.entries.map(\.outcome) == [.completed, .failed])
    #expect(report.entries[0].attempts == 2)
    #expect(report.entries[0].duration == .seconds(10))
  }

  @Test("An abort")
  func abort() async throws {
    let launch = try LaunchSequence(configuration: AppConfiguration()) {
      DatabaseInitializer()
      Fail().id("broken")
      Cache()
    }
    let error = await #expect(throws: LaunchError.self) { try await launch.launch() }
    #expect(error?.id == "broken")
    #expect(error?.underlying is Broken)
    #expect(error?.report?.entries.map(\.outcome) == [.completed, .failed, .notRun])
  }

  @Test("The foreground")
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

  @Test("Services")
  func services() async throws {
    final class Screen {
      @Injected var database: Database
    }
    try await LaunchSequence(configuration: AppConfiguration()) { DatabaseInitializer() }.launch()

    #expect(Screen().database.path == "/tmp/test.sqlite")
  }

  @Test("The report, on a clock of the test's own")
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
                     0 s                                       1.25 s
        logging  ✓ * ██████████                                        250 ms
        crash    ○ *           ·                                       skipped: no ApiKey  after logging
        database ✓ *           ██████████████████████████████████████  1 s  after crash

        """)
    #expect(report.svg().hasPrefix("<svg"))
    #expect(report.json().contains("\"duration\": 1.25,"))
  }
}
