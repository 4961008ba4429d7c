import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("Notices of what others do") struct NoticeTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  /// Returns a store that shares no memory with other stores of the file, as if it were in another process.
  func stranger() throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
  }

  @Test("another process's changes arrive by themselves", .timeLimit(.hang))
  func otherProcess() async throws {
    let store = try FilePreferenceStore(url: file)
    let other = try stranger()
    var changes = store.changes().makeAsyncIterator()
    try other.set(1, forKey: "a")
    #expect(await changes.next() == ["a"])
    #expect(try store.value(Int.self, forKey: "a") == 1)
    try other.removeValue(forKey: "a")
    #expect(await changes.next() == ["a"])
    #expect(store.keys.isEmpty)
  }

  @Test(
    "a stream of records has each change by this and another process, also across a compaction by this one",
    .timeLimit(.hang))
  func records() async throws {
    let store = try FilePreferenceStore(url: file)
    let other = try stranger()
    try other.set(-1, forKey: "a")
    try store.reload()
    var records = store.records().makeAsyncIterator()
    for number in 0..<200 {
      try other.set(number, forKey: "a")
      if number == 100 { try store.compact() }
    }
    #expect(try file.text.split(separator: "\n").count < 150)
    for number in 0..<200 {
      let record = await records.next()
      #expect(record?.key == "a" && record?.json == "\(number)")
    }
    try store.set("x", forKey: "b")
    try store.set("x", forKey: "b")
    try store.transaction { changes in
      try changes.set(1, forKey: "a")
      changes.removeValue(forKey: "b")
    }
    let last = [await records.next(), await records.next(), await records.next()].map {
      "\($0?.key ?? "") \($0?.json ?? "")"
    }
    #expect(last == ["b \"x\"", "a 1", "b "])
  }

  @Test("a line added by a shell arrives", .timeLimit(.hang))
  func shell() async throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "volume")
    var changes = store.changes().makeAsyncIterator()
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", "echo '{\"volume\":3}' >> \"$1\"", "-", file.path]
    try shell.run()
    #expect(await changes.next() == ["volume"])
    #expect(try store.value(Int.self, forKey: "volume") == 3)
    shell.waitUntilExit()
  }

  @Test(
    "changes arrive across compaction, replacement, deletion and editing in place", .timeLimit(.hang))
  func newFiles() async throws {
    let store = try FilePreferenceStore(url: file)
    let other = try stranger()
    try other.set(0, forKey: "a")
    var changes = store.changes().makeAsyncIterator()
    let large = String(repeating: "x", count: 100_000)
    for turn in 1...8 { try other.set("\(turn)\(large)", forKey: "large") }
    while try store.value(String.self, forKey: "large")?.hasPrefix("8") != true {
      #expect(await changes.next() != nil)
    }
    let new = folder.file("new")
    try new.overwrite("#preferences 1\n{\"b\":1}\n")
    try FileSystem().rename(FilePath(new.path), to: FilePath(file.path))
    var heard: Set<String> = []
    while heard != ["a", "b", "large"] { heard.formUnion(await changes.next() ?? []) }
    try file.overwrite("#preferences 1\n{\"b\":2}\n")
    while try store.value(Int.self, forKey: "b") != 2 { #expect(await changes.next()?.contains("b") == true) }
    try FileManager.default.removeItem(at: file)
    while !store.keys.isEmpty { #expect(await changes.next()?.contains("b") == true) }
    try other.set(3, forKey: "c")
    while await changes.next()?.contains("c") != true {}
    #expect(store.keys == ["c"])
  }

  @Test("the latest value arrives, however fast the changes come", .timeLimit(.hang))
  func latest() async throws {
    let store = try FilePreferenceStore(url: file)
    let other = try stranger()
    let changes = store.changes()
    let reader = Task {
      var values: [Int] = []
      for await keys in changes where keys.contains("a") {
        values.append(try store.value(Int.self, forKey: "a") ?? -1)
        if values.last == 1000 { break }
      }
      return values
    }
    for number in 1...1000 { try other.set(number, forKey: "a") }
    let values = try await reader.value
    #expect(values == values.sorted())
    #expect(values.last == 1000)
  }

  @Test(
    "a listener that starts while another thread works on the file hears of an edit made before",
    .timeLimit(.hang))
  func duringTurn() async throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    let (inside, listening) = (AsyncLatch(), Latch())
    startThread {
      try store.transaction { _ in
        inside.open()
        listening.wait()
      }
    }
    await inside.wait()
    try file.append("{\"b\":2}\n")
    var changes = store.changes().makeAsyncIterator()
    listening.open()
    #expect(await changes.next() == ["b"])
  }

  @Test("a store with its own changes and another's hears each key", .timeLimit(.hang))
  func both() async throws {
    let store = try FilePreferenceStore(url: file)
    let other = try stranger()
    let changes = store.changes()
    let reader = Task {
      var heard: Set<String> = []
      for await keys in changes {
        heard.formUnion(keys)
        if heard.count == 400 { break }
      }
      return heard.count
    }
    for number in 0..<200 {
      try store.set(number, forKey: "mine \(number)")
      try other.set(number, forKey: "theirs \(number)")
    }
    #expect(await reader.value == 400)
  }

  @Test("notices come again after the folder was removed and made again", .timeLimit(.hang))
  func folderRemoved() async throws {
    let inner = folder.url.appending(path: "inner/store.preferences")
    let store = try FilePreferenceStore(url: inner)
    try store.set(1, forKey: "a")
    var changes = store.changes().makeAsyncIterator()
    try FileManager.default.removeItem(at: inner.deletingLastPathComponent())
    #expect(await changes.next() == ["a"])
    try store.set(2, forKey: "b")
    #expect(await changes.next() == ["b"])
    try FilePreferenceStore(path: FilePath(inner.path), system: FileSystem()).set(3, forKey: "c")
    #expect(await changes.next() == ["c"])
  }

  @Test("a file that becomes another program's is reported as an error", .timeLimit(.hang))
  func becomesForeign() async throws {
    let store = try FilePreferenceStore(url: file)
    try store.set(1, forKey: "a")
    let changes = store.changes()
    var errors = store.errors.makeAsyncIterator()
    try folder.file("new").overwrite("another program's text\n")
    try FileSystem().rename(FilePath(folder.file("new").path), to: FilePath(file.path))
    #expect(await errors.next()?.code == .notAPreferencesFile)
    #expect(try store.value(Int.self, forKey: "a") == 1)
    withExtendedLifetime(changes) {}
  }

  #if os(Linux)
    @Test("no descriptor is left after the last listener has gone", .timeLimit(.hang))
    func nothingLeft() async throws {
      await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
        alarm(300)
        /// Counts the descriptors of watchers and of files in the folder. The runtime may open others at any time.
        func descriptors() throws -> Int {
          try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
            // The descriptor of the listing itself is already closed.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return target?.contains("inotify") == true || target?.hasPrefix(path) == true
          }
        }
        let stores = try (0..<5).map { number in
          let store = try FilePreferenceStore(url: URL(filePath: "\(path)/\(number)"))
          try store.set(0, forKey: "a")
          return store
        }
        let before = try descriptors()
        for turn in 1...20 {
          let tasks = stores.map { store in
            let changes = store.changes()
            return Task { for await keys in changes where keys == ["a"] {} }
          }
          // All five stores share one watch.
          insist(try descriptors() == before + 1)
          for store in stores { try store.set(turn, forKey: "a") }
          for task in tasks { task.cancel() }
          for task in tasks { await task.value }
          // The watch ends by itself, at an unknown time. If it never did, the alarm would end the process.
          while try descriptors() != before { await Task.yield() }
        }
      }
    }
  #endif
}
