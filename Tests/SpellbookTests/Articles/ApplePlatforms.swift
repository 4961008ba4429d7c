import Foundation
import SpellTesting
import Spellbook
import Synchronization
import Testing

private protocol WallClock: Sendable { var time: String { get } }
private struct StoppedClock: WallClock { var time: String { "noon" } }

/// The activities that a store in the article has begun and ended.
private let journal = Mutex<[String]>([])

private struct Activity: Sendable {
  init() { journal.withLock { $0.append("begin") } }
  func end() { journal.withLock { $0.append("end") } }
}

private final class Player: NSObject {
  @Lazy var cache = ["created when first read"]
  @Injected var clock: any WallClock
  @Preference var volume = 5
}

/// The code samples of the article with this name.
@Suite("Apple platforms", .registry) struct ApplePlatforms {
  @Test("a store calls the app before it takes the file's lock, and after it has released the lock")
  func activities() throws {
    let container = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(path: "\(UUID())")
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: container) } }

    let store = try FilePreferenceStore(
      url: container.appending(path: "settings.preferences"),
      aroundLock: {
        let activity = Activity()
        return { activity.end() }
      })

    #expect(journal.withLock(\.self) == [])
    try store.set(1, forKey: "launches")
    #expect(journal.withLock(\.self) == ["begin", "end"])
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      try store.transaction { _ in
        #expect(journal.withLock(\.self) == ["begin", "end", "begin"])
        throw Refused()
      }
    }
    #expect(journal.withLock(\.self) == ["begin", "end", "begin", "end"])
    #expect(try store.value(Int.self, forKey: "launches") == 1)
    #expect(journal.withLock(\.count) == 4)
  }

  @Test("a subclass of NSObject has wrapped properties, with their names")
  func objects() throws {
    let registry = InitializerRegistry.current
    let store = MemoryPreferenceStore()
    registry.register(.instance(store as any PreferenceStore))
    registry.register((any WallClock).self, named: .equal(to: "clock")) { StoppedClock() }
    let player = Player()
    #expect(player.cache == ["created when first read"])
    #expect(player.clock.time == "noon")
    player.volume = 7
    #expect(try store.value(Int.self, forKey: "volume") == 7)
    #expect(player.isEqual(player) && Set([player, player]).count == 1)
  }
}
