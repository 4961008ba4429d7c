import Foundation
import PreferenceSpell
import PreferenceStorage
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

enum Constants {
  static let launches = Preference("launches", default: 0)
}

@Suite("The store of a @Preference", .registry) struct PreferenceStoreChoiceTests {
  var registry: InitializerRegistry { .current }

  @Test("is the one registered for the container's class, else for all")
  func perContainer() {
    final class Own { @Preference var nickname = "guest" }
    let (own, common) = (MemoryPreferenceStore(), MemoryPreferenceStore())
    use(common)
    registry.register((any PreferenceStore).self, in: Own.self) { _ in own }
    Own().nickname = "own"
    Settings().nickname = "common"
    #expect((try? own.value(String.self, forKey: "nickname")) == "own")
    #expect((try? common.value(String.self, forKey: "nickname")) == "common")
  }

  @Test("can be registered for one key by its name")
  func perName() {
    let secrets = MemoryPreferenceStore()
    use(MemoryPreferenceStore())
    registry.register((any PreferenceStore).self, named: "nickname") { secrets }
    let settings = Settings()
    settings.nickname = "Alex"
    settings.language = .dutch
    #expect(secrets.keys == ["nickname"])
  }

  @Test("is that of the registry that was current when the object was made")
  func captured() async {
    let (mine, store) = (InitializerRegistry(), MemoryPreferenceStore())
    mine.register((any PreferenceStore).self) { store }
    let settings = mine.run { Settings() }
    settings.nickname = "Alex"
    #expect(store.keys == ["nickname"])
  }

  @Test("of a static is that of the registry in force at each use", arguments: 1...5)
  func statics(number: Int) {
    use(MemoryPreferenceStore())
    #expect(Constants.launches.value == 0)
    Constants.launches.value = number
    #expect(Constants.launches.value == number)
    InitializerRegistry().run {
      let other = MemoryPreferenceStore()
      InitializerRegistry.current.register((any PreferenceStore).self) { other }
      #expect(Constants.launches.value == 0)
    }
    #expect(Constants.launches.value == number)
  }

  @Test(
    "if it can't be made: the default is read, the reason reported, nothing kept, and it is tried again",
    .timeLimit(.minutes(10)))
  func unavailable() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preference-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "settings.preferences")
    try Data("hello\n".utf8).write(to: file)
    registry.register((any PreferenceStore).self) { try FilePreferenceStore(url: file) }

    let settings = Settings()
    settings.nickname = "lost?"
    #expect(settings.nickname == "guest")
    #expect(settings.$nickname.error?.code == .notAPreferencesFile)
    #expect(try String(contentsOf: file, encoding: .utf8) == "hello\n")

    try FileManager.default.removeItem(at: file)
    while settings.$nickname.error?.code == .notAPreferencesFile {
      try await Task.sleep(for: .milliseconds(5))
    }
    settings.nickname = "kept"
    #expect(settings.$nickname.error == nil)
    #expect(try FilePreferenceStore(url: file).value(String.self, forKey: "nickname") == "kept")
  }

  @Test("that can't decode a value keeps it; the default is read and the mismatch reported until it is assigned")
  func mismatch() throws {
    let store = MemoryPreferenceStore()
    use(store)
    try store.set(7, forKey: "nickname")
    let settings = Settings()
    for _ in 0..<2 {
      #expect(settings.nickname == "guest")
      #expect(settings.$nickname.error?.code == .typeMismatch)
    }
    #expect(settings.$nickname.isSet)
    #expect(try store.value(Int.self, forKey: "nickname") == 7)
    settings.nickname = "Alex"
    #expect(settings.$nickname.error == nil)
  }
}

@Suite("A store that is registered in the wrong way") struct MisregisteredStoreTests {
  @Test("stops the program, which would else write to the person's own file", arguments: [true, false])
  func ownType(isInstance: Bool) async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [isInstance] in
      InitializerRegistry().run {
        if isInstance {
          InitializerRegistry.current.register(instance: MemoryPreferenceStore())
        } else {
          InitializerRegistry.current.register { MemoryPreferenceStore() }
        }
        Settings().nickname = "Alex"
      }
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("A MemoryPreferenceStore is registered as its own type"))
    #expect(message.contains("(any PreferenceStore).self"))
  }
}
