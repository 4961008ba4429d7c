// A program that has preferences and nothing else imports this one module.
import PreferenceSpell
import Testing

extension PreferenceKeys {
  static let volume = PreferenceKey("volume", default: 5)
}
final class Player {
  @Preference(.volume) var volume
  @Preference var nickname = "guest"
}

@Test("one import has the wrapper, its keys, its stores, their errors, and the registry that chooses a store")
func oneImport() throws {
  let registry = InitializerRegistry()
  let store = MemoryPreferenceStore()
  registry.register((any PreferenceStore).self) { store }
  let player = registry.run { Player() }
  player.volume = 7
  try player.$nickname.update { $0 = "Ada" }
  #expect(try store.value(for: .volume) == 7)
  #expect(try store.transaction { changes in try changes.value(for: .volume) } == 7)
  #expect(store.keys == ["volume", "nickname"])
  #expect(throws: PreferenceError.self) { try store.set(1, forKey: "") }
}
