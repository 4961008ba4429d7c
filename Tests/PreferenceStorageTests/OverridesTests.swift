import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("Overrides") struct OverridesTests {
  let base = MemoryPreferenceStore()

  func store(_ overrides: PreferenceOverrides...) -> OverridingPreferenceStore {
    switch overrides.count {
    case 1: OverridingPreferenceStore(overrides[0], over: base)
    default: OverridingPreferenceStore(overrides[0], overrides[1], over: base)
    }
  }

  @Test("of the arguments are pairs of a key with one hyphen and a value, of which the last counts")
  func arguments() throws {
    let store = store(
      .arguments([
        "player", "-volume", "8", "-ui.theme", "dark", "--verbose", "-x", "-offset", "-5", "file", "-volume", "9", "-y",
        "--", "-late", "1",
      ]))
    #expect(try store.value(Int.self, forKey: "volume") == 9)
    #expect(try store.value(String.self, forKey: "ui.theme") == "dark")
    #expect(try store.value(Int.self, forKey: "offset") == -5)
    for key in ["x", "y", "late", "-verbose", "player", "file"] { #expect(try store.json(forKey: key) == nil) }
  }

  @Test("of the environment have the key's words in capitals", arguments: ["APP", "APP_"])
  func environment(prefix: String) throws {
    let store = store(
      .environment(
        prefix: prefix,
        ["APP_VOLUME": "8", "APP_UI_LAST_OPENED": "1.5", "APP_BASE_URL": "a b", "APP_HTTP_SERVER2": "2", "VOLUME": "1"])
    )
    #expect(try store.value(Int.self, forKey: "volume") == 8)
    #expect(try store.value(Double.self, forKey: "ui.lastOpened") == 1.5)
    #expect(try store.value(String.self, forKey: "baseURL") == "a b")
    #expect(try store.value(Int.self, forKey: "HTTPServer2") == 2)
    #expect(try store.json(forKey: "app") == nil)
  }

  @Test("are read as the type that the reader asks for, and otherwise say where they are, but not what")
  func types() throws {
    enum Theme: String, Codable { case dark }
    let store = store(
      .arguments(
        [
          "", "-a", "12", "-b", "YES", "-c", "off", "-d", "dark", "-e", "[1,2]", "-f", "null", "-g", "s3cret", "-h",
          "\"7\"",
        ]))
    try base.set("stored", forKey: "f")
    #expect(try store.value(String.self, forKey: "a") == "12")
    #expect(try store.value(String?.self, forKey: "a") == "12")
    #expect(try store.value(Bool.self, forKey: "b") == true)
    #expect(try store.value(String.self, forKey: "b") == "YES")
    #expect(try store.value(Bool.self, forKey: "c") == false)
    #expect(try store.value(Theme.self, forKey: "d") == .dark)
    #expect(try store.value([Int].self, forKey: "e") == [1, 2])
    #expect(try store.value(String.self, forKey: "f") == nil)
    #expect(try store.value(String.self, forKey: "h") == "7")
    let error = try #require(throws: PreferenceError.self) { _ = try store.value(Int.self, forKey: "g") }
    #expect(error.code == .typeMismatch && error.key == "g")
    #expect("\(error)".contains("the argument -g") && !"\(error)".contains("s3cret"))
  }

  @Test("of the first that has the key win, and are never written, not even by a transaction")
  func writing() throws {
    let folder = try TemporaryFolder()
    let file = try FilePreferenceStore(url: folder.file())
    try file.set(3, forKey: "volume")
    let store = OverridingPreferenceStore(
      PreferenceOverrides(["volume": 8]), .arguments(["", "-volume", "1", "-name", "Ada"]), over: file)
    #expect(try store.value(Int.self, forKey: "volume") == 8 && store.json(forKey: "name") == "\"Ada\"")
    try store.transaction { changes in
      let volume = try changes.value(Int.self, forKey: "volume") ?? 0
      try changes.set(volume + 1, forKey: "volume")
    }
    #expect(try file.value(Int.self, forKey: "volume") == 4)
    // This value equals the override, but not the value in the file.
    try store.set(8, forKey: "volume")
    #expect(try file.value(Int.self, forKey: "volume") == 8)
    try store.set(2, forKey: "volume")
    #expect(try store.value(Int.self, forKey: "volume") == 8 && file.value(Int.self, forKey: "volume") == 2)
    try store.removeAll()
    #expect(store.keys == [] && file.keys == [])
    #expect(try store.value(Int.self, forKey: "volume") == 8)
    #expect(try !String(contentsOf: folder.file(), encoding: .utf8).contains("Ada"))
    #expect("\(store)" == "\(file), overridden by the program, the argument -name, the argument -volume")
  }

  @Test("reach through a prefix")
  func prefix() throws {
    let part = PrefixedPreferenceStore("ui.", in: store(.environment(prefix: "A", ["A_UI_WIDE": "YES"])))
    #expect(try part.value(Bool.self, forKey: "wide") == true)
    try part.set(false, forKey: "wide")
    #expect(try part.value(Bool.self, forKey: "wide") == true && base.json(forKey: "ui.wide") == "false")
  }

  @Test("are not read by a transaction through prefixes, which would write them")
  func prefixedTransaction() throws {
    try base.set(1, forKey: "ui.window.count")
    let window = PrefixedPreferenceStore(
      "window.", in: PrefixedPreferenceStore("ui.", in: store(PreferenceOverrides(["ui.window.count": 8]))))
    try window.transaction { changes in
      #expect(changes.keys == ["count"])
      try changes.set((changes.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
      #expect(changes.changes.map(\.json) == ["2"])
    }
    #expect(try window.value(Int.self, forKey: "count") == 8 && base.json() == "{\n  \"ui.window.count\": 2\n}\n")
  }
}
