import Foundation
public import SpellRegistry
import StandardKeys

/// Registers what the commands need.
///
/// Call it before the parser creates a command, because a command asks the registry that is current when it is created.
public func registerServices(in registry: InitializerRegistry) {
  registry.register((any Console).self) { StandardOutput() }
  registry.register((any Notebook).self, scope: .singleton) { resolver in
    let environment = try resolver.resolve(.environment)
    let folder = environment["XDG_DATA_HOME"] ?? environment["HOME"].map { "\($0)/.local/share" } ?? "."
    return FileNotebook(url: URL(filePath: environment["NOTES_FILE"] ?? "\(folder)/notes/notes.json"))
  }
}
