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
let storage = Target.Dependency.product(name: "PreferenceStorage", package: "Spellbook")
let spellbook = Target.Dependency.product(name: "Spellbook", package: "Spellbook")
let spellTesting = Target.Dependency.product(name: "SpellTesting", package: "Spellbook")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
  .product(name: "NIOSSL", package: "swift-nio-ssl"),
]

// This example is a package of its own, so that the other examples don't get its dependencies.
let package = Package(
  name: "Fleet",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "EtcdPreferences", targets: ["EtcdPreferences"]), .executable(name: "fleet", targets: ["fleet"]),
  ],
  dependencies: [
    .package(name: "Spellbook", path: "../.."),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.24.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.29.0"),
  ],
  targets: [
    .target(name: "EtcdPreferences", dependencies: [storage, httpClient] + nio, swiftSettings: settings),
    .executableTarget(name: "fleet", dependencies: ["EtcdPreferences", storage], swiftSettings: settings),
    .testTarget(
      name: "EtcdPreferencesTests", dependencies: ["EtcdPreferences", "fleet", spellbook, spellTesting] + nio,
      swiftSettings: settings),
  ]
)
