import Foundation
import PreferenceStorage
import TestSupport
import Testing

/// Tests with programs that write the file in place, without its lock, while a store has it open.
@Suite("Edits in place", .timeLimit(.hang)) struct EditInPlaceTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  /// Returns a store that shares no memory with other stores of the file, as if it were in another process.
  func stranger() throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
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

  @Test(
    "a value that was edited to another one of the same length is set back when it is set, and removed by a transaction",
    arguments: [false, true])
  func equalValue(inTransaction: Bool) throws {
    try file.overwrite("#preferences 1\n{\"volume\":3}\n")
    let store = try stranger()
    try file.overwrite("#preferences 1\n{\"volume\":7}\n")
    if inTransaction {
      try store.transaction { try $0.set(3, forKey: "volume") }
    } else {
      try store.set(3, forKey: "volume")
    }
    #expect(try store.value(Int.self, forKey: "volume") == 3)
    #expect(try stranger().value(Int.self, forKey: "volume") == 3)
    try store.transaction { $0.removeAll() }
    #expect(try stranger().keys.isEmpty)
  }

  @Test("a value of 511 levels of arrays is read again, and a deeper one is refused", arguments: ["", "1"])
  func depth(innermost: String) throws {
    let store = try stranger()
    for depth in 505...515 {
      let text = String(repeating: "[", count: depth) + innermost + String(repeating: "]", count: depth)
      let isSet = code { try store.transaction { try $0.set(json: text, forKey: "deep") } } == nil
      #expect(isSet == (depth <= 511))
      let again = try stranger()
      #expect(again.recovery == nil)
      if isSet { #expect(try again.json(forKey: "deep") == text) }
    }
  }

  @Test("a prefixed store sets back what was edited, and removes what was removed before", arguments: [1, 200_000])
  func prefixed(length: Int) throws {
    let base = try stranger()
    let store = PrefixedPreferenceStore("w.", in: base)
    try base.set(String(repeating: "x", count: length), forKey: "first")
    try store.set(7, forKey: "volume")
    try store.set(1, forKey: "gone")
    try store.removeValue(forKey: "gone")
    try base.set(String(repeating: "x", count: length), forKey: "last")
    let edited = try file.text.replacing("\"w.volume\":7", with: "\"w.volume\":9")
      .replacing("\"w.gone\":null", with: "\"w.gone\":1   ")
    try file.overwrite(edited)
    try store.set(7, forKey: "volume")
    try store.removeValue(forKey: "gone")
    for store in [base, try stranger()] {
      #expect(try store.value(Int.self, forKey: "w.volume") == 7)
      #expect(try store.value(Int.self, forKey: "w.gone") == nil)
    }
  }

  @Test("a longer file with other values is read before a write, though its last known line is the same")
  func longerFile() throws {
    let store = try stranger()
    try store.set(5, forKey: "launches")
    try store.set(1, forKey: "same")
    let other = try FilePreferenceStore(path: FilePath(folder.file("other").path), system: FileSystem())
    try other.set(8, forKey: "launches")
    try other.set(1, forKey: "same")
    let backup = folder.file("other")
    try file.overwrite(backup.text)
    #expect(try store.transaction { try $0.value(Int.self, forKey: "launches") } == 8)
    try other.set(9, forKey: "launches")
    try other.set(1, forKey: "more")
    try file.overwrite(backup.text.replacing("\"launches\":8", with: "\"launches\":7"))
    try store.set(2, forKey: "own")
    #expect(store.json() == (try stranger().json()))
  }

  @Test("an equal value in a long file costs about as much as another one")
  func equalValueCost() throws {
    let store = try stranger()
    try store.transaction { changes in
      for number in 0..<30_000 { try changes.set(number, forKey: "some.key.\(number)") }
    }
    func cost(_ value: (Int) -> Int) throws -> Duration {
      try processorTime { for number in 0..<200 { try store.set(value(number), forKey: "v") } }
    }
    _ = try cost { $0 }
    let different = try cost { $0 }
    #expect(try cost { _ in 199 } < different * 8)
  }

  @Test("an equal value isn't written again while no other program writes")
  func equalValueAlone() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(3, forKey: "volume")
    let length = try file.contents.count
    for _ in 0..<100 { try store.set(3, forKey: "volume") }
    #expect(try file.contents.count == length)
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

  @Test("every edit of the same size is heard, also one right after a write of this store", .timeLimit(.hang))
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

  @Test("a file that is emptied or cut off while it is open is followed")
  func emptied() throws {
    let store = try FilePreferenceStore(url: file)
    for number in 0..<5 { try store.set(number, forKey: "k\(number)") }
    let text = try file.text
    try file.overwrite("")
    try store.reload()
    #expect(store.keys.isEmpty)
    try store.set(1, forKey: "new")
    #expect(store.keys == ["new"])
    try file.overwrite(String(text.prefix(40)))
    try store.set(2, forKey: "newer")
    #expect(store.keys == ["k0", "newer"])
    #expect(try stranger().json() == store.json())
  }

  @Test("an older copy that takes the file's place is followed by a write")
  func olderCopy() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "v")
    let old = try file.contents
    try store.set(2, forKey: "v")
    try old.write(to: file, options: .atomic)
    try store.set(1, forKey: "other")
    #expect(try store.value(Int.self, forKey: "v") == 1)
  }

  @Test("a file that another store compacts or repairs, and then writes to, is followed, and no error is reported")
  func foreignRewriting() async throws {
    let store = try FilePreferenceStore(url: file, followsOthers: false)
    var errors = store.errors.makeAsyncIterator()
    for number in 0..<20 { try store.set(number, forKey: "v") }
    let other = try stranger()
    try other.set(100, forKey: "v")
    try other.compact()
    try other.set(200, forKey: "v")
    try store.set(1, forKey: "own")
    #expect(try store.value(Int.self, forKey: "v") == 200)
    try file.append("0123abcd {\"v\":")
    try other.set(300, forKey: "v")
    try store.set(2, forKey: "own")
    #expect(try store.value(Int.self, forKey: "v") == 300)
    store.report(PreferenceError(.invalidKey, "the last one"))
    #expect(await errors.next()?.code == .invalidKey)
  }

  @Test("an edit in place isn't lost to a compaction, whose memory is older")
  func editBeforeCompaction() throws {
    let store = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem(), compactingAbove: 1000)
    try file.overwrite("#preferences 1\n{\"volume\":3}\n")
    try store.reload()
    let handle = try FileHandle(forWritingTo: file)
    try handle.seek(toOffset: 25)
    try handle.write(contentsOf: Data("7".utf8))
    for number in 0..<200 { try store.set(number, forKey: "w") }
    #expect(try file.contents.count < 1500)
    #expect(try stranger().value(Int.self, forKey: "volume") == 7)
    #expect(try store.value(Int.self, forKey: "volume") == 7)
  }

  @Test("a line that was edited counts though its checksum is wrong, and is reported")
  func editedLine() throws {
    let store = try FilePreferenceStore(url: file)
    for number in 1...2 { try store.set(number, forKey: "v") }
    try file.overwrite(file.text.replacing("{\"v\":2}", with: "{\"v\":3}"))
    #expect(try stranger().value(Int.self, forKey: "v") == 3)
    #expect(try stranger().recovery?.editedLines == [3])
    try store.reload()
    #expect(try store.value(Int.self, forKey: "v") == 3)
    try store.set(1, forKey: "a")
    #expect(try stranger().value(Int.self, forKey: "v") == 3)
    #expect(try stranger().recovery == nil)
  }

  @Test("a flipped bit in a key, which hides another key's value, leaves a copy that has the value")
  func flippedKey() throws {
    let store = try stranger()
    try store.set("Ada", forKey: "name.1")
    try store.set("Grace", forKey: "name.3")
    try file.overwrite(file.text.replacing("name.3", with: "name.1"))
    let other = try stranger()
    try other.set(1, forKey: "unrelated")
    let copy = try #require(other.recovery?.copy)
    #expect(try copy.text.contains("Ada"))
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
