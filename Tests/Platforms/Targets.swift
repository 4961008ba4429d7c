// The end of the manifest that `.ci/platforms` makes: the targets above, on the stand-ins of Apple's modules.

/// The modules to stand in for those of a platform with UIKit, or with AppKit.
let standIns = ["Darwin", "MachO", "Combine", "SwiftUI", "AppleFoundation", Context.environment["KIT"] ?? "UIKit"]

package.products = []
package.targets = package.targets.filter { !$0.isTest }
for target in package.targets { target.dependencies += standIns.map { .byName(name: $0) } }
let tested = package.targets.filter { $0.type == .regular }.map { Target.Dependency.byName(name: $0.name) }
package.targets += standIns.map { name in
  .target(
    name: name, path: "StandIns/\(name)",
    swiftSettings: [
      .swiftLanguageMode(name == "Combine" ? .v5 : .v6), .enableUpcomingFeature("InternalImportsByDefault"),
    ])
}
package.targets.append(
  .executableTarget(
    name: "Driver", dependencies: tested + standIns.map { .byName(name: $0) }, path: "Driver",
    swiftSettings: settings(of: "Driver")))
