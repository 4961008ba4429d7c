import Foundation
import Testing

@testable import PreferenceStorage

@Suite("The standard store") struct StandardStoreTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  #if !canImport(Darwin)
    @Test("is in $XDG_CONFIG_HOME where that is absolute, else in ~/.config, under the process's name")
    func place() {
      let home = FileManager.default.homeDirectoryForCurrentUser.path
      func path(_ environment: [String: String]) -> String {
        FilePreferenceStore.standardPath(environment: environment, process: "app")
      }
      #expect(path(["XDG_CONFIG_HOME": "/etc/x"]) == "/etc/x/app/settings.preferences")
      #expect(path(["XDG_CONFIG_HOME": "relative"]) == "\(home)/.config/app/settings.preferences")
      #expect(path([:]) == "\(home)/.config/app/settings.preferences")
    }
  #endif

  @Test("throws at every read and write why it could not be opened, and tries again")
  func unopened() throws {
    let file = folder.file()
    try file.overwrite("another program's\n")
    let store = FilePreferenceStore.opening(FilePath(file.path), in: PosixFileSystem())
    for _ in 0..<2 {
      let reading = try #require(throws: PreferenceError.self) { try store.value(Int.self, forKey: "a") }
      #expect(reading.code == .notAPreferencesFile)
      let writing = try #require(throws: PreferenceError.self) { try store.set(1, forKey: "a") }
      #expect(writing.code == .notAPreferencesFile)
      #expect(store.keys.isEmpty)
    }
    try file.overwrite("#preferences 1\n{\"b\":2}\n")
    try store.set(1, forKey: "a")
    #expect(try store.value(Int.self, forKey: "a") == 1)
    #expect(store.keys == ["b", "a"])
  }

  @Test("in a folder that can't be made throws, and works once it can be")
  func noFolder() throws {
    let inTheWay = folder.url.appending(path: "app")
    try inTheWay.overwrite("a file")
    let store = FilePreferenceStore.opening(
      FilePath(inTheWay.appending(path: "settings.preferences").path), in: PosixFileSystem())
    #expect(throws: PreferenceError.self) { try store.value(Int.self, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.set(1, forKey: "a") }
    try FileManager.default.removeItem(at: inTheWay)
    try store.reload()
    #expect(try store.value(Int.self, forKey: "a") == nil)
    try store.set(1, forKey: "a")
    #expect(try store.value(Int.self, forKey: "a") == 1)
  }

  @Test("a relative path is resolved when the store is made")
  func relativePath() throws {
    let location = try FileLocation(resolving: "store.preferences", in: PosixFileSystem())
    #expect(location.path.isAbsolute)
    #expect(location.path.name == "store.preferences")
  }
}
