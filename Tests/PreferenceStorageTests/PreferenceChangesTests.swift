import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("PreferenceChanges", .timeLimit(.hang)) struct PreferenceChangesTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("tells the keys that changed since changes() was called, coalesced", arguments: StoreKind.allCases)
  func coalescing(kind: StoreKind) async throws {
    let store = try kind.makeStore(in: folder)
    try store.set(0, forKey: "before")
    var changes = store.changes().makeAsyncIterator()
    for number in 1...100 { try store.set(number, forKey: "a") }
    try store.transaction { changes in
      try changes.set(1, forKey: "b")
      changes.removeValue(forKey: "before")
    }
    #expect(await changes.next() == ["a", "b", "before"])
    try store.removeAll()
    #expect(await changes.next() == ["a", "b"])
  }

  @Test("of one key don't tell the keys that changed with it", arguments: StoreKind.allCases)
  func ofOneKey(kind: StoreKind) async throws {
    let store = try kind.makeStore(in: folder)
    var changes = store.changes(of: "a").makeAsyncIterator()
    try store.transaction { changes in for key in ["a", "b", "c"] { try changes.set(1, forKey: key) } }
    #expect(await changes.next() == ["a"])
  }

  @Test("says nothing of values that are set to what they are", arguments: StoreKind.allCases)
  func equalValues(kind: StoreKind) async throws {
    let store = try kind.makeStore(in: folder)
    try store.set(1, forKey: "a")
    var changes = store.changes().makeAsyncIterator()
    try store.set(1, forKey: "a")
    try store.removeValue(forKey: "b")
    try store.set(2, forKey: "c")
    #expect(await changes.next() == ["c"])
  }

  @Test("each call is heard by itself", arguments: StoreKind.allCases)
  func several(kind: StoreKind) async throws {
    let store = try kind.makeStore(in: folder)
    var one = store.changes().makeAsyncIterator()
    try store.set(1, forKey: "a")
    var two = store.changes().makeAsyncIterator()
    try store.set(1, forKey: "b")
    #expect(await one.next() == ["a", "b"])
    #expect(await two.next() == ["b"])
  }

  @Test("hears of what another store on the file does, and of what a reload finds")
  func otherStores() async throws {
    let store = try FilePreferenceStore(url: folder.file())
    var changes = store.changes().makeAsyncIterator()
    try FilePreferenceStore(url: folder.file()).set(1, forKey: "shared")
    #expect(await changes.next() == ["shared"])
    let stranger = try FilePreferenceStore(path: FilePath(folder.file().path), system: FileSystem())
    try stranger.set(2, forKey: "theirs")
    try store.reload()
    #expect(await changes.next() == ["theirs"])
    try FileManager.default.removeItem(at: folder.file())
    try store.reload()
    #expect(await changes.next() == ["shared", "theirs"])
  }

  @Test("ends when its task is cancelled, also while it waits", arguments: StoreKind.allCases)
  func cancellation(kind: StoreKind) async throws {
    let store = try kind.makeStore(in: folder)
    let changes = store.changes()
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      var batches = 0
      for await _ in changes {
        batches += 1
        start.finish()
      }
      return batches
    }
    try store.set(1, forKey: "a")
    for await _ in started {}
    task.cancel()
    #expect(await task.value == 1)
  }

  @Test("no change is lost, however many threads make them", arguments: StoreKind.allCases)
  func nothingLost(kind: StoreKind) async throws {
    let store = try kind.makeStore(in: folder)
    let changes = store.changes()
    let expected = Set((0..<4).flatMap { task in (0..<200).map { "\(task).\($0)" } })
    let reader = Task {
      var heard: Set<String> = []
      for await keys in changes {
        heard.formUnion(keys)
        if heard.count == expected.count { break }
      }
      return heard
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask { for turn in 0..<200 { try store.set(turn, forKey: "\(task).\(turn)") } }
      }
      try await group.waitForAll()
    }
    #expect(await reader.value == expected)
  }

  @Test("errors that are reported are heard by everyone who listens")
  func errors() async throws {
    let store = MemoryPreferenceStore()
    var one = store.errors.makeAsyncIterator()
    var two = store.errors.makeAsyncIterator()
    store.report(PreferenceError(.noSpace, "no space", key: "a"))
    #expect(await one.next()?.key == "a")
    #expect(await two.next()?.code == .noSpace)
  }

  @Test("a key's signal has a version that grows with each change of the key", arguments: [true, false])
  func signal(inFile: Bool) throws {
    let store: any PreferenceStore =
      inFile ? try FilePreferenceStore(url: folder.file()) : MemoryPreferenceStore()
    let (signal, other) = (try #require(store.signal(forKey: "a")), try #require(store.signal(forKey: "b")))
    #expect(store.signal(forKey: "a") === signal)
    let versions = (signal.version, other.version)
    try store.set(1, forKey: "a")
    let second = signal.version
    #expect(second > versions.0)
    try store.set(1, forKey: "a")
    #expect(signal.version == second)
    try store.removeAll()
    #expect(signal.version > second)
    #expect(other.version == versions.1)
  }
}
