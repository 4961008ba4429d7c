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
let launching = Target.Dependency.product(name: "LaunchInitializers", package: "Spellbook")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let memoryLogging = Target.Dependency.product(name: "InMemoryLogging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let testMetrics = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")

// This example is a package of its own, so that the other examples don't get its dependencies.
let package = Package(
  name: "Lifecycle",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "LaunchLifecycle", targets: ["LaunchLifecycle"]),
    .library(name: "LaunchLogging", targets: ["LaunchLogging"]),
    .library(name: "LaunchMetrics", targets: ["LaunchMetrics"]),
  ],
  dependencies: [
    .package(name: "Spellbook", path: "../.."),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
  ],
  targets: [
    .target(name: "LaunchLifecycle", dependencies: [launching, lifecycle, logging], swiftSettings: settings),
    // LaunchLogging passes the events of a launch to swift-log, and LaunchMetrics passes them to swift-metrics. Both
    // modules measure the steps with StepTimes.
    .target(name: "LaunchLogging", dependencies: ["StepTimes", launching, logging], swiftSettings: settings),
    .target(name: "LaunchMetrics", dependencies: ["StepTimes", launching, metrics], swiftSettings: settings),
    .target(name: "StepTimes", dependencies: [launching], swiftSettings: settings),
    .testTarget(
      name: "LaunchLifecycleTests",
      dependencies: [
        "LaunchLifecycle", "LaunchLogging", "LaunchMetrics", launching, lifecycle, logging, memoryLogging, metrics,
        testMetrics,
      ],
      swiftSettings: settings),
  ]
)
