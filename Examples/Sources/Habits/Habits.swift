import Foundation
import HabitsCore
import Spellbook

@main enum Habits {
  static func main() {
    InitializerRegistry.shared.registerHabits(environment: ProcessInfo.processInfo.environment)
    exit(Program().run(Array(CommandLine.arguments.dropFirst())))
  }
}
