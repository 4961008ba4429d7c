import Foundation
import Observation
import SpellTesting
import Spellbook
import Synchronization
import TestSupport
import Testing

/// The code samples of the article with this name.
@Suite("Preferences", .registry, .timeLimit(.hang)) struct Preferences {
  let store = MemoryPreferenceStore()
  init() { InitializerRegistry.current.register(.instance(store as any PreferenceStore)) }

  struct Theme: Codable, Sendable, Equatable { var name = "light" }

  final class Settings {
    @Preference var nickname = "guest"
    @Preference var lastOpened: Date?
    @Preference("ui.theme") var theme = Theme()
    @Preference("volume", formerly: "loudness") var volume = 5
  }
  struct Options { @Preference("options.verbose") var verbose = false }
  enum Shared { static let launches = Preference("launches", default: 0) }

  @Test("two classes share the value of one key, and another key has its own value")
  func keys() {
    final class Player { @Preference var volume = 5 }
    final class Alarm { @Preference var volume = 8 }

    Player().volume = 3
    #expect(Alarm().volume == 3)

    final class Timer { @Preference("timer.volume") var volume = 8 }

    #expect(Timer().volume == 8)
  }

  @Test("code that needs a store asks for an Optional, and has the standard store if none is registered")
  func storeOfTheProgram() throws {
    let registry = InitializerRegistry.current
    let store =
      try registry.resolve((any PreferenceStore)?.self)
      ?? FilePreferenceStore.standard
    #expect(store as AnyObject === self.store)
    #expect(try InitializerRegistry().resolve((any PreferenceStore)?.self) == nil)
  }

  @Test("have declared keys, and keys that an initializer chooses")
  func declaredKeys() throws {
    final class Player { @Preference(.volume) var volume }
    final class Account {
      @Preference var token: String
      init(user: String) {
        _token = Preference(wrappedValue: "none", "token.\(user)")
      }
    }

    try store.set(8, for: .volume)
    let volume = try store.value(for: .volume)

    #expect(volume == 8 && Player().volume == 8)
    #expect(Account(user: "ada").token == "none")
    Account(user: "ada").token = "t"
    #expect(store.keys == ["volume", "token.ada"])
  }

  @Test("make their defaults once, and can keep them")
  func madeDefault() throws {
    final class Program { @Preference var install = UUID() }
    let program = Program()
    let install = program.install

    try program.$install.update { _ in }

    #expect(try store.value(UUID.self, forKey: "install") == install)
  }

  @Test("are overridden for a run")
  func overrides() throws {
    let registry = InitializerRegistry.current
    let base = self.store

    let store = OverridingPreferenceStore(
      .arguments(), .environment(prefix: "APP"), over: base)
    registry.register(.instance(store as any PreferenceStore))

    Settings().volume = 6
    #expect(try base.value(Int.self, forKey: "volume") == 6 && Settings().volume == 6)
  }

  @Test("change their types")
  func evolution() throws {
    struct Look: Codable, Equatable {
      var name = "light"
      var accent: String?
    }

    let json = Data(#"{"name":"dark"}"#.utf8)
    #expect(try JSONDecoder().decode(Look.self, from: json) == Look(name: "dark"))
    #expect(try JSONDecoder().decode(Palette.self, from: json) == Palette(name: "dark", accent: "blue"))
    try store.set("dark", forKey: "theme")
    try store.set(3, forKey: "loudness")

    try store.migrate(to: 2) { version, changes in
      if version < 1 {
        try changes.moveValue(forKey: "loudness", to: "volume")
      }
      if version < 2 {
        let name = try changes.value(String.self, forKey: "theme")
        try changes.set(Look(name: name ?? "light"), forKey: "look")
      }
    }

    #expect(try store.value(Look.self, forKey: "look") == Look(name: "dark"))
    #expect(try store.value(Int.self, forKey: "volume") == 3)
    #expect(store.keys.contains("theme"))
  }

  @Test("hand on their parts")
  func parts() throws {
    let settings = Settings()

    let name = settings.$theme.name
    name.value = "dark"
    try settings.$theme.name.update { $0 += "er" }

    #expect(settings.theme == Theme(name: "darker"))
  }

  @Test("are observed")
  func observation() {
    let player = Mixer()
    let isNoticed = Mutex(false)

    withObservationTracking {
      _ = player.volume
    } onChange: {
      isNoticed.withLock { $0 = true }
    }
    Mixer().volume = 9

    #expect(isNoticed.withLock { $0 })
  }

  @Test("are shared in memory, and observed")
  func memory() throws {
    final class Session {
      @Preference var unread = 0
      @Preference var query = ""
    }
    let registry = InitializerRegistry.current

    let memory = MemoryPreferenceStore()
    registry.register(
      .instance(memory as any PreferenceStore).in(Session.self))
    Session().unread += 1
    #expect(Session().unread == 1)

    let session = Session()
    let isNoticed = Mutex(false)
    withObservationTracking {
      _ = session.query
    } onChange: {
      isNoticed.withLock { $0 = true }
    }
    Session().query = "tea"
    #expect(isNoticed.withLock { $0 })
    #expect(memory.keys == ["unread", "query"] && store.keys.isEmpty)
  }

  @Test("are a part of a store with a prefix")
  func prefix() throws {
    let windows = PrefixedPreferenceStore("windows.", in: store)
    try windows.set(2, forKey: "count")

    #expect(store.keys == ["windows.count"])
  }

  @Test("are declared as properties")
  func declaration() throws {
    try store.set(9, forKey: "loudness")

    let settings = Settings()
    settings.nickname = "Ada"
    settings.theme.name = "dark"
    settings.lastOpened = nil
    try Shared.launches.update { $0 += 1 }

    #expect(Settings().nickname == "Ada")
    #expect(Settings().volume == 9)
    #expect(store.keys == ["loudness", "nickname", "ui.theme", "launches"])
    #expect(!Options().verbose)
  }

  @Test("offer through $ what a property cannot")
  func projection() async throws {
    let settings = Settings()

    try settings.$volume.update { $0 += 1 }
    try settings.$nickname.set("Grace")
    let volume = try settings.$volume.load()
    settings.$nickname.reset()

    #expect(volume == 6)
    #expect(settings.nickname == "guest")
    #expect(settings.$volume.isSet)
    #expect(settings.$volume.key == "volume")
    #expect(settings.$nickname.error == nil)
  }

  @Test("report each change")
  func values() async throws {
    let settings = Settings()
    settings.volume = 6

    var seen: [Int] = []
    for await volume in settings.$volume.values {
      seen.append(volume)
      if volume == 7 { break }
      settings.volume += 1
    }

    #expect(seen == [6, 7])
  }

  @Test("are in a file that the program names")
  func file() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "settings.preferences")

    let store = try FilePreferenceStore(url: file, durability: .synced)
    InitializerRegistry.current.register(.instance(store as any PreferenceStore))
    Settings().volume = 7

    #expect(try String(contentsOf: file, encoding: .utf8).hasSuffix(" {\"volume\":7}\n"))
  }

  @Test("change together in a transaction")
  func transaction() throws {
    try store.transaction { changes in
      let launches = try changes.value(Int.self, forKey: "launches") ?? 0
      try changes.set(launches + 1, forKey: "launches")
      changes.removeValue(forKey: "draft")
    }

    #expect(Shared.launches.value == 1)
  }

  @Test("can't be read as another type, and stay as they are")
  func mismatch() throws {
    try store.set("loud", forKey: "volume")
    let settings = Settings()

    #expect(settings.volume == 5)
    #expect(settings.$volume.error?.code == .typeMismatch)
    #expect(try store.value(String.self, forKey: "volume") == "loud")
  }
}

extension PreferenceKeys {
  static let volume = PreferenceKey("volume", default: 5)
}

@Observable final class Mixer {
  @ObservationIgnored @Preference(.volume) var volume
}

final class DictionaryStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  private let values = Mutex<[(key: String, json: String)]>([])

  var keys: [String] { values.withLock { $0.map(\.key) } }

  func json(forKey key: String) -> String? {
    values.withLock { $0.first { $0.key == key }?.json }
  }

  func write(_ changes: [PreferenceChange]) {
    values.withLock { values in
      for change in changes {
        let place = values.firstIndex { $0.key == change.key }
        switch (change.json, place) {
        case (let json?, let place?): values[place].json = json
        case (let json?, nil): values.append((change.key, json))
        case (nil, let place?): values.remove(at: place)
        case (nil, nil): break
        }
      }
    }
  }
}

struct Palette: Codable, Equatable {
  var name = "light"
  var accent = "blue"
  enum CodingKeys: CodingKey { case name, accent }
}

extension Palette {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    name = try values.decode(String.self, forKey: .name)
    accent =
      try values.decodeIfPresent(String.self, forKey: .accent)
      ?? "blue"
  }
}
