// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]
let launching = Target.Dependency.product(name: "LaunchInitializers", package: "Spellbook")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

// A package of its own, so that its dependencies aren't those of the other examples.
let package = Package(
  name: "Lifecycle",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [.library(name: "LaunchLifecycle", targets: ["LaunchLifecycle"])],
  dependencies: [
    .package(name: "Spellbook", path: "../.."),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
  ],
  targets: [
    .target(name: "LaunchLifecycle", dependencies: [launching, lifecycle, logging], swiftSettings: settings),
    .testTarget(
      name: "LaunchLifecycleTests", dependencies: ["LaunchLifecycle", launching, lifecycle, logging],
      swiftSettings: settings),
  ]
)
