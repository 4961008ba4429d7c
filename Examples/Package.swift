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

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .executable(name: "Habits", targets: ["Habits"]), .executable(name: "CustomSpell", targets: ["CustomSpell"]),
    .executable(name: "GettingStarted", targets: ["GettingStarted"]),
  ],
  dependencies: [.package(name: "Spellbook", path: "..")],
  targets: [
    .target(
      name: "HabitsCore", dependencies: [.product(name: "Spellbook", package: "Spellbook")], swiftSettings: settings),
    .executableTarget(
      name: "Habits", dependencies: ["HabitsCore", .product(name: "Spellbook", package: "Spellbook")],
      swiftSettings: settings),
    .testTarget(
      name: "HabitsTests",
      dependencies: [
        "Habits", "HabitsCore", .product(name: "Spellbook", package: "Spellbook"),
        .product(name: "SpellTesting", package: "Spellbook"),
      ], swiftSettings: settings),
    .executableTarget(
      name: "GettingStarted", dependencies: [.product(name: "Spellbook", package: "Spellbook")],
      swiftSettings: settings),
    .target(
      name: "CustomSpells", dependencies: [.product(name: "Spellbook", package: "Spellbook")], swiftSettings: settings),
    .executableTarget(
      name: "CustomSpell", dependencies: ["CustomSpells", .product(name: "Spellbook", package: "Spellbook")],
      swiftSettings: settings),
    .testTarget(
      name: "CustomSpellTests",
      dependencies: [
        "CustomSpells", .product(name: "Spellbook", package: "Spellbook"),
        .product(name: "SpellTesting", package: "Spellbook"),
      ], swiftSettings: settings),
  ]
)
