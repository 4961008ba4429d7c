// swift-tools-version: 6.2
import PackageDescription

// CI sets this variable, so that the build that it tests treats warnings as errors.
let strict = Context.environment["WARNINGS_AS_ERRORS"] != nil
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: strict ? .error : .warning),
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]
let spellbook = Target.Dependency.product(name: "Spellbook", package: "Spellbook")
let testing = Target.Dependency.product(name: "SpellTesting", package: "Spellbook")
let diagnostics = Target.Dependency.product(name: "SpellDiagnostics", package: "Spellbook")
let launching = Target.Dependency.product(name: "LaunchInitializers", package: "Spellbook")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let launchLifecycle = Target.Dependency.product(name: "LaunchLifecycle", package: "Lifecycle")
let launchLogging = Target.Dependency.product(name: "LaunchLogging", package: "Lifecycle")
let launchMetrics = Target.Dependency.product(name: "LaunchMetrics", package: "Lifecycle")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let http = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let httpParts = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let memoryLogging = Target.Dependency.product(name: "InMemoryLogging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")

// This example is a package of its own, so that the other examples don't get its dependencies.
let package = Package(
  name: "Server",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Spellbook", path: "../.."),
    .package(name: "Lifecycle", path: "../Lifecycle"),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.16.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.60.0"),
    .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.20.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
    .package(
      url: "https://github.com/apple/swift-configuration.git", from: "1.4.0",
      traits: [.defaults, "CommandLineArguments"]),
  ],
  targets: [
    // LinkCore has the parts that don't use Spellbook: links, their journal, metrics and connections.
    .target(
      name: "LinkCore",
      dependencies: [hummingbird, hummingbirdCore, http, httpParts, logging, metrics, nio, nioHTTP],
      swiftSettings: settings),
    .target(
      name: "LinkServer",
      dependencies: [
        "LinkCore", spellbook, launching, diagnostics, launchLifecycle, configuration, hummingbird, http, nio,
        lifecycle, logging, metrics,
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "links",
      dependencies: ["LinkServer", "LinkCore", spellbook, launching, launchLogging, launchMetrics, logging, metrics],
      swiftSettings: settings),
    // A version of the service without Spellbook, which the script `measure` uses as a baseline.
    .executableTarget(
      name: "links-by-hand", dependencies: ["LinkCore", hummingbird, http, nio, lifecycle, logging, metrics],
      swiftSettings: settings),
    .testTarget(
      name: "LinkServerTests",
      dependencies: [
        "LinkServer", "LinkCore", "links", spellbook, launching, testing, .product(name: "prefs", package: "Spellbook"),
        hummingbird, hummingbirdTesting, http, httpParts, nio, nioEmbedded, logging, memoryLogging, metrics,
      ],
      swiftSettings: settings),
  ]
)
