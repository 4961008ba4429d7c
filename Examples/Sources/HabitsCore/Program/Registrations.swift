import Foundation
package import Spellbook

extension InitializerRegistry {
  /// Registers the parts of the program.
  ///
  /// - Parameter environment: The environment, in which `HABITS_FILE` names the file of the habits; without it, the
  ///   standard file is used.
  package func registerHabits(environment: [String: String] = [:]) {
    let path = environment["HABITS_FILE"] ?? ""
    register((any PreferenceStore).self, scope: .singleton) {
      path.isEmpty ? FilePreferenceStore.standard : try FilePreferenceStore(url: URL(filePath: path))
    }
    register((any Console).self) { StandardConsole() }
    registerServices()
  }

  /// Registers the services that don't depend on the store of habits and the console.
  package func registerServices() {
    register((any WallClock).self) { SystemClock() }
    register((any PartialLoader).self) { DecodablePartialLoader(bundle: .module) }
    register(.autowire(HabitBook.init))
    register(.autowire(Tracker.init))
    register(.in(Tracker.self) { $0.clock.today })
  }
}
