import Foundation
import TestSupport
import Testing

@testable import PreferenceStorage

@Suite("Compaction", .timeLimit(.hang)) struct CompactionTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  @Test("overwriting one key of ten again and again never makes the file larger than 300 KB")
  func bounded() throws {
    let store = try FilePreferenceStore(url: file)
    for key in 0..<10 { try store.set(key, forKey: "key \(key)") }
    let turns = repetitions(debug: 20_000, release: 100_000)
    var largest = 0
    let system = FileSystem()
    for turn in 0..<turns {
      try store.set(turn, forKey: "key 5")
      largest = max(largest, try system.snapshot(atPath: FilePath(file.path)).size)
    }
    #expect(largest < 300_000)
    #expect(try folder.names == [file.lastPathComponent])
    let again = try FilePreferenceStore(path: FilePath(file.path), system: system)
    #expect(again.keys == (0..<10).map { "key \($0)" })
    #expect(try again.value(Int.self, forKey: "key 5") == turns - 1)
    #expect(try file.mode == 0o600)
  }

  @Test("a file whose values were removed, or replaced by shorter ones, is compacted by the same or the next write")
  func shrunk() throws {
    let store = try FilePreferenceStore(url: file)
    for key in 0..<100 { try store.set(String(repeating: "x", count: 10_000), forKey: "key \(key)") }
    try store.removeAll()
    #expect(try file.text == "#preferences 1\n")
    try store.set(String(repeating: "x", count: 1_000_000), forKey: "large")
    try store.set(1, forKey: "large")
    #expect(try file.contents.count < 100)
    #expect(try store.value(Int.self, forKey: "large") == 1)
  }

  @Test("erases what was removed or replaced, also through a prefixed store", arguments: [false, true])
  func erasing(isPrefixed: Bool) throws {
    let base = try FilePreferenceStore(url: file)
    let store: any PreferenceStore = isPrefixed ? PrefixedPreferenceStore("api.", in: base) : base
    try store.set("hunter2", forKey: "token")
    try store.removeValue(forKey: "token")
    try store.set("s3cret", forKey: "word")
    try store.set("public", forKey: "word")
    #expect(try file.text.contains("hunter2"))
    try store.compact()
    let text = try file.text
    #expect(!text.contains("hunter2") && !text.contains("s3cret"))
    #expect(try store.value(String.self, forKey: "word") == "public")
    try MemoryPreferenceStore(["volume": 7]).compact()
  }

  @Test("other stores follow to the new file, and lose nothing")
  func followed() throws {
    let one = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    let two = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    let large = String(repeating: "x", count: 50_000)
    for turn in 0..<40 {
      try one.set("\(turn)\(large)", forKey: "one")
      try two.set(turn, forKey: "two \(turn)")
    }
    try one.reload()
    #expect(one.keys == ["one"] + (0..<40).map { "two \($0)" })
    #expect(one.keys == two.keys)
    #expect(try file.contents.count < 500_000)
  }

  @Test("takes over the lines that another program appends meanwhile, without the lock")
  func appendedMeanwhile() async throws {
    let disk = AppendedDisk(path: FilePath(file.path))
    let store = try FilePreferenceStore(path: FilePath(file.path), system: disk)
    var changes = store.changes().makeAsyncIterator()
    try store.set(1, forKey: "a")
    try store.set(2, forKey: "a")
    disk.isAppending = true
    try store.compact()
    disk.isAppending = false
    #expect(disk.count == 2)
    let other = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    #expect(other.json() == "{\n  \"a\": 2,\n  \"e1\": 1,\n  \"e2\": 2\n}\n")
    #expect(store.json() == other.json() && other.recovery == nil)
    #expect(try !file.text.contains("\"a\":1"))
    #expect(await changes.next()?.isSuperset(of: ["e1", "e2"]) == true)
    #expect(try folder.names == [file.lastPathComponent])
  }

  /// A disk on which another program appends a line while a new file is synchronized, twice.
  ///
  /// `@unchecked Sendable`: one thread uses it.
  private final class AppendedDisk: FileSystem, @unchecked Sendable {
    let path: FilePath
    var isAppending = false
    var count = 0

    init(path: FilePath) { self.path = path }

    override func synchronize(_ file: Int32) throws(SystemError) {
      try super.synchronize(file)
      guard isAppending, count < 2 else { return }
      count += 1
      try appendLine("{\"e\(count)\":\(count)}", to: path)
    }
  }

  @Test("removes what a compaction that was killed has left, and nothing else")
  func leftovers() throws {
    let store = try FilePreferenceStore(url: file)
    try folder.file("store.preferences.rewriting").overwrite("left")
    let others = [
      "store.preferences.new", "store.preferences.rewriting-1", "store.preferences.rewritings",
    ]
    for name in others { try folder.file(name).overwrite("not ours") }
    let large = String(repeating: "x", count: 100_000)
    for turn in 0..<8 { try store.set("\(turn)\(large)", forKey: "a") }
    #expect(try folder.names == ["store.preferences"] + others)
  }

  @Test("keeps the file's permissions")
  func permissions() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
    let large = String(repeating: "x", count: 100_000)
    for turn in 0..<8 { try store.set("\(turn)\(large)", forKey: "b") }
    #expect(try file.contents.count < 400_000)
    #expect(try file.mode == 0o640)
  }

  @Test("a file with a second name only grows, under both names, which is reported once and by compact()")
  func secondName() async throws {
    let one = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem(), compactingAbove: 300)
    try one.set(0, forKey: "both")
    let second = folder.file("second")
    try FileManager.default.linkItem(at: file, to: second)
    let errors = one.errors
    for turn in 0..<100 { try one.set(turn, forKey: "both") }
    let two = try FilePreferenceStore(path: FilePath(second.path), system: FileSystem())
    #expect(try two.value(Int.self, forKey: "both") == 99)
    try two.set(100, forKey: "both")
    try one.reload()
    #expect(try one.value(Int.self, forKey: "both") == 100)
    #expect(code { try one.compact() } == .unwritable)
    #expect(try second.text == file.text && folder.names == ["second", file.lastPathComponent])
    one.reportError(PreferenceError(.invalidKey, "the last one"))
    var codes: [PreferenceError.Code] = []
    for await error in errors {
      codes.append(error.code)
      if error.code == .invalidKey { break }
      #expect(error.description.contains("it only grows"))
    }
    #expect(codes == [.unwritable, .invalidKey])
  }

  @Test("a file of 100 MB is read, and compacted at the next write", .enabled(if: Effort.isLong))
  func largeFile() throws {
    var content = Data("#preferences 1\n".utf8)
    let lines = Data(
      (0..<1000).map { "{\"key \($0)\":\"\(String(repeating: "x", count: 90))\"}\n" }.joined().utf8)
    while content.count < 100_000_000 { content.append(lines) }
    try content.write(to: file)
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys.count == 1000)
    try store.set(1, forKey: "a")
    #expect(try file.contents.count < 200_000)
    #expect(store.recovery == nil)
  }
}

/// Appends a line without the file's lock, as another program may.
private func appendLine(_ line: String, to path: FilePath) throws(SystemError) {
  let system = FileSystem()
  let file = try system.open(path, for: .appending)
  defer { system.close(file) }
  try system.writeAll(Array("\(line)\n".utf8), to: file)
}
