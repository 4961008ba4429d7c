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

  @Test("is freed by removing everything, even without room for a line in a second file")
  func removeAll() throws {
    let store = try open(disk)
    for number in 0..<10 { try store.set(number, forKey: "k\(number)") }
    disk.setFull(false, forFilesAbove: 0)
    try store.removeAll()
    // There isn't even room for the first line, which the next write adds.
    #expect(disk.contents(of: FullDiskTests.path) == [])
    try expectSame(store, [])
    #expect(throws: PreferenceError.self) { try store.set(1, forKey: "a") }
    disk.setFull(false)
    try store.set(1, forKey: "a")
    try expectSame(store, ["a"])
  }

  @Test("without room for a second file leaves the file as it is, and says that there is no space")
  func noRoom() throws {
    let store = try open(disk)
    for key in ["a", "b", "c"] { try store.set(1, forKey: key) }
    disk.setFull(true, forFilesAbove: 0)
    let length = length
    #expect(code { try store.removeValue(forKey: "b") } == .noSpace)
    #expect(self.length == length)
    try expectSame(store, ["a", "b", "c"])
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
