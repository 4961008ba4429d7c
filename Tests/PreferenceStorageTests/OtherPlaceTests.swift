import Foundation
import PreferenceStorage
import TestSupport
import Testing

/// Tests in which folders, links and older copies take the place of a file while a store has it open.
@Suite("In the place of the file", .timeLimit(.hang)) struct OtherPlaceTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  func stranger() throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
  }

  enum Other: CaseIterable, Sendable { case folder, link }

  func put(_ other: Other) throws {
    try FileManager.default.removeItem(at: file)
    switch other {
    case .folder: try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    case .link: try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "missing")
    }
  }

  @Test("a folder or a link makes reads and writes throw, also if it is put there at once", arguments: Other.allCases)
  func something(other: Other) async throws {
    let store = try stranger()
    try store.set(1, forKey: "a")
    try put(other)
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

  @Test("a folder or a link is noticed, also by a write", arguments: Other.allCases)
  func noticed(other: Other) async throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    for _ in 0..<2 { _ = try store.value(Int.self, forKey: "a") }
    try put(other)
    while (try? store.value(Int.self, forKey: "a")) != nil { try await Task.sleep(for: .milliseconds(1)) }
    let other = try FilePreferenceStore(url: folder.file("other"), followsOthers: false)
    try other.set(1, forKey: "a")
    try FileManager.default.removeItem(at: folder.file("other"))
    try FileManager.default.createDirectory(at: folder.file("other"), withIntermediateDirectories: false)
    #expect(throws: PreferenceError.self) { try other.set(2, forKey: "a") }
    #expect(throws: PreferenceError.self) { _ = try other.value(Int.self, forKey: "a") }
  }

  @Test(
    "an older copy is reported: after the file was removed, or compacted by another process",
    arguments: [true, false], ["", "{\"a\":1}\n"])
  func olderCopy(isRemoved: Bool, copied: String) async throws {
    let store = try stranger()
    var errors = store.errors.makeAsyncIterator()
    try store.set(2, forKey: "a")
    if isRemoved {
      try FileManager.default.removeItem(at: file)
      try store.reload()
      #expect(store.keys.isEmpty)
    } else {
      try stranger().compact()
    }
    let copy = folder.file("copy")
    try copy.overwrite("#preferences 1\n\(copied)")
    if !isRemoved { try FileManager.default.removeItem(at: file) }
    try FileManager.default.moveItem(at: copy, to: file)
    try store.reload()
    #expect(await errors.next()?.code == .overwritten)
  }

  @Test("a compaction by another process, and what that one sets, isn't reported")
  func compacted() async throws {
    let store = try stranger()
    var errors = store.errors.makeAsyncIterator()
    try store.set(1, forKey: "b")
    try store.set(2, forKey: "a")
    let other = try stranger()
    try other.compact()
    try other.set(3, forKey: "a")
    try store.reload()
    #expect(try store.value(Int.self, forKey: "a") == 3)
    // The first error that is reported comes from this change.
    try file.overwrite("#preferences 1\n{\"b\":2}\n")
    try store.reload()
    #expect(try #require(await errors.next()).description.contains("of 1 keys"))
  }
}
