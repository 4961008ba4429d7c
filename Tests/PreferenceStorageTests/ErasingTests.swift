import Foundation
import PreferenceStorage
import Synchronization
import TestSupport
import Testing

extension PreferenceKeys {
  fileprivate static let token = PreferenceKey<String?>("token").erasing
  fileprivate static let volume = PreferenceKey("volume", default: 5)
}

@Suite("A key whose former values are erased") struct ErasingTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  func lineCount() throws -> Int { try file.text.split(separator: "\n").count }

  @Test(
    "leaves nothing of a value that was replaced, removed, or changed in a transaction", arguments: [false, true],
    ["", "prefix."])
  func erased(inTransaction: Bool, prefix: String) throws {
    let base = try FilePreferenceStore(url: file)
    let store: any PreferenceStore =
      prefix.isEmpty ? base : OverridingPreferenceStore(over: PrefixedPreferenceStore(prefix, in: base))
    func set(_ token: String?) throws {
      guard inTransaction else { return try store.set(token, for: .token) }
      try store.transaction { try $0.set(token, for: .token) }
    }
    try store.set("first", forKey: "other")
    try store.set("second", forKey: "other")
    try set("hunter2")
    // The first value replaces none, so nothing is erased, and the file gets one line more.
    #expect(try lineCount() == 4)
    try set("hunter2")
    #expect(try lineCount() == 4)
    try set("s3cret")
    #expect(try lineCount() == 3 && !file.text.contains("hunter2"))
    #expect(try store.value(for: .token) == "s3cret")
    try set(nil)
    #expect(try lineCount() == 2 && !file.text.contains("s3cret"))
    #expect(try store.value(for: .token) == nil)
    try set("again")
    try store.removeValue(for: .token)
    #expect(try lineCount() == 2)
    try set(nil)
    try store.set(7, for: .volume)
    try store.set(8, for: .volume)
    #expect(try lineCount() == 4)
    #expect(try folder.names == [file.lastPathComponent])
  }

  @Test("throws if the file can't be rewritten, and has the new value")
  func failure() throws {
    let path: FilePath = "/folder/store.preferences"
    let disk = SimulatedDisk()
    let store = try FilePreferenceStore(path: path, system: disk)
    try store.set("hunter2", for: .token)
    disk.setFull(true)
    #expect(code { try store.set("s3cret", for: .token) } == .noSpace)
    #expect(try store.value(for: .token) == "s3cret")
    #expect(code { try store.removeValue(for: .token) } == .noSpace)
    #expect(try store.value(for: .token) == nil)
    disk.setFull(false)
    // The key has no value anymore, but the file still has the former values.
    try store.removeValue(for: .token)
    #expect(disk.contents(of: path) == Array("#preferences 1\n".utf8))
  }

  @Test("compacts a store of one's own, after the change and outside of its turn")
  func customStore() throws {
    let store = CountingStore()
    try store.set("hunter2", for: .token)
    #expect(store.compactions.withLock(\.self) == 0)
    try store.set("s3cret", for: .token)
    try store.set("s3cret", for: .token)
    try store.removeValue(for: .token)
    try store.removeValue(for: .token)
    #expect(store.compactions.withLock(\.self) == 2)
  }
}

/// A store in memory that counts its compactions.
private final class CountingStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  let base = MemoryPreferenceStore()
  let compactions = Mutex(0)

  var keys: [String] { base.keys }
  func json(forKey key: String) -> String? { base.json(forKey: key) }
  func write(_ changes: [PreferenceChange]) { base.write(changes) }

  func compact() throws(PreferenceError) {
    // A compaction may need the turn, as that of a file store does.
    try hub.write { [] }
    compactions.withLock { $0 += 1 }
  }
}
