// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]
// `.ci/run` sets the variable, so that the same build treats warnings as errors and is tested.
let isStrict = Context.environment["WARNINGS_AS_ERRORS"] != nil
let strict = isStrict ? [SwiftSetting.treatAllWarnings(as: .error)] : []
let nonsending = SwiftSetting.enableUpcomingFeature("NonisolatedNonsendingByDefault")

/// Returns the settings that a module is built with.
///
/// LaunchInitializers declares an async protocol that main-actor classes conform to without annotations. A
/// `nonisolated(nonsending)` requirement would make their methods nonisolated too. In SpellRegistry, each expression
/// that the compiler can't prove to be memory-safe is marked `unsafe`.
func settings(of module: String) -> [SwiftSetting] {
  (module == "LaunchInitializers" ? settings : settings + [nonsending])
    + (module == "SpellRegistry" ? [.strictMemorySafety()] : []) + strict
}

// The tests on simulators set it: a program on iOS can't start another program, and Xcode compiles every target.
let withoutProcesses = Context.environment["WITHOUT_PROCESSES"] != nil
let testsWithoutProcesses: Set = ["Support", "StandardKeys", "LaunchInitializers", "SpellDiagnostics", "Spellbook"]

/// A module, its dependencies, and the further dependencies of its tests.
typealias Module = (name: String, dependencies: [String], testDependencies: [String])

let modules: [Module] = [
  ("Support", [], []),
  ("SpellRegistry", ["Support"], []),
  ("LazySpell", ["SpellRegistry"], ["SpellTesting"]),
  ("FinalSpell", ["SpellRegistry"], ["SpellTesting"]),
  ("InjectedSpell", ["SpellRegistry", "Support"], ["SpellTesting"]),
  ("PartialSpell", ["SpellRegistry"], ["SpellTesting"]),
  ("StandardKeys", ["SpellRegistry", "Support"], ["InjectedSpell", "SpellTesting"]),
  ("PreferenceStorage", ["Support"], []),
  ("PreferenceSpell", ["SpellRegistry", "PreferenceStorage", "Support"], ["SpellTesting"]),
  ("LaunchInitializers", ["SpellRegistry", "Support"], ["SpellTesting", "Support"]),
  ("SpellDiagnostics", ["SpellRegistry", "Support"], ["SpellTesting", "Spellbook"]),
  (
    "SpellTesting", ["SpellRegistry", "PreferenceStorage", "SpellDiagnostics", "Support"],
    ["InjectedSpell", "PreferenceSpell", "Support"]
  ),
  (
    "Spellbook",
    [
      "SpellRegistry", "LazySpell", "FinalSpell", "InjectedSpell", "PartialSpell", "PreferenceStorage",
      "PreferenceSpell", "StandardKeys",
    ],
    ["LaunchInitializers", "SpellDiagnostics", "SpellTesting"]
  ),
]

/// The files that aren't compiled, by module.
///
/// A store in a file needs POSIX, which Windows doesn't have.
#if os(Windows)
  let excluded = ["PreferenceStorage": ["File"]]
#else
  let excluded: [String: [String]] = [:]
#endif

let tool: [Target] = [
  .executableTarget(
    name: "prefs", dependencies: ["PreferenceStorage", "Support"], swiftSettings: settings(of: "prefs")),
  .testTarget(name: "prefsTests", dependencies: ["prefs", "TestSupport"], swiftSettings: settings(of: "prefs")),
]

let package = Package(
  name: "Spellbook",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: modules.filter { $0.name != "Support" }.map { .library(name: $0.name, targets: [$0.name]) }
    + (withoutProcesses ? [] : [.executable(name: "prefs", targets: ["prefs"])]),
  targets: modules.flatMap { module -> [Target] in
    let tests = Target.testTarget(
      name: "\(module.name)Tests",
      dependencies: ([module.name, "TestSupport"] + module.testDependencies).map { .byName(name: $0) },
      swiftSettings: settings(of: module.name))
    return [
      .target(
        name: module.name,
        dependencies: module.dependencies.map { .byName(name: $0) },
        exclude: excluded[module.name] ?? [],
        swiftSettings: settings(of: module.name))
    ] + (withoutProcesses && !testsWithoutProcesses.contains(module.name) ? [] : [tests])
  } + (withoutProcesses ? [] : tool) + [
    // The code that tests share. It's in no product, so users don't build it.
    .target(
      name: "TestSupport", dependencies: ["Support"], path: "Tests/TestSupport",
      swiftSettings: settings(of: "TestSupport")),
    // A client of the package, in which a release build inlines the reads of values that other threads change.
    .testTarget(
      name: "RaceTests",
      dependencies: ["SpellRegistry", "LazySpell", "FinalSpell", "InjectedSpell", "PartialSpell", "PreferenceSpell"],
      swiftSettings: settings(of: "RaceTests")),
    // The settings of an app's module in Xcode: all code belongs to the main actor, unless its declaration says
    // otherwise.
    .testTarget(
      name: "MainActorAppTests", dependencies: ["LaunchInitializers", "Spellbook", "SpellTesting"],
      swiftSettings: settings(of: "MainActorAppTests") + [.defaultIsolation(MainActor.self)]),
    // The same for an app in the Swift 5 language mode, without the upcoming features.
    .testTarget(
      name: "SwiftFiveAppTests", dependencies: ["Spellbook", "SpellTesting", "LaunchInitializers"],
      swiftSettings: [.swiftLanguageMode(.v5), .defaultIsolation(MainActor.self)] + strict),
  ]
)
