// A program that has preferences, and nothing else: the wrapper, its keys, its stores, their errors, and a registry.
import PreferenceSpell

extension PreferenceKeys {
  static let volume = PreferenceKey("volume", default: 5)
}
final class Player {
  @Preference(.volume) var volume
  @Preference var nickname = "guest"
}

let registry = InitializerRegistry()
let store = MemoryPreferenceStore()
registry.register((any PreferenceStore).self) { store }
let player = registry.run { Player() }
player.volume = 7
try player.$nickname.update { $0 = "Ada" }
print(try store.value(for: .volume), try store.transaction { changes in try changes.value(for: .volume) })
do { try store.set(1, forKey: "") } catch { print(error.code) }
