import Foundation
import PreferenceSpell
import PreferenceStorage
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

@Suite("A @Preference whose store can't be read", .registry, .timeLimit(.hang)) struct UnavailableStoreTests {
  final class Counts { @Preference var launches = 0 }

  /// A file that belongs to another program at first, and later has the value 100 for launches.
  final class LateFile: Sendable {
    // The file has its own folder, because no store opens a file in a folder that others can write, such as the
    // temporary folder.
    private let folder = URL.temporaryDirectory.appending(path: "late-\(UUID().uuidString)")
    var url: URL { folder.appending(path: "late.preferences") }
    init() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      try Data("another program's\n".utf8).write(to: url)
    }
    deinit { _ = try? FileManager.default.removeItem(at: folder) }
    // The write is atomic, because a store may look at any moment.
    func arrive() throws { try Data("#preferences 1\n{\"launches\":100}\n".utf8).write(to: url, options: .atomic) }
  }

  func register(_ file: LateFile) {
    InitializerRegistry.current.register((any PreferenceStore).self) { try FilePreferenceStore(url: file.url) }
  }

  @Test("is made again by later uses, and then has its value")
  func madeLater() async throws {
    let file = try LateFile()
    register(file)
    let counts = Counts()
    let read = counts.launches
    #expect(read == 0)
    #expect(counts.$launches.error?.code == .notAPreferencesFile)
    try file.arrive()
    while counts.$launches.error?.code == .notAPreferencesFile {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(counts.launches == 100)
    counts.launches += 1
    #expect(try FilePreferenceStore(url: file.url).value(Int.self, forKey: "launches") == 101)
  }

  @Test("refuses one assignment after a read that gave the default, and keeps the next")
  func builtOnDefault() throws {
    let store = LateStore()
    let launches = Preference("launches", default: 0, store: store)
    let read = launches.value
    store.isReadable.store(true, ordering: .relaxed)
    launches.value = read + 1
    #expect(launches.error?.code == .unreadable)
    #expect(try store.value(Int.self, forKey: "launches") == 100)
    launches.value += 1
    #expect(try store.value(Int.self, forKey: "launches") == 101)
    #expect(launches.error == nil)
  }

  @Test("gives its values when there is a store")
  func values() async throws {
    let file = try LateFile()
    register(file)
    let counts = Counts()
    var values = counts.$launches.values.makeAsyncIterator()
    #expect(await values.next() == 0)
    try #require(counts.$launches.error?.code == .notAPreferencesFile)
    try file.arrive()
    while counts.launches != 100 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await values.next() == 100)
  }

  @Test("is found by a projection and a part that are older than it")
  func olderProjection() async throws {
    let isThere = Atomic(false)
    let store = MemoryPreferenceStore()
    try store.set(100, forKey: "launches")
    try store.set(Theme(name: "dark"), forKey: "theme")
    InitializerRegistry.current.register((any PreferenceStore).self) {
      guard isThere.load(ordering: .relaxed) else { throw PreferenceError(.unreadable, "not yet") }
      return store
    }
    final class Both {
      @Preference var launches = 0
      @Preference var theme = Theme()
    }
    let counts = Both()
    let (projection, part) = (counts.$launches, counts.$theme.name)
    #expect(projection.value == 0 && part.value == "light")
    isThere.store(true, ordering: .relaxed)
    while counts.launches != 100 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(try projection.value == 100 && projection.load() == 100)
    try projection.set(101)
    #expect(counts.launches == 101 && projection.error == nil)
    while counts.theme.name != "dark" { try await Task.sleep(for: .milliseconds(5)) }
    #expect(part.value == "dark")
    var values = projection.values.makeAsyncIterator()
    #expect(await values.next() == 101)
  }

  @Test("gives its values when there is a store, though several tries fail between two looks")
  func valuesAfterSeveralTries() async throws {
    let tries = Atomic(0)
    let store = MemoryPreferenceStore()
    try store.set(100, forKey: "launches")
    InitializerRegistry.current.register((any PreferenceStore).self) {
      guard tries.add(1, ordering: .relaxed).newValue > 3 else { throw PreferenceError(.unreadable, "not yet") }
      return store
    }
    let counts = Counts()
    var values = counts.$launches.values.makeAsyncIterator()
    #expect(await values.next() == 0)
    while counts.launches != 100 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await values.next() == 100)
  }

  @Test("reports a value of the wrong type once for each change, to the store's errors")
  func mismatch() async throws {
    let store = MemoryPreferenceStore()
    use(store)
    let counts = Counts()
    let errors = store.errors
    for text in ["seven", "eight"] {
      try store.set(text, forKey: "launches")
      for _ in 0..<3 { #expect(counts.launches == 0 && Counts().launches == 0) }
    }
    try store.set(9, forKey: "other")
    #expect(counts.launches == 0)
    store.report(PreferenceError(.noSpace, "the last"))
    var codes: [PreferenceError.Code] = []
    for await error in errors {
      codes.append(error.code)
      if error.code == .noSpace { break }
    }
    #expect(codes == [.typeMismatch, .typeMismatch, .noSpace])
  }

  @Test("a static that is nil until it is set asks the registry that is current at each use")
  func optionalConstant() {
    enum Constants { static let nick = Preference<String?>("nick") }
    use(MemoryPreferenceStore())
    Constants.nick.value = "Ada"
    #expect(Constants.nick.value == "Ada")
    InitializerRegistry().run {
      use(MemoryPreferenceStore())
      #expect(Constants.nick.value == nil && !Constants.nick.isSet)
    }
    #expect(Constants.nick.value == "Ada")
  }
}

/// A store that can't be read at first, and later has the value 100 for launches.
private final class LateStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  let isReadable = Atomic(false)
  private let launches = Mutex("100")

  var keys: [String] { ["launches"] }

  func json(forKey key: String) throws(PreferenceError) -> String? {
    guard isReadable.load(ordering: .relaxed) else { throw PreferenceError(.unreadable, "not yet", key: key) }
    return launches.withLock { $0 }
  }

  func write(_ changes: [PreferenceChange]) throws(PreferenceError) {
    for change in changes { launches.withLock { $0 = change.json ?? "" } }
  }
}
