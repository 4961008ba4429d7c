import Foundation
public import SpellRegistry
import StandardKeys

/// Registers the services that the commands need.
///
/// Call this function before the parser creates a command. A command uses the registry that is current at its creation.
public func registerServices(in registry: InitializerRegistry) {
  registry.register((any Console).self) { StandardOutput() }
  registry.register((any Notebook).self, scope: .singleton) { resolver in
    let environment = try resolver.resolve(.environment)
    let folder = environment["XDG_DATA_HOME"] ?? environment["HOME"].map { "\($0)/.local/share" } ?? "."
    return FileNotebook(url: URL(filePath: environment["NOTES_FILE"] ?? "\(folder)/notes/notes.json"))
  }
}
