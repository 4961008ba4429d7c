import Foundation
import TestSupport
import Testing

@testable import PreferenceStorage

@Suite("The standard store") struct StandardStoreTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  #if !canImport(Darwin)
    @Test("is in the first folder that the environment names with an absolute path, under the process's name")
    func place() {
      let home = FileManager.default.homeDirectoryForCurrentUser.path
      func path(_ environment: [String: String]) -> String {
        let (path, folder) = FilePreferenceStore.standardPlace(environment: environment, process: "app")
        #expect(folder == (environment["PREFERENCES_FOLDER"] == "/data" ? .trusted : .private))
        return path
      }
      #expect(path(["XDG_CONFIG_HOME": "/etc/x"]) == "/etc/x/app/settings.preferences")
      #expect(path(["XDG_CONFIG_HOME": "relative"]) == "\(home)/.config/app/settings.preferences")
      #expect(path(["HOME": "/home/ada"]) == "/home/ada/.config/app/settings.preferences")
      let states = ["STATE_DIRECTORY": "/var/lib/one:/var/lib/two"]
      #expect(path(states) == "/var/lib/one/app/settings.preferences")
      #expect(path(states.merging(["HOME": "/"]) { $1 }) == "/var/lib/one/app/settings.preferences")
      #expect(path(states.merging(["HOME": "/home/ada"]) { $1 }) == "/home/ada/.config/app/settings.preferences")
      let all = states.merging(["HOME": "/home/ada", "XDG_CONFIG_HOME": "/etc/x"]) { $1 }
      #expect(path(all) == "/etc/x/app/settings.preferences")
      #expect(path(all.merging(["PREFERENCES_FOLDER": "/data"]) { $1 }) == "/data/app/settings.preferences")
      #expect(path(all.merging(["PREFERENCES_FOLDER": "data"]) { $1 }) == "/etc/x/app/settings.preferences")
      #expect(path([:]) == "\(home)/.config/app/settings.preferences")
    }
  #endif

  @Test("makes nothing before it is written to")
  func untouched() throws {
    let file = folder.url.appending(path: "new/app/store.preferences")
    let store = FilePreferenceStore.opening(FilePath(file.path))
    #expect(try store.value(Int.self, forKey: "a") == nil)
    #expect(store.keys.isEmpty)
    #expect(try folder.names.isEmpty)
    try store.set(1, forKey: "a")
    #expect(try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).keys == ["a"])
  }

  @Test("is not what properties have under a test runner, so that tests don't write to a person's file")
  func underTestRunner() {
    #expect(MemoryPreferenceStore.sharedInTests != nil)
  }

  @Test("that could not be opened is tried again by reads, and has what is there then", .timeLimit(.hang))
  func openedLater() async throws {
    let file = folder.file()
    try file.overwrite("another program's\n")
    let store = FilePreferenceStore.opening(FilePath(file.path))
    let changes = store.changes()
    #expect(throws: PreferenceError.self) { try store.value(Int.self, forKey: "a") }
    // The write is atomic, because a store may look at any moment.
    try Data("#preferences 1\n{\"a\":100}\n".utf8).write(to: file, options: .atomic)
    while code({ _ = try store.value(Int.self, forKey: "a") }) == .notAPreferencesFile {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(try store.value(Int.self, forKey: "a") == 100)
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == ["a"])
  }

  @Test("throws at every read and write why it could not be opened, and tries again")
  func unopened() throws {
    let file = folder.file()
    try file.overwrite("another program's\n")
    let store = FilePreferenceStore.opening(FilePath(file.path))
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
      FilePath(inTheWay.appending(path: "settings.preferences").path))
    #expect(throws: PreferenceError.self) { try store.value(Int.self, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.set(1, forKey: "a") }
    try FileManager.default.removeItem(at: inTheWay)
    try store.reload()
    #expect(try store.value(Int.self, forKey: "a") == nil)
    try store.set(1, forKey: "a")
    #expect(try store.value(Int.self, forKey: "a") == 1)
  }

  @Test("says which variables choose another folder if its folder can't be made, and no other store does")
  func variables() throws {
    let inTheWay = folder.url.appending(path: "app")
    try inTheWay.overwrite("a file")
    let path = FilePath(inTheWay.appending(path: "settings.preferences").path)
    let store = FilePreferenceStore.opening(path, isStandard: true)
    let reading = try #require(throws: PreferenceError.self) { try store.value(Int.self, forKey: "a") }
    let writing = try #require(throws: PreferenceError.self) { try store.set(1, forKey: "a") }
    let other = try #require(throws: PreferenceError.self) {
      try FilePreferenceStore(url: inTheWay.appending(path: "other"))
    }
    #expect(reading.description.contains(FilePreferenceStore.variables))
    #expect(writing.description.contains(FilePreferenceStore.variables))
    #expect(!other.description.contains(FilePreferenceStore.variables))
  }

  @Test("says once on standard error that it can't be opened, as properties don't throw")
  func complaint() async throws {
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let folder = try TemporaryFolder()
        let inTheWay = folder.url.appending(path: "app")
        try inTheWay.overwrite("a file")
        for name in ["one", "other"] {
          _ = FilePreferenceStore.opening(FilePath(inTheWay.appending(path: name).path), isStandard: true)
        }
        withExtendedLifetime(folder) {}
      })
    let message = text(result.standardErrorContent)
    #expect(message.ranges(of: "The program's preferences can't be kept: ").count == 1)
    #expect(message.contains("/app/one: "))
  }

  @Test("a relative path is resolved when the store is made")
  func relativePath() throws {
    let location = FileLocation("./store.preferences")
    #expect(location.path.isAbsolute)
    #expect(location.path.name == "store.preferences")
  }
}
