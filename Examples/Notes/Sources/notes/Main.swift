import ArgumentParser
import NotesCore
import SpellRegistry

/// Registers the services, and runs the command.
@main struct Main {
  static func main() {
    registerServices(in: .shared)
    Notes.main()
  }
}
