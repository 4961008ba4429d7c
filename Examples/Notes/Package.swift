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
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]
let spellbook = Target.Dependency.product(name: "Spellbook", package: "Spellbook")
let spellTesting = Target.Dependency.product(name: "SpellTesting", package: "Spellbook")
let parser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

// This example is a package of its own, so that the other examples don't get its dependencies.
let package = Package(
  name: "Notes",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Spellbook", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
  ],
  targets: [
    .target(name: "NotesCore", dependencies: [spellbook, parser], swiftSettings: settings),
    .executableTarget(name: "notes", dependencies: ["NotesCore", spellbook, parser], swiftSettings: settings),
    .testTarget(
      name: "NotesCoreTests", dependencies: ["NotesCore", "notes", spellbook, spellTesting, parser],
      swiftSettings: settings),
  ]
)
