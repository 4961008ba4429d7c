import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PreferenceStorage

/// A file system on which an editor renames its own files to a path, each at the instant at which two files swap names.
///
/// `@unchecked Sendable`: `edits` is in a lock, `end` is atomic, and nothing else changes.
private final class EditedFileSystem: FileSystem, @unchecked Sendable {
  private let edits: Mutex<[URL]>
  private let canExchange: Bool
  private let end = Atomic(-1)

  init(_ edits: [URL], canExchange: Bool = true) {
    self.edits = Mutex(edits)
    self.canExchange = canExchange
  }

  /// Simulates the end of the process after a number of swaps, by throwing from every later swap.
  func end(afterTrades count: Int) { end.store(count, ordering: .relaxed) }

  override func exchange(_ path: FilePath, with other: FilePath) throws(SystemError) -> Bool {
    guard canExchange else { return false }
    if let edit = edits.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      try super.rename(FilePath(edit.path), to: other)
    }
    if end.load(ordering: .relaxed) == 0 { throw SystemError("renameat2", EIO) }
    end.subtract(1, ordering: .relaxed)
    return try super.exchange(path, with: other)
  }
}

/// Tests of a file that another program renames to the path while a rewrite does the same.
@Suite("A file that takes the path during a rewrite", .timeLimit(.hang)) struct ReplacementTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  /// Returns files of an editor, which are beside the store's file until they are renamed.
  func edits(_ count: Int) throws -> [URL] {
    try (0..<count).map { number in
      let edit = folder.file("edit \(number)")
      try edit.overwrite("#preferences 1\n{\"edited\":\(number)}\n")
      return edit
    }
  }

  func open(_ system: FileSystem) throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: system)
  }

  @Test("has it in the end, and what was set here and isn't in it is reported", arguments: 1...4)
  func edited(times: Int) async throws {
    let store = try open(EditedFileSystem(try edits(times)))
    var errors = store.errors.makeAsyncIterator()
    try store.set(1, forKey: "own")
    #expect(throws: PreferenceError.self) { try store.compact() }
    #expect(try file.text == "#preferences 1\n{\"edited\":\(times - 1)}\n")
    #expect(try folder.names == [file.lastPathComponent])
    try store.reload()
    #expect(store.keys == ["edited"])
    #expect(await errors.next()?.code == .overwritten)
    try store.set(2, forKey: "own")
    try store.compact()
    #expect(try open(FileSystem()).json() == store.json())
  }

  @Test("is noticed by another store that has the old file open, and had set something")
  func otherStore() async throws {
    let other = try FilePreferenceStore(path: FilePath(file.path), followsOthers: false, system: FileSystem())
    var errors = other.errors.makeAsyncIterator()
    try other.set(1, forKey: "own")
    let store = try open(EditedFileSystem(try edits(1)))
    #expect(throws: PreferenceError.self) { try store.compact() }
    try other.reload()
    #expect(other.keys == ["edited"])
    #expect(await errors.next()?.code == .overwritten)
  }

  @Test("is kept as a copy if the process ends before it has the path again")
  func endedProcess() async throws {
    let system = EditedFileSystem(try edits(1))
    system.end(afterTrades: 1)
    let store = try open(system)
    try store.set(1, forKey: "own")
    try store.compact()
    #expect(try folder.names == ["store.preferences", "store.preferences.replaced"])
    let next = try open(FileSystem())
    var errors = next.errors.makeAsyncIterator()
    try next.set(2, forKey: "own")
    try next.compact()
    #expect(await errors.next()?.code == .overwritten)
    let names = try folder.names
    #expect(names.count == 2 && names[1].hasPrefix("store.preferences.damaged-"))
    #expect(try folder.file(names[1]).text == "#preferences 1\n{\"edited\":0}\n")
    #expect(next.json() == "{\n  \"own\": 2\n}\n")
  }

  @Test("that another program left isn't taken for the copy of a damaged file")
  func leftBesideDamage() throws {
    try file.overwrite("#preferences 1\n{\"a\":1}\nrubbish\n")
    try folder.file("store.preferences.replaced").overwrite("another program's\n")
    let store = try open(FileSystem())
    try store.set(2, forKey: "b")
    #expect(try #require(store.recovery?.copy).text.contains("rubbish"))
    #expect(try folder.names.count == 3)
  }

  @Test("what a process leaves that ends before or after its files trade names is removed", arguments: [true, false])
  func leftover(isOld: Bool) throws {
    let store = try open(FileSystem())
    try store.set(1, forKey: "own")
    let left = folder.file("store.preferences.replaced")
    let mark = String(decoding: Line.mark, as: UTF8.self)
    if isOld {
      try left.overwrite(file.text + mark)
    } else {
      try left.overwrite(file.text)
      try file.append(mark)
    }
    try store.set(2, forKey: "own")
    try store.compact()
    #expect(try folder.names == [file.lastPathComponent])
    #expect(try open(FileSystem()).json() == "{\n  \"own\": 2\n}\n")
  }

  @Test("a file system that can't let files trade names has them renamed")
  func withoutExchange() throws {
    let store = try open(EditedFileSystem([], canExchange: false))
    for number in 0..<9 { try store.set(number, forKey: "own") }
    try store.compact()
    #expect(try folder.names == [file.lastPathComponent])
    #expect(try file.text.split(separator: "\n").count == 2)
    #expect(try open(FileSystem()).json() == store.json())
  }

  @Test("no edit that is renamed to the path beside writers that compact is lost", .timeLimit(.hang))
  func race() async throws {
    let path = FilePath(file.path)
    let stores = try (0..<2).map { _ in
      try FilePreferenceStore(path: path, followsOthers: false, system: FileSystem(), compactingAbove: 200)
    }
    try stores[0].set(0, forKey: "edit")
    let ends = Counter()
    var lost = 0
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, store) in stores.enumerated() {
        group.addTask {
          var value = 0
          while ends.value == 0 {
            for _ in 0..<20 {
              value += 1
              try store.set(value, forKey: "writer \(number)")
            }
            // The pause gives the other writer and the editor a turn.
            try await Task.sleep(for: .microseconds(200))
          }
        }
      }
      for number in 1...Effort.count(repetitions(debug: 60, release: 300), long: 3000) {
        let edit = folder.file("edit")
        try edit.overwrite("#preferences 1\n{\"edit\":\(number)}\n")
        try FileSystem().rename(FilePath(edit.path), to: path)
        let next = ContinuousClock.now + .microseconds(Int.random(in: 0..<1000))
        while ContinuousClock.now < next { await Task.yield() }
        // No other code sets the key, so the file at the path has the edit, except at the instant at which two files
        // swap names.
        var tries = 0
        while tries < 100, try open(FileSystem()).value(Int.self, forKey: "edit") != number {
          tries += 1
          try await Task.sleep(for: .milliseconds(1))
        }
        if tries == 100 { lost += 1 }
      }
      ends.increment()
      try await group.waitForAll()
    }
    #expect(lost == 0)
  }
}
