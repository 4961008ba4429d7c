import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("A full disk") struct FullDiskTests {
  static let path: FilePath = "/folder/store.preferences"
  let disk = SimulatedDisk()

  func open(_ disk: SimulatedDisk) throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FullDiskTests.path, system: disk)
  }

  var length: Int { disk.contents(of: FullDiskTests.path)?.count ?? 0 }

  /// Expects that the store and one that is opened now have the same values, and that the file is undamaged.
  func expectSame(_ store: FilePreferenceStore, _ keys: [String]) throws {
    let other = try open(disk.snapshot())
    #expect(other.keys == keys && other.json() == store.json() && other.recovery == nil)
  }

  @Test("is freed by removing everything, even without room for a line or a second file")
  func removeAll() throws {
    let store = try open(disk)
    for number in 0..<10 { try store.set(number, forKey: "k\(number)") }
    disk.setFull(true, forFilesAbove: 0)
    try store.removeAll()
    #expect(disk.contents(of: FullDiskTests.path) == Array("#preferences 1\n".utf8))
    try expectSame(store, [])
    #expect(throws: PreferenceError.self) { try store.set(1, forKey: "a") }
    disk.setFull(false)
    try store.set(1, forKey: "a")
    try expectSame(store, ["a"])
  }

  @Test("is freed by removing a value that is larger than the others, which stay")
  func removeLarge() throws {
    let store = try open(disk)
    try store.set(1, forKey: "before")
    try store.removeValue(forKey: "before")
    try store.set("x", forKey: "a")
    try store.set(String(repeating: "x", count: 500), forKey: "large")
    try store.set([1, 2], forKey: "b")
    let length = length
    disk.setFull(true, forFilesAbove: 0)
    try store.removeValue(forKey: "large")
    #expect(self.length < length - 300)
    try expectSame(store, ["a", "b"])
    let text = String(repeating: "x", count: 200)
    #expect(code { try store.set(text, forKey: "c") } == .noSpace)
    try expectSame(store, ["a", "b"])
    disk.setFull(false)
    try store.set(1, forKey: "c")
    try expectSame(store, ["a", "b", "c"])
  }

  @Test("is freed by one store, and another doesn't report what that has removed", arguments: [true, false])
  func otherStore(removesAll: Bool) async throws {
    let (store, other) = (try open(disk), try open(disk))
    var errors = other.errors.makeAsyncIterator()
    try other.set(String(repeating: "x", count: 500), forKey: "large")
    try other.set(1, forKey: "a")
    disk.setFull(true, forFilesAbove: 0)
    if removesAll { try store.removeAll() } else { try store.removeValue(forKey: "large") }
    try other.reload()
    #expect(other.keys == (removesAll ? [] : ["a"]))
    other.report(PreferenceError(.invalidKey, "the last one"))
    #expect(await errors.next()?.code == .invalidKey)
  }

  @Test("has room for a removal in the place of values that were replaced")
  func removeSmall() throws {
    let store = try open(disk)
    for number in 0..<10 { try store.set(number, forKey: "a") }
    try store.set(1, forKey: "b")
    disk.setFull(true, forFilesAbove: 0)
    try store.removeValue(forKey: "b")
    try expectSame(store, ["a"])
  }

  @Test("without such room leaves the file as it is, and says that there is no space")
  func noRoom() throws {
    let store = try open(disk)
    for key in ["a", "b", "c"] { try store.set(1, forKey: key) }
    disk.setFull(true, forFilesAbove: 0)
    let length = length
    #expect(code { try store.removeValue(forKey: "b") } == .noSpace)
    #expect(self.length == length)
    try expectSame(store, ["a", "b", "c"])
  }

  @Test("leaves the file and memory as they were if a call fails while the file is made shorter")
  func failure() throws {
    func run(failing call: Int) throws -> (first: Int, last: Int) {
      let disk = SimulatedDisk()
      let system = FailingFileSystem(disk, failing: call, with: .error(EIO), isLasting: false)
      let store = try FilePreferenceStore(path: FullDiskTests.path, followsOthers: false, system: system)
      try store.set(String(repeating: "x", count: 300), forKey: "a")
      for key in ["b", "c"] { try store.set(1, forKey: key) }
      disk.setFull(true, forFilesAbove: 0)
      let first = system.callCount
      let isRemoved =
        code {
          try store.transaction {
            $0.removeValue(forKey: "a")
            $0.removeValue(forKey: "b")
          }
        } == nil
      let last = system.callCount
      #expect(store.keys == (isRemoved ? ["c"] : ["a", "b", "c"]), "call \(call)")
      let other = try open(disk.snapshot())
      #expect(other.json() == store.json() && other.recovery == nil, "call \(call)")
      return (first, last)
    }
    let calls = try run(failing: .max)
    for call in calls.first..<calls.last { _ = try run(failing: call) }
  }

  @Test("is freed by a compaction that fits, if there is room for a second file")
  func compaction() throws {
    let store = try open(disk)
    for number in 0..<10 { try store.set(number, forKey: "a") }
    disk.setFull(false, forFilesAbove: length)
    try store.removeValue(forKey: "a")
    #expect(disk.contents(of: FullDiskTests.path) == Array("#preferences 1\n".utf8))
    try expectSame(store, [])
  }

  @Test("a damaged file is written to, and repaired once there is room, when it is twice as long")
  func repair() throws {
    let disk = SimulatedDisk(Array("#preferences 1\n{\"a\":1}\nrubbish\n".utf8), at: FullDiskTests.path)
    let store = try open(disk)
    disk.setFull(true)
    for number in 0..<10 { try store.set(number, forKey: "a") }
    #expect(disk.names == [FullDiskTests.path])
    disk.setFull(false)
    for number in 0..<20 { try store.set(number, forKey: "b") }
    let copy = try #require(disk.names.first { $0 != FullDiskTests.path })
    let copied = try #require(disk.contents(of: copy))
    #expect(String(decoding: copied, as: UTF8.self).contains("rubbish"))
    #expect(store.recovery?.copy?.path == copy.description)
    #expect(try #require(disk.contents(of: FullDiskTests.path)).count < 600)
    let other = try open(disk.snapshot())
    #expect(other.json() == store.json() && other.recovery == nil && other.keys == ["a", "b"])
  }
}
