import LaunchInitializers
import Spellbook

// The initializers of an imaginary app, one for each part that has to be set up. Pauses stand for real work.

/// Pauses for some time on the tour's clock, in place of real work.
func work(_ milliseconds: Int) async throws { try await TourClock.shared.sleep(for: .milliseconds(milliseconds)) }

struct LoggingInitializer: Initializable {
  func perform(with configuration: any Configurable) async throws { try await work(20) }
  func shutDown() async { print("Logging: flushed") }
}

/// An initializer that is skipped with a warning, because it has no API key in this release stage.
struct CrashReporterInitializer: Initializable {
  func perform(with configuration: any Configurable) throws {
    guard configuration.value(for: "CrashReporter", key: "ApiKey") != nil else {
      throw SkipInitializer("no ApiKey for stage \(configuration.currentStage())")
    }
  }
}

struct DatabaseInitializer: ServiceInitializer {
  func makeService(with configuration: any Configurable) async throws -> Database {
    try await work(120)
    return Database(path: try configuration.requiredValue(for: "Database", key: "Path"))
  }
  func shutDown() async { print("Database: closed") }
}

/// An initializer that gets the database from the registry.
struct MigrationInitializer: Initializable {
  func perform(with configuration: any Configurable) async throws {
    let database: Database = try InitializerRegistry.current.resolve()
    try await work(60)
    await database.write("4", for: "schema")
  }
}

struct CacheWarmUp: Initializable {
  func perform(with configuration: any Configurable) async throws { try await work(90) }
  /// Returns true, because the cache may be cold after a while in the background.
  func shouldPerformWhenApplicationEntersForeground() async -> Bool { true }
}

struct FeatureFlagsInitializer: ServiceInitializer {
  func makeService(with configuration: any Configurable) async throws -> FeatureFlags {
    try await work(30)
    return FeatureFlags(
      newCheckout: try configuration.value(for: "Features", key: "NewCheckout", as: Bool.self) ?? false,
      searchLimit: try configuration.value(for: "Features", key: "SearchLimit", as: Int.self) ?? 20)
  }
}

struct NetworkInitializer: ServiceInitializer {
  func makeService(with configuration: any Configurable) async throws -> Network {
    try await work(50)
    return Network(host: try configuration.requiredValue(for: "Network", key: "Host"))
  }
}

/// An initializer that fails at the first attempt, to demonstrate a retry.
struct SignInInitializer: Initializable {
  let server = FlakyServer()
  func perform(with configuration: any Configurable) async throws {
    try await work(40)
    _ = try await server.signIn()
  }
}

struct AnalyticsInitializer: Initializable {
  func perform(with configuration: any Configurable) async throws { try await work(35) }
}

/// An initializer that takes longer than its timeout.
struct AdvertisementInitializer: Initializable {
  func perform(with configuration: any Configurable) async throws { try await work(10_000) }
}

/// A service that receives prices for as long as the program runs, and is ready once it is connected.
///
/// Its first connection breaks, to demonstrate a restart.
struct PriceFeed: ReadyInitializer {
  struct ConnectionLost: Error, CustomStringConvertible {
    let description = "the connection was lost"
  }
  /// A `Gate` that opens when the price feed runs again after its lost connection.
  static let isBack = Gate()
  private let runs = Counter()

  func run(_ service: RunningService) async throws {
    try await work(10)
    service.ready()
    if await runs.next() == 1 {
      try await work(300)
      throw ConnectionLost()
    }
    await Self.isBack.open()
    while true { try await work(1_000) }
  }

  func shutDown() async { print("Prices: disconnected") }
}

/// An initializer that sets up a theme on the main actor, without an annotation on its method.
@MainActor final class ThemeInitializer: Initializable {
  private(set) var theme = "none"
  func perform(with configuration: any Configurable) async throws {
    theme = configuration.value(for: "Theme", key: "Name") ?? "light"
  }
}

struct DebugMenuInitializer: Initializable {
  func perform(with configuration: any Configurable) throws {}
}
