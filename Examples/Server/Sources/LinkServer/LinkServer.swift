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

/// A namespace for the functions that assemble the service.
public enum LinkServer {
  /// Registers the services that need no launch, such as the settings, the rate limiter and the counters.
  ///
  /// Outside of requests, a placeholder is registered as the current request. The steps of the launch register the
  /// remaining services.
  public static func registerServices(in registry: InitializerRegistry, logger: Logger, metrics: TextMetrics) {
    registry.register(.instance(logger))
    registry.register(.instance(metrics))
    registry.register(.instance(metrics as any MetricsFactory))
    registry.register(Counters.self, scope: .singleton, .autowire(Counters.init))
    registry.register(Settings.self, scope: .singleton) { Settings() }
    registry.register(RateLimiter.self, scope: .singleton) { resolver in RateLimiter(now: try resolver.resolve(.now)) }
    registry.register(.instance(CurrentRequest(id: "none", user: .guest, logger: logger)))
  }

  /// Returns a router with all routes, which uses the services of the current registry.
  ///
  /// - Parameter adminToken: The password of the admin page, or nil for a server without an admin page.
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

  /// Returns the HTTP server, which listens only after it is run.
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
  ///   - serves: Whether the last step runs the HTTP server. A test can pass false and call the routes directly.
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
        // The server is shut down first, so pending requests are answered while the required steps still run.
        ServiceStep(server, logger: logger).id("http").requires("settings", "visits").stopTimeout(.seconds(10))
      }
    }
    registry.register(.instance(launch))
    return launch
  }
}
