import Foundation
import PreferenceStorage
import TestSupport
import Testing

/// Programs that write the file in place, without its lock, while a store has it open.
@Suite("Edits in place") struct EditInPlaceTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  /// A store that shares no memory with others on the file, as if it were in another process.
  func stranger() throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: PosixFileSystem())
  }

  @Test("a longer last line without its newline is kept, and so is the next write")
  func longerLastLine() throws {
    try file.overwrite("#preferences 1\n29fa7205 {\"name\":\"Ada\"}\n{\"server\":\"http://a.example\"}\n")
    let store = try FilePreferenceStore(url: file)
    try file.overwrite(
      "#preferences 1\n29fa7205 {\"name\":\"Ada\"}\n{\"server\":\"http://a-much-longer-name.example\"}")
    try store.set(7, forKey: "volume")
    for store in [store, try stranger()] {
      #expect(try store.value(String.self, forKey: "server") == "http://a-much-longer-name.example")
      #expect(try store.value(String.self, forKey: "name") == "Ada")
      #expect(try store.value(Int.self, forKey: "volume") == 7)
      #expect(store.recovery == nil)
    }
    #expect(try folder.names == [file.lastPathComponent])
  }

  @Test("a file of the same size without its last newline costs neither its last line nor the next write")
  func sameSizeWithoutNewline() throws {
    try file.overwrite("#preferences 1\n{\"a\":1}\n{\"b\":10}\n")
    let store = try FilePreferenceStore(url: file)
    try file.overwrite("#preferences 1\n{\"a\":1}\n{\"b\":100}")
    try store.set(7, forKey: "volume")
    let again = try stranger()
    #expect(again.json() == "{\n  \"a\": 1,\n  \"b\": 100,\n  \"volume\": 7\n}\n")
    #expect(again.recovery == nil)
  }

  @Test("a value that was edited to another one of the same length is set back when it is set")
  func equalValue() throws {
    try file.overwrite("#preferences 1\n{\"volume\":3}\n")
    let store = try FilePreferenceStore(url: file)
    try file.overwrite("#preferences 1\n{\"volume\":7}\n")
    try store.set(3, forKey: "volume")
    #expect(try store.value(Int.self, forKey: "volume") == 3)
    #expect(try stranger().value(Int.self, forKey: "volume") == 3)
  }

  @Test("an equal value isn't written again while no other program writes, in a file of any size")
  func equalValueAlone() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(3, forKey: "volume")
    let length = try file.contents.count
    for _ in 0..<100 { try store.set(3, forKey: "volume") }
    #expect(try file.contents.count == length)
  }

  @Test("an equal value isn't looked for again and again in a file whose time is to come, as the clock was set back")
  func clockSetBack() throws {
    try stranger().transaction { changes in for key in 0..<100 { try changes.set(key, forKey: "key\(key)") } }
    let system = FailingFileSystem(PosixFileSystem(), failing: .max, with: .shortened, isLasting: false)
    system.setClockBack(by: 3_600_000_000_000)
    let store = try FilePreferenceStore(path: FilePath(file.path), system: system)
    let before = system.bytesRead
    for _ in 0..<100 { try store.set(1, forKey: "key1") }
    #expect(system.bytesRead == before)
    try stranger().set(2, forKey: "key1")
    try store.set(1, forKey: "key1")
    #expect(try stranger().value(Int.self, forKey: "key1") == 1)
  }

  @Test("every edit of the same size is seen by reload()")
  func everyReload() throws {
    try file.overwrite("#preferences 1\n{\"v\":1000}\n")
    let store = try FilePreferenceStore(url: file)
    for turn in 1001..<1300 {
      if turn % 3 == 0 { try store.set(1_000_000 + turn, forKey: "own") }
      let edited = try file.text.replacing("{\"v\":\(turn - 1)}", with: "{\"v\":\(turn)}")
      try file.overwrite(edited)
      try store.reload()
      #expect(try store.value(Int.self, forKey: "v") == turn)
    }
  }

  @Test("an edit of the same size is seen by reload() though another store has appended since")
  func editThenAppend() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    let text = try file.text
    let other = try stranger()
    try file.overwrite(text.replacing("561bacaf {\"a\":1}", with: "         {\"a\":2}"))
    try other.set(1, forKey: "b")
    try store.reload()
    try store.reload()
    #expect(try store.value(Int.self, forKey: "a") == 2)
    #expect(try store.value(Int.self, forKey: "b") == 1)
  }

  @Test("every edit of the same size is heard, also one right after a write of this store", .timeLimit(.minutes(10)))
  func everyNotice() async throws {
    try file.overwrite("#preferences 1\n{\"v\":1000}\n")
    let store = try FilePreferenceStore(url: file)
    var changes = store.changes().makeAsyncIterator()
    for turn in 1001..<1060 {
      try store.set(1_000_000 + turn, forKey: "own")
      let edited = try file.text.replacing("{\"v\":\(turn - 1)}", with: "{\"v\":\(turn)}")
      let handle = try FileHandle(forWritingTo: file)
      try handle.write(contentsOf: Data(edited.utf8))
      try handle.close()
      while try store.value(Int.self, forKey: "v") != turn { try #require(await changes.next() != nil) }
    }
  }

  @Test("lines that were glued together by a missing newline are both read", arguments: ["{\"b\":2}", "damaged"])
  func gluedLines(first: String) throws {
    try file.overwrite("#preferences 1\n\(first)561bacaf {\"a\":1}\n{\"c\":3}\n")
    let store = try FilePreferenceStore(url: file)
    #expect(try store.value(Int.self, forKey: "a") == 1)
    #expect(store.keys == (first == "damaged" ? ["a", "c"] : ["b", "a", "c"]))
    #expect(store.recovery?.skippedLines == (first == "damaged" ? [2] : nil))
  }

  @Test("a file that is emptied while it is open empties the store, and what memory had is kept in a copy")
  func emptied() throws {
    let store = try FilePreferenceStore(url: file)
    for number in 0..<5 { try store.set(number, forKey: "k\(number)") }
    try file.overwrite("")
    try store.reload()
    #expect(store.keys.isEmpty)
    #expect(store.recovery?.lostKeys == ["k0", "k1", "k2", "k3", "k4"])
    #expect(try folder.names.count == 1)
    try store.set(1, forKey: "new")
    #expect(store.keys == ["new"])
    let copy = try FilePreferenceStore(url: try #require(store.recovery?.copy))
    #expect(copy.keys == ["k0", "k1", "k2", "k3", "k4"])
  }

  @Test("a file that is cut off while it is open keeps what memory had in a copy")
  func cutOff() throws {
    let store = try FilePreferenceStore(url: file)
    for number in 0..<50 { try store.set(number, forKey: "k\(number)") }
    try Data(try file.contents.prefix(300)).write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: 290)
    try store.set(1, forKey: "new")
    #expect(store.recovery?.lostKeys.isEmpty == false)
    #expect(try stranger().keys == store.keys)
    let copies = try folder.names.filter { $0.contains(".damaged-") }.map {
      try FilePreferenceStore(url: folder.file($0))
    }
    #expect(copies.contains { $0.keys.count == 50 })
  }

  @Test("an editor that saves in place by emptying the file first leaves no copy behind")
  func savedInPlace() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    let text = try file.text
    try file.overwrite("")
    try store.reload()
    try file.overwrite(text + "{\"b\":2}\n")
    try store.set(3, forKey: "c")
    #expect(store.keys == ["a", "b", "c"])
    #expect(store.recovery == nil)
    #expect(try folder.names == [file.lastPathComponent])
  }
}
