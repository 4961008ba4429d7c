import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("Recovery") struct RecoveryTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  @Test("a byte-order mark, as some editors put before the text, isn't damage", arguments: ["\n", "\r\n"])
  func byteOrderMark(newline: String) throws {
    try file.overwrite(["\u{feff}#preferences 1", "{\"a\":1}", ""].joined(separator: newline))
    let store = try FilePreferenceStore(url: file)
    #expect(store.recovery == nil)
    try store.set(2, forKey: "b")
    #expect(try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).json() == store.json())
    try store.compact()
    #expect(try file.text.hasPrefix("#preferences 1\n"))
    #expect(store.json() == "{\n  \"a\": 1,\n  \"b\": 2\n}\n")
    try file.overwrite("\u{feff}{\"a\":3}\n")
    try store.reload()
    #expect(store.json() == "{\n  \"a\": 3\n}\n")
    #expect(try folder.names == [file.lastPathComponent])
  }

  /// Writes a file with the keys k1, k2 and so on, and returns its lines.
  func writeFile(lines: Int = 4) throws -> [String] {
    do {
      let store = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
      for number in 1...lines { try store.set(number, forKey: "k\(number)") }
    }
    return try file.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  @Test("an undamaged file has nothing to recover")
  func undamaged() throws {
    _ = try writeFile()
    #expect(try FilePreferenceStore(url: file).recovery == nil)
  }

  @Test("a torn last line is dropped, reported, and kept in a copy when it is cut off")
  func tornTail() throws {
    _ = try writeFile()
    let torn = try file.contents.dropLast(5)
    try torn.write(to: file)
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys == ["k1", "k2", "k3"])
    let recovery = try #require(store.recovery)
    #expect(recovery.tornBytes > 0)
    #expect(recovery.skippedLines.isEmpty)
    #expect(recovery.copy == nil)
    #expect(try file.contents == torn)
    try store.set(4, forKey: "k4")
    let copy = try #require(store.recovery?.copy)
    #expect(try copy.contents == torn)
    #expect(try copy.mode == 0o600)
    #expect(copy.lastPathComponent.hasPrefix("store.preferences.damaged-"))
    let again = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    #expect(again.recovery == nil)
    #expect(again.keys == ["k1", "k2", "k3", "k4"])
  }

  @Test("of damages in quick succession each is copied, and the last three copies stay")
  func quickSuccession() throws {
    _ = try writeFile()
    var found: [String] = []
    for number in 0..<8 {
      try file.append("rubbish \(number)\n")
      found.append(try file.text)
      let store = try FilePreferenceStore(url: file)
      try store.set(number, forKey: "number")
      #expect(try store.recovery?.copy?.text == found.last)
    }
    let copies = try folder.names.filter { $0.contains(".damaged-") }.sorted()
    #expect(try copies.map { try folder.url.appending(path: $0).text } == found.suffix(3))
  }

  @Test("the copies of damaged files stay the last ones after the clock was set back")
  func clockSetBack() throws {
    _ = try writeFile()
    for number in 0..<3 { try folder.write("x", to: "store.preferences.damaged-999999999999\(number)") }
    var found: [String] = []
    for number in 0..<3 {
      try file.append("rubbish \(number)\n")
      found.append(try file.text)
      let store = try FilePreferenceStore(url: file)
      try store.set(number, forKey: "number")
      #expect(try store.recovery?.copy?.text == found.last)
    }
    let copies = try folder.names.filter { $0.contains(".damaged-") }.sorted { ($0.count, $0) < ($1.count, $1) }
    #expect(try copies.map { try folder.file($0).text } == found)
  }

  @Test("a last line that lacks only its newline counts")
  func missingNewline() throws {
    _ = try writeFile()
    try file.contents.dropLast(1).write(to: file)
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys == ["k1", "k2", "k3", "k4"])
    #expect(store.recovery == nil)
    try store.set(5, forKey: "k5")
    let again = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    #expect(again.keys.count == 5)
    #expect(again.recovery == nil)
  }

  @Test("a bad line among good ones is skipped, and the file copied aside once")
  func badLine() throws {
    var lines = try writeFile()
    lines[2] = lines[2].replacing("{", with: "[")
    lines.insert("rubbish", at: 4)
    let damaged = lines.joined(separator: "\n")
    try file.overwrite(damaged)
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys == ["k1", "k3", "k4"])
    let recovery = try #require(store.recovery)
    #expect(recovery.skippedLines == [3, 5])
    #expect(recovery.skippedBytes == lines[2].utf8.count + lines[4].utf8.count + 2)
    #expect(recovery.description.contains("line 3, 5"))
    #expect(try file.text == damaged)
    try store.set(5, forKey: "k5")
    #expect(try #require(store.recovery?.copy).text == damaged)
    let again = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    #expect(again.recovery == nil)
    #expect(again.keys == ["k1", "k3", "k4", "k5"])
    #expect(try folder.names.count == 2)
  }

  @Test(
    "a damaged first line is put right where a line with a checksum shows what the file is", arguments: 0..<15
  )
  func damagedHeader(index: Int) throws {
    _ = try writeFile()
    var bytes = try file.contents
    bytes[index] ^= 0x40
    try bytes.write(to: file)
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys == ["k1", "k2", "k3", "k4"])
    #expect(store.recovery?.headerWasDamaged == true)
    try store.set(0, forKey: "last")
    #expect(try #require(store.recovery?.copy).contents == bytes)
    #expect(try file.text.hasPrefix("#preferences 1\n"))
  }

  @Test(
    "a control character in place of the first newline is put right, whoever wrote the next line",
    arguments: [0, 7, 9, 11, 13, 27, 31, 127] as [UInt8], ["561bacaf {\"a\":1}\n", "{\"a\":1}\n"])
  func controlCharacterForNewline(character: UInt8, line: String) throws {
    try Data("#preferences 1".utf8 + [character] + line.utf8).write(to: file)
    let store = try FilePreferenceStore(url: file)
    #expect(try store.value(Int.self, forKey: "a") == 1)
    #expect(store.recovery?.headerWasDamaged == true)
    try store.set(2, forKey: "b")
    #expect(try file.text.hasPrefix("#preferences 1\n"))
    #expect(try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).keys == ["a", "b"])
  }

  @Test("a file whose first line was deleted keeps all the others, and gets the first line back", arguments: [1, 4])
  func deletedHeader(lines: Int) throws {
    let keys = (1...lines).map { "k\($0)" }
    let rest = try writeFile(lines: lines).dropFirst().joined(separator: "\n")
    try file.overwrite(rest)
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys == keys)
    #expect(store.recovery?.headerWasDamaged == true)
    #expect(store.recovery?.skippedLines == [])
    try store.set(0, forKey: "last")
    #expect(try #require(store.recovery?.copy).text == rest)
    #expect(try file.text.hasPrefix("#preferences 1\n" + rest))
    let again = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    #expect(again.recovery == nil)
    #expect(again.keys == keys + ["last"])
  }

  @Test(
    "a file of JSON objects alone counts as begun by hand, is left alone by reading, and is copied aside by the first write",
    arguments: ["{\"volume\":3}\n", "{ \"volume\": 1, \"time\": 7 }\r\n\n{\"volume\":3}"])
  func begunByHand(content: String) throws {
    try file.overwrite(content)
    let store = try FilePreferenceStore(url: file)
    #expect(try store.value(Int.self, forKey: "volume") == 3)
    try store.reload()
    #expect(store.recovery?.headerWasDamaged == true)
    #expect(store.recovery?.copy == nil)
    #expect(try file.text == content)
    #expect(try folder.names == ["store.preferences"])
    try store.set(1, forKey: "other")
    #expect(try #require(store.recovery?.copy).text == content)
    #expect(try file.text.hasPrefix("#preferences 1\n"))
    try store.set(2, forKey: "other")
    #expect(try folder.names.count == 2)
    let again = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    #expect(again.recovery == nil)
    #expect(again.json() == store.json())
  }

  @Test("a first line that is deleted while the file is open comes back with the next write")
  func headerDeletedWhileOpen() throws {
    let store = try FilePreferenceStore(url: file)
    for number in 1...3 { try store.set(number, forKey: "k\(number)") }
    try file.overwrite(file.text.split(separator: "\n").dropFirst().joined(separator: "\n") + "\n")
    try store.set(4, forKey: "k4")
    #expect(store.keys == ["k1", "k2", "k3", "k4"])
    #expect(try file.text.hasPrefix("#preferences 1\n"))
    #expect(try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).json() == store.json())
  }

  @Test("a write that fails takes back its own bytes, and none that were appended by hand during a transaction")
  func takesBackItsOwn() throws {
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).set(1, forKey: "a")
    // This store counts the calls until the write.
    let counting = FailingFileSystem(FileSystem(), failing: .max, with: .shortened, isLasting: false)
    let counted = try FilePreferenceStore(path: FilePath(file.path), system: counting)
    var calls = 0
    try counted.transaction { _ in calls = counting.callCount }
    let system = FailingFileSystem(
      FileSystem(), failing: calls, with: .shortenedThenError(28), isLasting: false)
    let store = try FilePreferenceStore(path: FilePath(file.path), system: system)
    let error = try #require(throws: PreferenceError.self) {
      try store.transaction { changes in
        try file.append("{\"byHand\":2}\n")
        try changes.set(3, forKey: "lost")
      }
    }
    #expect(error.code == .noSpace)
    try store.set(4, forKey: "b")
    #expect(store.keys == ["a", "byHand", "b"])
    #expect(try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).json() == store.json())
  }

  @Test("a file cut short within its first line is an empty store", arguments: 0..<15)
  func truncatedHeader(length: Int) throws {
    try file.overwrite(String("#preferences 1\n".prefix(length)))
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys.isEmpty)
    #expect((store.recovery == nil) == (length == 0))
    try store.set(1, forKey: "a")
    #expect(try file.text == "#preferences 1\n561bacaf {\"a\":1}\n")
    #expect(try FilePreferenceStore(path: FilePath(file.path), system: FileSystem()).keys == ["a"])
  }

  @Test("a file of nothing but zeros, as a power failure can leave it, is an empty store")
  func zeros() throws {
    try Data(repeating: 0, count: 700).write(to: file)
    let store = try FilePreferenceStore(url: file)
    #expect(store.keys.isEmpty)
    try store.set(1, forKey: "a")
    #expect(try #require(store.recovery?.copy).contents.count == 700)
    #expect(try file.text == "#preferences 1\n561bacaf {\"a\":1}\n")
  }

  @Test("damage that comes while the file is open is recovered from at the next write")
  func damageWhileOpen() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    try file.append("{\"typo\":\n{\"b\":2}\n")
    try store.set(3, forKey: "c")
    #expect(store.keys == ["a", "b", "c"])
    #expect(store.recovery?.skippedLines == [3])
    #expect(store.recovery?.copy != nil)
    #expect(try !file.text.contains("typo"))
  }

  @Test(
    "damage of which no copy can be made stays in the file, until one can",
    arguments: ["rubbish\n", "{\"torn"])
  func noSpaceForACopy(damage: String) throws {
    let path: FilePath = "/folder/store.preferences"
    let disk = SimulatedDisk(Array("#preferences 1\n{\"a\":1}\n\(damage)".utf8), at: path)
    disk.setFull(true)
    let store = try FilePreferenceStore(path: path, system: disk, compactingAbove: 200)
    for turn in 0..<50 { try store.set(turn, forKey: "b") }
    #expect(store.keys == ["a", "b"])
    #expect(store.recovery?.copy == nil)
    let file = String(decoding: try #require(disk.contents(of: path)), as: UTF8.self)
    #expect(file.contains(damage.trimmingCharacters(in: .newlines)))
    disk.setFull(false)
    for turn in 0..<200 { try store.set(turn, forKey: "b") }
    let copy = try #require(disk.names.first { $0.description.contains(".damaged-") }.flatMap { disk.contents(of: $0) })
    #expect(String(decoding: copy, as: UTF8.self).contains(damage.trimmingCharacters(in: .newlines)))
    #expect(store.recovery?.copy != nil)
    #expect(try FilePreferenceStore(path: path, system: disk).recovery == nil)
  }
}
