// A launch of sixteen steps, which prints its timeline, restarts a service, and shuts down at a signal.
// Usage: LaunchTour [PICTURE.svg]     (writes the timeline as a picture into that file)

import Foundation
import LaunchInitializers
import Spellbook

struct TourConfiguration: Configurable {
  var serviceStorage: ServiceStorage = [
    // A secret comes from the environment, not from the source.
    "CrashReporter": [
      .production: ["ApiKey": ProcessInfo.processInfo.environment["CRASH_API_KEY"]].compactMapValues { $0 }
    ],
    "Database": [.development: ["Path": "/tmp/tour.sqlite"]],
    "Network": [.development: ["Host": "localhost"]],
    "Theme": [.development: ["Name": "dark"]],
  ]
  func currentStage() -> ReleaseStage { .development }
  static func defaultConfiguration() -> TourConfiguration { TourConfiguration() }
}

let configuration = TourConfiguration.defaultConfiguration()
let launch = try LaunchSequence(configuration: configuration, maxConcurrentSteps: 4, clock: TourClock.shared) {
  LoggingInitializer().id("logging")
  CrashReporterInitializer().id("crash reporter")

  DatabaseInitializer().id("database").after("logging")
  MigrationInitializer().id("migration").requires("database")
  CacheWarmUp().id("cache").after("migration")
  LaunchStep("search index") { _ in
    try await work(70)
    return "index"
  } shutDown: { index in
    print("Search: closed the \(index)")
  }.requires("migration")

  FeatureFlagsInitializer().id("flags").after("logging")
  NetworkInitializer().id("network").after("logging").timeout(.seconds(5))
  SignInInitializer().id("sign-in").requires("network").onFailure(.retry(2, after: .milliseconds(30)))
  AnalyticsInitializer().id("analytics").after("network", "flags").onFailure(.skip)
  AdvertisementInitializer().id("advertisement").after("network").timeout(.milliseconds(150)).onFailure(.skip)
  PriceFeed().id("prices").requires("network")
    .onExit(.restart(max: 3, within: .seconds(60), backoff: .constant(.milliseconds(20))))

  ThemeInitializer().id("theme").after("logging")
  DebugMenuInitializer().id("debug menu").after("theme").only(in: .development, .test)
  AnalyticsInitializer().id("store review").after("theme").only(in: .production)
  AnalyticsInitializer().id("crash analytics").requires("crash reporter")
}

let progress = Task { [events = launch.events] in await Progress().show(events) }

/// Runs the launch, and prints its report and a service that a step registered.
///
/// A server needs no function like this one, because its services do the work.
func tour() async throws {
  let report = try await launch.launch()
  print(report.timeline())
  for warning in report.warnings { print("warning: \(warning)") }
  print("critical path: \(report.criticalPath.joined(separator: " → "))")

  let flags: FeatureFlags = try InitializerRegistry.current.resolve()
  print("new checkout: \(flags.newCheckout), search limit: \(flags.searchLimit)")

  await launch.enterBackground()
  print("\nBack in the foreground:\n\(await launch.enterForeground().timeline())")

  if let path = CommandLine.arguments.dropFirst().first {
    try Data(report.svg().utf8).write(to: URL(filePath: path))
    print("picture: \(path)")
  }

  await PriceFeed.isBack.wait()
  print("ready: \(launch.isReady)")
  // A service manager stops a program with this signal. Ctrl-C sends SIGINT instead.
  kill(getpid(), SIGTERM)
}

let touring = Task { try await tour() }
let code = await launch.run(on: [.terminate, .interrupt], drain: .milliseconds(50))
try await touring.value
for line in await progress.value { print(line) }
print("exit code: \(code)")
exit(code)
