import Foundation
import PreferenceStorage
import TestSupport
import Testing

/// Tests in which something else takes the place of a file while a store has it open.
@Suite("In the place of the file", .timeLimit(.hang)) struct OtherPlaceTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  func stranger() throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
  }

  func putFolder() throws {
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
  }

  @Test("a folder makes reads and writes throw, also if it is put there at once")
  func something() async throws {
    let store = try stranger()
    try store.set(1, forKey: "a")
    try putFolder()
    #expect(throws: PreferenceError.self) { try store.reload() }
    #expect(throws: PreferenceError.self) { _ = try store.value(Int.self, forKey: "a") }
    #expect(store.keys.isEmpty)
    #expect(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
    try FileManager.default.removeItem(at: file)
    try store.set(3, forKey: "a")
    #expect(try store.value(Int.self, forKey: "a") == 3)
  }

  @Test("an error of reading an empty store ends with its cause, though the file is as before", arguments: 0..<3)
  func temporary(number: Int) throws {
    let (inner, away) = (folder.url.appending(path: "inner"), folder.url.appending(path: "away"))
    let path = FilePath(inner.appending(path: "store.preferences").path)
    let store = try FilePreferenceStore(path: path, followsOthers: false, system: FileSystem())
    try store.set(1, forKey: "a")
    try store.removeAll()
    try FileManager.default.moveItem(at: inner, to: away)
    try folder.write("a file", to: "inner")
    #expect(throws: PreferenceError.self) { try store.reload() }
    #expect(throws: PreferenceError.self) { _ = try store.json(forKey: "a") }
    try FileManager.default.removeItem(at: inner)
    try FileManager.default.moveItem(at: away, to: inner)
    switch number {
    case 0: try store.reload()
    case 1: try store.removeValue(forKey: "a")
    default: #expect(try store.transaction { try $0.value(Int.self, forKey: "a") } == nil)
    }
    #expect(try store.json(forKey: "a") == nil)
  }

  @Test("a folder is noticed, also by a write")
  func noticed() async throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    for _ in 0..<2 { _ = try store.value(Int.self, forKey: "a") }
    try putFolder()
    while (try? store.value(Int.self, forKey: "a")) != nil { try await Task.sleep(for: .milliseconds(1)) }
    let other = try FilePreferenceStore(url: folder.file("other"), followsOthers: false)
    try other.set(1, forKey: "a")
    try FileManager.default.removeItem(at: folder.file("other"))
    try FileManager.default.createDirectory(at: folder.file("other"), withIntermediateDirectories: false)
    #expect(throws: PreferenceError.self) { try other.set(2, forKey: "a") }
    #expect(throws: PreferenceError.self) { _ = try other.value(Int.self, forKey: "a") }
  }
}
