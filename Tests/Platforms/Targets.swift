// The end of the manifest that `.ci/platforms` makes: the targets above, built on stand-ins for Apple's modules.

/// The kind of platform: UIKit, AppKit or Windows.
let kit = Context.environment["KIT"] ?? "UIKit"
/// The modules that stand in for the platform's.
let standIns =
  kit == "Windows"
  ? ["ucrt", "WinSDK"] : ["Darwin", "DarwinTypes", "MachO", "Combine", "SwiftUI", "AppleFoundation", kit]

package.products = []
// The tool works on files, and there is no file store on Windows.
package.targets = package.targets.filter {
  !$0.isTest && $0.name != "TestSupport" && !(kit == "Windows" && $0.type == .executable)
}
for target in package.targets { target.dependencies += standIns.map { .byName(name: $0) } }
let tested = package.targets.filter { $0.type == .regular }.map { Target.Dependency.byName(name: $0.name) }
package.targets += standIns.map { name in
  .target(
    name: name, dependencies: ["Darwin": ["DarwinTypes"], "SwiftUI": ["Combine"]][name] ?? [], path: "StandIns/\(name)",
    swiftSettings: [
      .swiftLanguageMode(name == "Combine" ? .v5 : .v6), .enableUpcomingFeature("InternalImportsByDefault"),
    ])
}
if kit != "Windows" {
  package.targets.append(
    .executableTarget(
      name: "Driver", dependencies: tested + standIns.map { .byName(name: $0) }, path: "Driver",
      swiftSettings: settings(of: "Driver")))
}
