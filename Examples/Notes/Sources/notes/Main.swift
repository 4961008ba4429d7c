import ArgumentParser
import NotesCore
import SpellRegistry

/// The program, which registers the services and runs the command.
@main struct Main {
  static func main() {
    registerServices(in: .shared)
    Notes.main()
  }
}
