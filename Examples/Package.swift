// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]
let spellbook = Target.Dependency.product(name: "Spellbook", package: "Spellbook")
let spellTesting = Target.Dependency.product(name: "SpellTesting", package: "Spellbook")

/// Each example, and the library that holds what of it is tested.
let examples: [(name: String, library: String?)] = [
  ("Habits", "HabitsCore"), ("CustomSpell", "CustomSpells"), ("GettingStarted", nil), ("LaunchTour", nil),
]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: examples.map { .executable(name: $0.name, targets: [$0.name]) },
  dependencies: [.package(name: "Spellbook", path: "..")],
  targets: examples.flatMap { example -> [Target] in
    let program = Target.executableTarget(
      name: example.name, dependencies: [spellbook] + (example.library.map { [.byName(name: $0)] } ?? []),
      swiftSettings: settings)
    guard let library = example.library else { return [program] }
    return [
      program,
      .target(name: library, dependencies: [spellbook], swiftSettings: settings),
      .testTarget(
        name: "\(example.name)Tests",
        dependencies: [.byName(name: example.name), .byName(name: library), spellbook, spellTesting],
        swiftSettings: settings),
    ]
  }
)
