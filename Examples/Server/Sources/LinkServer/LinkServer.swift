public import Hummingbird
import InjectedSpell
public import LaunchInitializers
import LaunchLifecycle
public import LinkCore
public import Logging
import Metrics
import NIOCore
import ServiceLifecycle
public import SpellRegistry
import StandardKeys

/// The parts of the service, put together.
public enum LinkServer {
  /// Registers what needs no launch: the settings, the limits, the counters, and a placeholder for the request outside
  /// of requests.
  ///
  /// The steps of the launch register the rest.
  public static func registerServices(in registry: InitializerRegistry, logger: Logger, metrics: TextMetrics) {
    registry.register(.instance(logger))
    registry.register(.instance(metrics))
    registry.register(.instance(metrics as any MetricsFactory))
    registry.register(Counters.self, scope: .singleton, .autowire(Counters.init))
    registry.register(Settings.self, scope: .singleton) { Settings() }
    registry.register(RateLimiter.self, scope: .singleton) { resolver in RateLimiter(now: try resolver.resolve(.now)) }
    registry.register(.instance(CurrentRequest(id: "none", user: .guest, logger: logger)))
  }

  /// Returns the routes, for the services of the current registry.
  ///
  /// - Parameter adminToken: The password of the admin page; nil for a server without one.
  public static func router(adminToken: String?) -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: RequestNumberMiddleware())
    router.add(middleware: MetricsMiddleware())
    router.add(middleware: RequestRegistryMiddleware(registry: .current))
    router.add(middleware: LogRequestsMiddleware(.info))
    StatusController().addRoutes(to: router.group())
    LinkController().addRoutes(to: router.group().add(middleware: Gate()))
    if let adminToken {
      AdminController().addRoutes(to: router.group("admin").add(middleware: AdminGuard(token: adminToken)))
    }
    return router
  }

  /// Returns the server, which listens when it is run.
  ///
  /// - Throws: `ConfigurationError` if the configuration has no valid address.
  public static func application(
    _ configuration: any Configurable
  ) throws -> Application<RouterResponder<BasicRequestContext>> {
    let logger = try InitializerRegistry.current.resolve(Logger.self)
    let host = try configuration.requiredValue(for: "Server", key: "Host")
    let port = try configuration.requiredValue(for: "Server", key: "Port", as: Int.self)
    let linger = try configuration.value(for: "Server", key: "Linger", as: Int.self) ?? 1
    return Application(
      router: router(adminToken: configuration.value(for: "Admin", key: "Token")),
      server: .answeringLastRequests(within: .seconds(Int64(linger))),
      configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: "links"),
      onServerRunning: { channel in
        logger.notice("Listening", metadata: ["port": "\(channel.localAddress?.port ?? port)"])
      },
      logger: logger)
  }

  /// Returns the launch sequence of the service, and registers the sequence.
  ///
  /// - Parameters:
  ///   - configuration: The configuration, whose values the README lists.
  ///   - serves: Whether the last step is a server; a test calls the routes directly instead.
  /// - Throws: `ConfigurationError` if the configuration has no valid address.
  public static func launchSequence(_ configuration: any Configurable, serves: Bool = true) throws -> LaunchSequence {
    let registry = InitializerRegistry.current
    let logger = try registry.resolve(Logger.self)
    let server = serves ? try application(configuration) : nil
    let clock = try registry.resolve(.clock)
    let launch = try LaunchSequence(configuration: configuration) {
      SettingsInitializer().id("settings").after()
      SettingsWatch().id("settings watch").requires("settings")
      JournalInitializer().id("journal").after()
      MigrationInitializer().id("migration").requires("journal")
      CacheInitializer().id("cache").requires("journal").after("migration")
      VisitsInitializer(clock: clock).id("visits").requires("cache")
      if let server {
        // Requests under way are answered before the steps that they need are shut down.
        ServiceStep(server, logger: logger).id("http").requires("settings", "visits").stopTimeout(.seconds(10))
      }
    }
    registry.register(.instance(launch))
    return launch
  }
}
