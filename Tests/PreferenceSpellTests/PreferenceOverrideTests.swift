import PreferenceSpell
import SpellTesting
import TestSupport
import Testing

@Suite("An overridden @Preference", .registry) struct PreferenceOverrideTests {
  let base = MemoryPreferenceStore()
  final class Player {
    @Preference var volume = 5
    @Preference("name", formerly: "nick") var name = "guest"
  }

  init() {
    use(
      PrefixedPreferenceStore(
        "p.", in: OverridingPreferenceStore(.arguments(["", "-p.volume", "8", "-p.name", "12"]), over: base)))
  }

  @Test("reads the override, says so, and is assigned and updated in the base store")
  func overriding() throws {
    let player = Player()
    #expect(player.volume == 8 && player.name == "12")
    #expect("\(player.$volume)".hasPrefix("\"volume\": 8 (overridden by the argument -p.volume), in "))
    #expect(player.$volume.isSet)
    player.volume = 3
    player.name = "Ada"
    #expect(player.$volume.error == nil && player.volume == 8)
    #expect(base.json(forKey: "p.volume") == "3" && base.json(forKey: "p.name") == "\"Ada\"")
    try player.$volume.update { $0 += 1 }
    #expect(base.json(forKey: "p.volume") == "4")
    try base.set("Bea", forKey: "p.name")
    player.name += "!"
    #expect(base.json(forKey: "p.name") == "\"12!\"")
    player.$volume.reset()
    #expect(try player.$volume.load() == 8 && player.volume == 8 && base.json(forKey: "p.volume") == nil)
  }

  @Test("with an override of another type reads its default, and an assignment that builds on it is refused")
  func mismatch() throws {
    use(OverridingPreferenceStore(PreferenceOverrides(["volume": "loud"]), over: base))
    try base.set(7, forKey: "volume")
    let player = Player()
    #expect(player.volume == 5 && player.$volume.error?.code == .typeMismatch)
    player.volume += 1
    #expect(base.json(forKey: "volume") == "7")
  }

  @Test("is set where it reads a value: an override of a former key doesn't count")
  func isSet() throws {
    use(OverridingPreferenceStore(PreferenceOverrides(["nick": "Ada"]), over: base))
    let player = Player()
    #expect(player.name == "guest" && !player.$name.isSet)
    try base.set("Bea", forKey: "nick")
    #expect(player.name == "Bea" && player.$name.isSet)
    use(OverridingPreferenceStore(PreferenceOverrides(["name": String?.none]), over: base))
    let hiding = Player()
    #expect(hiding.name == "guest" && !hiding.$name.isSet)
  }

  @Test("keeps a stored value that it can't read")
  func unreadable() throws {
    try base.set("loud", forKey: "p.volume")
    let player = Player()
    #expect(player.volume == 8)
    player.volume = 3
    #expect(player.$volume.error?.code == .typeMismatch && base.json(forKey: "p.volume") == "\"loud\"")
  }
}
