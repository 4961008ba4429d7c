// swift-tools-version: 6.2
import PackageDescription

// CI sets the variable.
let strict = Context.environment["WARNINGS_AS_ERRORS"] != nil
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: strict ? .error : .warning),
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Spellbook", path: "../.."),
    // The traits are off, because their interposers exist only for some versions of Swift and some platforms.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    // C code for what Swift can't express: a value that the optimizer must keep, and a count of allocations.
    .target(name: "Measuring"),
    // The plugin requires that the folder is in one named "Benchmarks".
    .executableTarget(
      name: "Spells",
      dependencies: [
        "Measuring", .product(name: "Spellbook", package: "Spellbook"),
        .product(name: "LaunchInitializers", package: "Spellbook"), .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "Spells", swiftSettings: settings, plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    // The table that pairs each figure with its baseline.
    .executableTarget(name: "Ratios", swiftSettings: settings),
  ]
)
