// swift-tools-version: 6.2
import PackageDescription

// `.ci/run` sets this variable, so that the build that it tests treats warnings as errors.
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
let launching = Target.Dependency.product(name: "LaunchInitializers", package: "Spellbook")
let spellTesting = Target.Dependency.product(name: "SpellTesting", package: "Spellbook")

/// The name of each example, its library with the testable code (if any), and whether the example has a test target.
let examples: [(name: String, library: String?, isTested: Bool)] = [
  ("Habits", "HabitsCore", true), ("CustomSpell", "CustomSpells", true), ("GettingStarted", nil, false),
  ("LaunchTour", nil, true), ("Editor", "EditorCore", true),
]

/// The settings of an app module in Xcode, in which code belongs to the main actor by default.
let appSettings = settings + [.defaultIsolation(MainActor.self)]
let appModels: [Target] = [
  .target(name: "AppModels", dependencies: [spellbook], swiftSettings: appSettings),
  .testTarget(
    name: "AppModelsTests", dependencies: ["AppModels", spellbook, spellTesting], swiftSettings: appSettings),
]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: examples.map { .executable(name: $0.name, targets: [$0.name]) },
  dependencies: [.package(name: "Spellbook", path: "..")],
  targets: examples.flatMap { example -> [Target] in
    let library = example.library.map { [Target.Dependency.byName(name: $0)] } ?? []
    let program = Target.executableTarget(
      name: example.name, dependencies: [spellbook, launching] + library, swiftSettings: settings)
    let libraries = example.library.map {
      Target.target(
        name: $0, dependencies: [spellbook], resources: $0 == "HabitsCore" ? [.process("Ideas.json")] : [],
        swiftSettings: settings)
    }
    let tests = Target.testTarget(
      name: "\(example.name)Tests",
      dependencies: [.byName(name: example.name), spellbook, launching, spellTesting] + library,
      swiftSettings: settings)
    return [program] + (libraries.map { [$0] } ?? []) + (example.isTested ? [tests] : [])
  } + appModels
)
