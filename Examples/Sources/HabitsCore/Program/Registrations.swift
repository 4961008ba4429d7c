import Foundation
package import Spellbook

extension InitializerRegistry {
  /// Registers everything that the program injects.
  ///
  /// - Parameter environment: The environment variables. `HABITS_FILE` is the path of the habits file. If it is missing
  ///   or empty, the standard preferences file is used.
  package func registerHabits(environment: [String: String] = [:]) {
    let path = environment["HABITS_FILE"] ?? ""
    register((any PreferenceStore).self, scope: .singleton) {
      path.isEmpty ? FilePreferenceStore.standard : try FilePreferenceStore(url: URL(filePath: path))
    }
    register((any Console).self) { StandardConsole() }
    registerServices()
  }

  /// Registers the program's services, except for the preference store and the console.
  package func registerServices() {
    register((any WallClock).self) { SystemClock() }
    register((any PartialLoader).self) { DecodablePartialLoader(bundle: .module) }
    register(.autowire(HabitBook.init))
    register(.autowire(Tracker.init))
    register(.in(Tracker.self) { $0.clock.today })
  }
}
