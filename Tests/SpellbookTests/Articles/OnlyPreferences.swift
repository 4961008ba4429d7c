import Foundation
import PreferenceSpell
import SpellTesting
import TestSupport
import Testing

private final class Player {
  @Preference var volume = 5
  @Preference var nickname: String?
}

struct VolumeView {
  @Preference(.volume) var volume
}

/// The code samples of the article with this name.
@Suite("Only preferences", .timeLimit(.hang)) struct OnlyPreferences {
  @Test(.preferences(["volume": 7]))
  func startsLoud() { #expect(Player().volume == 7) }

  @Test("properties and structs share a declared key", .registry)
  func shared() async {
    let player = Player()
    VolumeView().volume = 8
    #expect(player.volume == 8 && player.nickname == nil)

    var seen: [Int] = []
    func print(_ volume: Int) {
      seen.append(volume)
      VolumeView().volume = 9
    }
    for await volume in player.$volume.values.prefix(2) {
      print(volume)
    }
    #expect(seen == [8, 9])
  }

  @Test("a store keeps its values in the file that the program chooses", .registry)
  func file() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "only-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "settings.preferences")
    func print(_ volume: Int, _ stored: Int) { #expect(volume == 5 && stored == 5) }
    do {
      let store = try FilePreferenceStore(url: url)
      InitializerRegistry.current.register(
        .instance(store as any PreferenceStore))
      print(Player().volume, try store.value(for: .volume))
    }
    Player().volume = 7
    #expect(try FilePreferenceStore(url: url).value(for: .volume) == 7)
  }
}
