// A launch of a dozen steps: prints its timeline and writes its picture.
// Usage: LaunchTour [PICTURE.svg]     (in the temporary folder where left out)

import Foundation
import Spellbook

let configuration = LayeredConfiguration(
  stage: .development,
  layers: [
    .environment(prefix: "TOUR"),
    .memory([
      "CrashReporter": [.production: ["ApiKey": "live-key"]],
      "Database": [.development: ["Path": "/tmp/tour.sqlite"]],
      "Network": [.development: ["Host": "localhost"]],
      "Theme": [.development: ["Name": "dark"]],
    ]),
  ])

let launch = try LaunchSequence(configuration: configuration, maxConcurrentSteps: 4, clock: TourClock.shared) {
  LoggingInitializer().id("logging")
  CrashReporterInitializer().id("crash reporter")

  DatabaseInitializer().id("database").after("logging")
  MigrationInitializer().id("migration").after("database")
  CacheWarmUp().id("cache").after("migration")
  SearchIndexInitializer().id("search index").after("migration")

  FeatureFlagsInitializer().id("flags").after("logging")
  NetworkInitializer().id("network").after("logging").timeout(.seconds(5))
  SignInInitializer().id("sign-in").after("network").onFailure(.retry(2, after: .milliseconds(30)))
  AnalyticsInitializer().id("analytics").after("network", "flags").onFailure(.skip)
  AdvertisementInitializer().id("advertisement").after("network").timeout(.milliseconds(150)).onFailure(.skip)

  ThemeInitializer().id("theme").after("logging")
  DebugMenuInitializer().id("debug menu").after("theme").only(in: .development, .test)
  AnalyticsInitializer().id("store review").after("theme").only(in: .production)
}

print(configuration.explanation(for: "CrashReporter", key: "ApiKey"))
print()

let report = try await launch.launch()
print(report.timeline())
for warning in report.warnings { print("warning: \(warning)") }
print("critical path: \(report.criticalPath.joined(separator: " → "))")

let flags: FeatureFlags = try InitializerRegistry.current.resolve()
print("new checkout: \(flags.newCheckout), search limit: \(flags.searchLimit)")

await launch.enterBackground()
print("\nBack in the foreground:\n\(await launch.enterForeground().timeline())")

await launch.shutDown()

let picture =
  CommandLine.arguments.dropFirst().first.map { URL(filePath: $0) }
  ?? FileManager.default.temporaryDirectory.appending(path: "launch-tour.svg")
try Data(report.svg().utf8).write(to: picture)
print("Gantt picture: \(picture.path)")
