import Foundation
package import Spellbook

extension InitializerRegistry {
  /// Registers what the program is made of.
  ///
  /// - Parameter environment: Its `HABITS_FILE` is the file to keep the habits in, in place of the standard one.
  package func registerHabits(environment: [String: String] = [:]) {
    let path = environment["HABITS_FILE"] ?? ""
    register((any PreferenceStore).self, scope: .singleton) {
      path.isEmpty ? FilePreferenceStore.standard : try FilePreferenceStore(url: URL(filePath: path))
    }
    register((any Console).self) { StandardConsole() }
    registerServices()
  }

  /// Registers what is the same for every store of habits and every console.
  package func registerServices() {
    register((any WallClock).self) { SystemClock() }
    register((any PartialLoader).self) { DecodablePartialLoader(bundle: .module) }
    register(.autowire(HabitBook.init))
    register(.autowire(Tracker.init))
    register(.in(Tracker.self) { $0.clock.today })
  }
}
