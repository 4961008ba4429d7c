import Foundation
import PreferenceSpell
import PreferenceStorage
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

enum Language: String, Codable, Sendable { case english, dutch }
struct Theme: Codable, Equatable, Sendable {
  var name = "light"
  var sizes: [Int] = []
}

class Settings {
  @Preference var nickname = "guest"
  @Preference var lastOpened: Date?
  @Preference("ui.theme") var theme = Theme()
  @Preference var language = Language.english
}
final class MoreSettings: Settings {
  @Preference private var nickname2 = "more"
  @Preference("nickname") private var same = "other default"
  var all: [String] { [nickname2, same] }
}

/// Registers a store for the test.
func use(_ store: some PreferenceStore) {
  InitializerRegistry.current.register((any PreferenceStore).self) { store }
}

@Suite("@Preference", .registry, .timeLimit(.hang)) struct PreferenceTests {
  let store = MemoryPreferenceStore()
  init() { use(store) }

  @Test("printed, the projection says the key, the value, the store and the place, and a store its keys")
  func descriptions() throws {
    let settings = Settings()
    settings.nickname = "Ada"
    let place = "declared at PreferenceSpellTests/PreferenceTests.swift:16"
    #expect("\(settings.$nickname)" == "\"nickname\": Ada, in MemoryPreferenceStore, \(place)")
    #expect("\(store)" == "MemoryPreferenceStore with keys [\"nickname\"]")
    let folder = try TemporaryFolder()
    let file = try FilePreferenceStore(url: folder.file())
    let preference = Preference("volume", default: 5, store: file)
    preference.value = 7
    #expect("\(file)" == "FilePreferenceStore at \(folder.file().path) with keys [\"volume\"]")
  }

  @Test("reads its default until it is set, and is stored under its name")
  func defaults() throws {
    let settings = Settings()
    #expect(settings.nickname == "guest")
    #expect(settings.lastOpened == nil)
    #expect(store.keys.isEmpty)
    settings.nickname = "Alex"
    settings.theme.sizes.append(12)
    settings.language = .dutch
    #expect(store.keys == ["nickname", "ui.theme", "language"])
    #expect(try store.value(String.self, forKey: "language") == "dutch")
    #expect(Settings().theme == Theme(name: "light", sizes: [12]))
  }

  @Test("an assignment doesn't replace what another process has just written and this one can't read")
  func undecodableMeanwhile() throws {
    let folder = try TemporaryFolder()
    let store = try FilePreferenceStore(url: folder.file(), followsOthers: false)
    let volume = Preference("volume", default: 5, store: store)
    volume.value = 7
    let other = try FilePreferenceStore(path: FilePath(folder.file().path), system: FileSystem())
    try other.set("loud", forKey: "volume")
    volume.value = 8
    #expect(volume.error?.code == .typeMismatch)
    #expect(volume.value == 5)
    try other.reload()
    #expect(try other.value(String.self, forKey: "volume") == "loud")
    try other.set(9, forKey: "volume")
    try store.reload()
    volume.value += 1
    #expect(volume.error == nil && volume.value == 10)
  }

  @Test("no assignment replaces a value that it can't read, however close another writer's is")
  func undecodableRace() async throws {
    let folder = try TemporaryFolder()
    let system = FileSystem()
    for round in 0..<repetitions(debug: 50, release: 200) {
      let file = folder.file("\(round % 10).preferences")
      let store = try FilePreferenceStore(url: file)
      let other = try FilePreferenceStore(path: FilePath(file.path), followsOthers: false, system: system)
      let volume = Preference("volume", default: 5, store: store)
      try volume.set(0)
      async let assigned: Void = {
        var failures = 0
        for number in 1...50 where failures < 3 {
          volume.value = number
          if volume.error != nil { failures += 1 }
        }
      }()
      try other.set("loud", forKey: "volume")
      await assigned
      try store.reload()
      #expect(try store.value(String.self, forKey: "volume") == "loud")
    }
  }

  @Test("a value that an older program sets under a former key is read, until the present key has one")
  func changedFormerKey() throws {
    let volume = Preference("volume", default: 5, formerly: "loudness")
    #expect(volume.value == 5)
    try store.set(3, forKey: "loudness")
    #expect(volume.value == 3)
    try store.set(4, forKey: "loudness")
    volume.value += 1
    #expect(volume.value == 5 && store.keys == ["volume"])
  }

  @Test("a value that was encoded under its own key is assigned and updated after a look at it")
  func encodedUnderItsOwnKey() throws {
    try store.set("{\"name\":\"dark\",\"sizes\":[1]}", forKey: "theme")
    let theme = Preference("theme", default: Theme(), formerly: .encoded("theme"))
    #expect(theme.value.name == "dark" && theme.error == nil)
    try theme.update(recovering: true) { $0.sizes.append(2) }
    #expect(theme.value == Theme(name: "dark", sizes: [1, 2]))
    try store.set("rubbish", forKey: "theme")
    theme.value = Theme()
    #expect(theme.error?.code == .typeMismatch)
    try store.set("{\"name\":\"dark\",\"sizes\":[1]}", forKey: "theme")
    theme.value.name = "light"
    #expect(theme.error == nil)
    #expect(try store.value(Theme.self, forKey: "theme") == Theme(name: "light", sizes: [1]))
    try store.set("rubbish", forKey: "theme")
    try theme.update(recovering: true) { $0.name = "new" }
    #expect(theme.value == Theme(name: "new"))
  }

  @Test("a value that equals the default is stored where it is assigned")
  func assignedDefault() {
    let settings = Settings()
    settings.nickname = "guest"
    #expect(settings.$nickname.isSet)
  }

  @Test("nil removes the value, and so does a reset")
  func removal() {
    let settings = Settings()
    settings.lastOpened = Date(timeIntervalSince1970: 1)
    #expect(Settings().lastOpened == Date(timeIntervalSince1970: 1))
    settings.lastOpened = nil
    settings.nickname = "Alex"
    settings.$nickname.reset()
    #expect(store.keys.isEmpty)
    #expect(settings.nickname == "guest")
    #expect(!settings.$nickname.isSet)
  }

  @Test("what another property, a transaction or the store itself writes is read at once")
  func otherWriters() throws {
    let (one, two) = (Settings(), Settings())
    #expect(one.nickname == "guest")
    two.nickname = "two"
    #expect(one.nickname == "two")
    try store.set("three", forKey: "nickname")
    #expect(one.nickname == "three")
    try store.transaction { try $0.set("four", forKey: "nickname") }
    #expect(one.nickname == "four")
    try store.removeAll()
    #expect(one.nickname == "guest")
  }

  @Test("properties of a superclass, private ones, and two with one key each read their own")
  func inheritance() {
    let settings = MoreSettings()
    #expect(settings.all == ["more", "other default"])
    settings.nickname = "Alex"
    #expect(settings.all == ["more", "Alex"])
    #expect(settings.$nickname.key == "nickname")
  }

  @Test("works in an actor, a main-actor class, a struct and a local")
  @MainActor func everywhere() async {
    actor Worker {
      @Preference var runs = 0
      func run() -> Int {
        runs += 1
        return runs
      }
    }
    let worker = Worker()
    #expect(await [worker.run(), worker.run()] == [1, 2])

    @MainActor final class Main { @Preference var title = "main" }
    let main = Main()
    main.title = "changed"
    #expect(Main().title == "changed")

    struct Options { @Preference("options.verbose") var verbose = false }
    let options = Options()
    options.verbose = true
    #expect(Options().verbose)

    @Preference("local") var local = 1
    local += 1
    #expect((try? store.value(Int.self, forKey: "local")) == 2)
  }

  @Test("a struct's property without a key stops the program, and says to give one")
  func structWithoutKey() async throws {
    struct Options { @Preference var verbose = false }
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Options().verbose
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("@Preference of type Bool"))
    #expect(message.contains("Give it a key"))
    #expect(message.contains("PreferenceTests.swift"))
  }

  @Test("a property without a default is assigned by the object's initializer, which the compiler demands")
  func noDefault() throws {
    final class Account {
      @Preference var token: String
      @Preference var limit: Int?
      init(user: String) { _token = Preference(wrappedValue: "none", "token.\(user)") }
    }
    let account = Account(user: "ada")
    #expect(account.token == "none" && account.limit == nil)
    account.token = "t"
    #expect(store.keys == ["token.ada"])
  }

  @Test("a value that was kept in encoded form is read, and the first assignment moves it to the present key")
  func encodedFormerKeys() throws {
    final class Moved {
      @Preference("theme", formerly: .encoded("theme.string")) var string = Theme()
      @Preference("two", formerly: .encoded("theme.data")) var data = Theme()
      @Preference("three", formerly: .encoded("theme.list")) var list = Theme()
      @Preference("four", formerly: .encoded("rubbish")) var rubbish = Theme()
      @Preference("same", formerly: .encoded("same")) var same = Theme()
    }
    let theme = Theme(name: "dark", sizes: [1])
    let json = try JSONEncoder().encode(theme)
    try store.set(String(decoding: json, as: UTF8.self), forKey: "theme.string")
    try store.set(json, forKey: "theme.data")
    try store.set(try PropertyListEncoder().encode(theme), forKey: "theme.list")
    try store.set("rubbish", forKey: "rubbish")
    try store.set(String(decoding: json, as: UTF8.self), forKey: "same")
    let moved = Moved()
    #expect([moved.string, moved.data, moved.list] == [theme, theme, theme])
    #expect(moved.same == theme)
    #expect(moved.rubbish == Theme())
    #expect(moved.$rubbish.error?.code == .typeMismatch)
    #expect(store.keys == ["theme.string", "theme.data", "theme.list", "rubbish", "same"])
    moved.data.name = "light"
    moved.same.name = "light"
    try moved.$list.update { $0.name = "light" }
    #expect([moved.data.name, moved.same.name, moved.list.name] == ["light", "light", "light"])
    #expect(Set(store.keys) == ["theme.string", "rubbish", "same", "two", "three"])
  }

  @Test("a former key's value is read while the present key has none, and moves with the first assignment")
  func formerKeys() throws {
    final class Renamed {
      @Preference("name", formerly: "nickname", "nick") var name = "guest"
    }
    try store.set("old", forKey: "nick")
    #expect(Renamed().name == "old")
    try store.set("older", forKey: "nickname")
    let renamed = Renamed()
    #expect(renamed.name == "older")
    #expect(renamed.$name.isSet)
    // Until then, an older version of the program can read its value.
    #expect(store.keys == ["nick", "nickname"])
    renamed.name += "!"
    #expect(Renamed().name == "older!")
    #expect(store.keys == ["name"])
    renamed.$name.reset()
    #expect(Renamed().name == "guest")
    #expect(store.keys == [])
  }

  @Test("a value that an assignment moves to the current key during a read is found")
  func valueMovedDuringARead() throws {
    let store = MovingStore()
    try store.set(7, forKey: "loudness")
    #expect(try Preference("volume", default: 5, store: store, formerly: "loudness").load() == 7)
  }

  @Test("an Optional whose default isn't nil can be set to nil, and reset to the default")
  func nilBesideADefault() throws {
    final class Settings { @Preference("limit") var limit: Int? = 5 }
    let settings = Settings()
    settings.limit = 7
    settings.limit = nil
    #expect(settings.limit == nil)
    #expect(Settings().limit == nil)
    try settings.$limit.update { $0 = ($0 ?? 0) + 1 }
    #expect(settings.limit == 1)
    try settings.$limit.update { $0 = nil }
    #expect(try settings.$limit.load() == nil)
    settings.$limit.reset()
    #expect(settings.limit == 5)
    #expect(!settings.$limit.isSet)
  }

  @Test("a stored nil is nil for whoever reads it: a later default of nil, and the store by a declared key")
  func storedNil() throws {
    let key = PreferenceKey<Int?>("limit", default: 5)
    let limit = Preference(key, store: store)
    limit.value = nil
    #expect(limit.value == nil)
    #expect(try store.value(for: key) == nil)
    let later = Preference<Int?>("limit", store: store)
    #expect(later.value == nil)
    #expect(later.error == nil)
    later.value = 7
    #expect(limit.value == 7)
    try store.set(nil, for: key)
    #expect(limit.value == nil)
    limit.value = 8
    try store.transaction { changes in
      try changes.set(nil, for: key)
      #expect(try changes.value(for: key) == nil)
    }
    #expect(limit.value == nil)
    try store.removeValue(for: key)
    #expect(limit.value == 5)
    try store.set(nil, for: PreferenceKey<Int?>("token"))
    #expect(store.keys == [])
  }

  @Test("many threads that read and write one property see only values that were written")
  func race() async {
    let constant = Preference("race", default: "start", store: store)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          constant.value = "value \(number)"
          let read = constant.value
          #expect(read.hasPrefix("value "))
        }
      }
    }
    #expect(constant.value.hasPrefix("value "))
  }
}

/// A store that moves the value of the key `loudness` to the key `volume` once it has read the latter.
private final class MovingStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  private let base = MemoryPreferenceStore()

  var keys: [String] { base.keys }

  func json(forKey key: String) -> String? {
    let json = base.json(forKey: key)
    if key == "volume" { _ = try? base.transaction { try $0.moveValue(forKey: "loudness", to: "volume") } }
    return json
  }

  func write(_ changes: [PreferenceChange]) { base.write(changes) }
}
