import Foundation
import SpellTesting
import Spellbook
import Testing

private protocol Greeter: Sendable { var text: String { get } }
private struct EnglishGreeter: Greeter { let text = "Hello!" }
private struct Theme: Decodable, Sendable { let name: String }

private final class Player {
  @Injected var greeter: any Greeter  // provided by the registry
  @Lazy var cache = ["created on first read, once, from any thread"]
  @Final var id: Int  // assigned once; a second time stops the program
  @Partial var theme: Theme  // loaded by a PartialLoader, once
  @Preference var volume = 5  // kept in a file, for the next run too
}

private struct DarkLoader: PartialLoader {
  func load<Value>(_: Value.Type, named name: String) throws -> Value {
    #expect(name == "Theme")
    return try #require(Theme(name: "dark") as? Value)
  }
}

/// The samples of the modules' own pages.
@Suite("Modules") struct Modules {
  @Test("the wrappers do what the page of all modules says", .registry)
  func wrappers() throws {
    InitializerRegistry.current.register((any Greeter).self) { EnglishGreeter() }
    InitializerRegistry.current.register((any PartialLoader).self) { DarkLoader() }
    let player = Player()
    #expect(player.greeter.text == "Hello!")
    #expect(!player.$cache.hasValue && player.cache.count == 1)
    player.id = 7
    #expect(throws: FinalError.self) { try player.$id.assign(8) }
    #expect(player.theme.name == "dark")
    player.volume = 6
    #expect(Player().volume == 6)
  }

  @Test("a store keeps a value as its module's page shows")
  func preferenceStorage() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "modules-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "settings.preferences")

    let store = try FilePreferenceStore(url: file)
    try store.set(7, forKey: "volume")
    let volume = try store.value(Int.self, forKey: "volume")  // 7

    #expect(volume == 7)
  }
}
