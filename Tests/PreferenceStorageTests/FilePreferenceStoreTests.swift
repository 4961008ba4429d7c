import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("FilePreferenceStore") struct FilePreferenceStoreTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  /// Returns a store that shares no memory with other stores of the file, as if it were in another process.
  func stranger() throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
  }

  @Test("writes a header and one line for each change, which a person can read")
  func format() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(7, forKey: "volume")
    try store.transaction { changes in
      try changes.set(Theme(name: "dark", sizes: []), forKey: "theme")
      changes.removeValue(forKey: "draft")
      changes.removeValue(forKey: "volume")
    }
    let lines = try file.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines == [
        "#preferences 1",
        "c9a86aae {\"volume\":7}",
        "ad0ea87e {\"theme\":{\"name\":\"dark\",\"sizes\":[]},\"volume\":null}",
        "",
      ])
  }

  @Test("makes no file before the first write")
  func lazyCreation() throws {
    let store = try FilePreferenceStore(url: file)
    try store.reload()
    try store.synchronize()
    #expect(try store.value(Int.self, forKey: "a") == nil)
    #expect(try folder.names == [])
  }

  @Test("doesn't write an equal value again")
  func equalValue() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(["b": 1, "a": 2, "c": 3], forKey: "a")
    let before = try file.contents
    try store.set(["c": 3, "a": 2, "b": 1], forKey: "a")
    try store.removeValue(forKey: "absent")
    try store.transaction { changes in try changes.set(["a": 2, "b": 1, "c": 3], forKey: "a") }
    #expect(try file.contents == before)
  }

  @Test("writes a value that equals what was read before another program changed it")
  func equalToAnOlderValue() throws {
    let one = try FilePreferenceStore(url: file)
    try one.set(1, forKey: "a")
    try stranger().set(2, forKey: "a")
    try one.set(1, forKey: "a")
    #expect(try stranger().value(Int.self, forKey: "a") == 1)
  }

  @Test("only its owner can read the file and the folders it makes")
  func permissions() throws {
    let file = folder.url.appending(path: "a/b/store.preferences")
    try FilePreferenceStore(url: file).set(1, forKey: "a")
    #expect(try file.mode == 0o600)
    #expect(try file.deletingLastPathComponent().mode == 0o700)
    #expect(try folder.url.appending(path: "a").mode == 0o700)
  }

  @Test("stores on one path share one memory, however the path is spelled")
  func sharing() throws {
    let one = try FilePreferenceStore(url: file)
    let two = try FilePreferenceStore(
      url: folder.url.appending(path: "./\(file.lastPathComponent)"))
    try one.set(1, forKey: "a")
    #expect(try two.value(Int.self, forKey: "a") == 1)
  }

  @Test("sees what others wrote after a reload, and after a write of its own")
  func others() throws {
    let one = try FilePreferenceStore(url: file, followsOthers: false)
    let two = try stranger()
    try two.set(1, forKey: "a")
    #expect(try one.value(Int.self, forKey: "a") == nil)
    try one.reload()
    #expect(try one.value(Int.self, forKey: "a") == 1)
    try two.set(2, forKey: "b")
    try one.set(3, forKey: "c")
    #expect(try one.value(Int.self, forKey: "b") == 2)
    #expect(try stranger().keys == ["a", "b", "c"])
  }

  @Test("a transaction begins with what others have written")
  func transactionReadsLatest() throws {
    let one = try FilePreferenceStore(url: file)
    let two = try stranger()
    for _ in 0..<10 {
      for store in [one, two] {
        try store.transaction { changes in
          try changes.set((changes.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
        }
      }
    }
    #expect(try two.value(Int.self, forKey: "count") == 20)
  }

  @Test("a shell may append a line, with or without a newline, with spaces and with escapes")
  func handEdits() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "volume")
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = [
      "-c", "echo '{\"volume\": 3}' >> \"$1\"; printf '\\n \\n { \"a\\u00e9\" : [ 1, {} ] }' >> \"$1\"", "-",
      file.path,
    ]
    try shell.run()
    shell.waitUntilExit()
    try store.reload()
    #expect(store.recovery == nil)
    #expect(try store.value(Int.self, forKey: "volume") == 3)
    #expect(store.keys == ["volume", "aé"])
    try store.set(4, forKey: "b")
    #expect(try stranger().keys == ["volume", "aé", "b"])
    #expect(
      try file.text.hasSuffix("[ 1, {} ] }\n6ccc223a {\"b\":4}\n"))
  }

  @Test("a line appended by hand to a last line without a newline is kept, and so is that one")
  func appendedToALine() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    try store.set(5, forKey: "a")
    for last in [try file.text.dropLast(), "#preferences 1\n{\"a\":5}"] {
      try file.overwrite("\(last){\"volume\":3}\n{\"b\":2}")
      try store.reload()
      #expect(try store.value(Int.self, forKey: "a") == 5 && store.value(Int.self, forKey: "volume") == 3)
      #expect(try stranger().recovery == nil && stranger().keys == ["a", "volume", "b"])
    }
  }

  @Test("a file that is too long to read is refused")
  func hugeFile() throws {
    try file.overwrite("#preferences 1\n")
    try FileHandle(forWritingTo: file).truncate(atOffset: 1 << 33)
    #expect(code { _ = try FilePreferenceStore(url: file) } == .unreadable)
  }

  @Test("a line appended by hand between two writes is kept")
  func interleavedHandEdit() throws {
    let store = try FilePreferenceStore(url: file)
    for turn in 0..<20 {
      try store.set(turn, forKey: "mine")
      try file.append("{\"theirs\":\(turn)}\n")
    }
    try store.set("x", forKey: "last")
    #expect(try store.value(Int.self, forKey: "theirs") == 19)
    #expect(store.recovery == nil)
    #expect(try stranger().keys == ["mine", "theirs", "last"])
  }

  @Test("a file that an editor saved with carriage returns is read")
  func carriageReturns() throws {
    try file.overwrite("#preferences 1\r\nc9a86aae {\"volume\":7}\r\n{\"a\":1}\r\n")
    let store = try FilePreferenceStore(url: file)
    #expect(store.recovery == nil)
    #expect(store.keys == ["volume", "a"])
  }

  @Test("a file replaced while it is open is read again, and written to")
  func replaced() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "old")
    let other = folder.file("other")
    try other.overwrite("#preferences 1\n{\"new\":2}\n")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: other, to: file)
    try store.set(3, forKey: "mine")
    #expect(store.keys == ["new", "mine"])
    #expect(try stranger().keys == ["new", "mine"])
  }

  @Test("a file deleted while it is open is an empty store, and made again by a write")
  func deleted() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "old")
    try FileManager.default.removeItem(at: file)
    try store.reload()
    #expect(store.keys.isEmpty)
    try store.set(2, forKey: "new")
    #expect(try stranger().keys == ["new"])
  }

  @Test("a file rewritten in place is read again, longer, shorter and as long as before")
  func overwrittenInPlace() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "old")
    for (number, name) in ["a", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "ccccccccccccccccccccccccccccccccc", "d"]
      .enumerated()
    {
      try file.overwrite("#preferences 1\n{\"\(name)\":1}\n")
      if number % 2 == 0 { try store.reload() } else { try store.set(1, forKey: "mine") }
      #expect(store.keys.first == name)
    }
    try store.reload()
    let before = try file.text
    try file.overwrite(before.replacing(":1}", with: ":2}"))
    try store.reload()
    #expect(try store.value(Int.self, forKey: "d") == 2)
  }

  @Test("a store whose file became another program's keeps what it read, and touches nothing")
  func becameForeign() throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    try file.overwrite("hello, world: a letter of some length\n")
    let error = try #require(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
    #expect(error.code == .notAPreferencesFile)
    #expect(throws: PreferenceError.self) { try store.reload() }
    #expect(try store.value(Int.self, forKey: "a") == 1)
    #expect(try file.text == "hello, world: a letter of some length\n")
  }

  @Test("a transaction within a transaction is an error, not a deadlock, and harms nothing")
  func nested() throws {
    let store = try FilePreferenceStore(url: file)
    let other = try FilePreferenceStore(url: folder.file("other"))
    try store.transaction { changes in
      try changes.set(1, forKey: "a")
      let error = try #require(throws: PreferenceError.self) { try store.set(2, forKey: "a") }
      #expect(error.code == .nestedTransaction)
      #expect(throws: PreferenceError.self) { try store.transaction { _ in } }
      #expect(throws: PreferenceError.self) { try store.reload() }
      #expect(throws: PreferenceError.self) { try FilePreferenceStore(url: file) }
      #expect(store.recovery == nil)
      #expect(try store.value(Int.self, forKey: "a") == nil)
      try other.set(3, forKey: "b")
    }
    #expect(try store.value(Int.self, forKey: "a") == 1)
    #expect(try other.value(Int.self, forKey: "b") == 3)
  }

  @Test("what the program doesn't know survives verbatim, compaction included")
  func unknownKeys() throws {
    try file.overwrite("#preferences 1\n{\"theirs\":{ \"b\" : 1.50, \"a\":[1e2] }}\n")
    let store = try FilePreferenceStore(url: file)
    let large = String(repeating: "x", count: 60_000)
    for turn in 0..<20 { try store.set("\(turn)\(large)", forKey: "mine") }
    #expect(try file.text.hasPrefix("#preferences 1\n"))
    #expect(try file.text.contains("{\"theirs\":{ \"b\" : 1.50, \"a\":[1e2] }}"))
    #expect(try stranger().keys == ["theirs", "mine"])
  }

  @Test("a synced store's values are there, and synchronize does for all")
  func synced() throws {
    let store = try FilePreferenceStore(url: file, durability: .synced)
    try store.set(1, forKey: "a")
    try store.transaction { changes in try changes.set(2, forKey: "b") }
    try store.synchronize()
    #expect(try stranger().keys == ["a", "b"])
  }

  @Test("a URL that isn't a file's is refused")
  func remote() throws {
    let error = try #require(throws: PreferenceError.self) {
      try FilePreferenceStore(url: #require(URL(string: "https://swift.org/a")))
    }
    #expect(error.code == .unreadable)
  }
}
