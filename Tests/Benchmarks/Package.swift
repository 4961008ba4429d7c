// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Spellbook", path: "../.."),
    // Without its traits: their interposers are there for some versions of Swift and some platforms only.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    // What Swift can't say: a value that the optimiser may not drop, and a count of allocations.
    .target(name: "Measuring"),
    // Its folder lies in one named "Benchmarks", as the plugin wants it.
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
