import Foundation
import PreferenceSpell
import PreferenceStorage
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

@Suite("$preference", .registry, .timeLimit(.hang)) struct PreferenceProjectionTests {
  struct Refused: Error {}
  let store = MemoryPreferenceStore()
  init() { use(store) }

  final class Counts {
    @Preference var launches = 0
    @Preference("") var unusable = 0
  }

  @Test("updates as one, however many threads do")
  func update() async throws {
    let projection = Counts().$launches
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { _ = try? projection.update { $0 += 1 } } }
    }
    #expect(Counts().launches == 100)
    #expect(try projection.update { $0 * 2 } == 200)
  }

  @Test("writes nothing where an update throws")
  func refusedUpdate() throws {
    let counts = Counts()
    #expect(throws: Refused.self) {
      try counts.$launches.update { launches in
        launches = 7
        throw Refused()
      }
    }
    #expect(counts.launches == 0)
    #expect(!counts.$launches.isSet)
  }

  @Test("throws where a value can't be read, and an update leaves it")
  func mismatch() throws {
    try store.set("seven", forKey: "launches")
    let counts = Counts()
    #expect(throws: PreferenceError.self) { try counts.$launches.load() }
    #expect(throws: PreferenceError.self) { try counts.$launches.update { $0 += 1 } }
    #expect(try store.value(String.self, forKey: "launches") == "seven")
    try counts.$launches.set(7)
    #expect(try counts.$launches.load() == 7)
  }

  @Test("throws where a value can't be written, which an assignment only tells")
  func refusedWrite() throws {
    let counts = Counts()
    #expect(throws: PreferenceError.self) { try counts.$unusable.set(1) }
    counts.unusable = 1
    #expect(counts.unusable == 0)
    #expect(counts.$unusable.error?.code == .invalidKey)
  }

  @Test("a constant has the operations of a projection itself")
  func constant() async throws {
    let store = MemoryPreferenceStore()
    let launches = Preference("launches", default: 0, store: store)
    #expect(!launches.isSet)
    try launches.update { $0 += 1 }
    #expect(launches.isSet)
    #expect(try launches.load() == 1)
    try launches.set(5)
    #expect(launches.value == 5)
    var values = launches.values.makeAsyncIterator()
    #expect(await values.next() == 5)
    launches.reset()
    #expect(await values.next() == 0)
    try store.set("many", forKey: "launches")
    #expect(launches.error?.code == .typeMismatch)
    #expect(throws: PreferenceError.self) { try launches.load() }
  }

  @Test("keeps why an assignment failed until the property has read a newer value")
  func pastFailure() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preference-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = try FilePreferenceStore(url: folder.appending(path: "settings.preferences"))
    let endless = Preference("endless", default: Unwritable(), store: file)
    endless.value = Unwritable()
    #expect(endless.error != nil)
    try file.set(1, forKey: "other")
    #expect(endless.error != nil)
    try file.set([String: Int](), forKey: "endless")
    #expect(endless.error != nil)
    _ = endless.value
    #expect(endless.error == nil)
  }

  @Test("says that an assignment hasn't erased the former value, though the value has changed")
  func failedErasing() throws {
    let store = FullStore()
    let token = Preference(PreferenceKey<String?>("token").erasing, store: store)
    token.value = "a"
    store.refusesCompactions.store(true, ordering: .relaxed)
    token.value = "b"
    #expect(token.value == "b" && token.error?.code == .noSpace)
    try store.set("c", forKey: "token")
    #expect(token.value == "c" && token.error == nil)
  }

  @Test("forgets why an assignment failed when a later change succeeds, even one that changes nothing")
  func laterSuccess() throws {
    let store = FullStore()
    final class Settings { @Preference var theme = Theme() }
    use(store)
    let settings = Settings()
    settings.theme = Theme(name: "dark")
    let successes: [() throws -> Void] = [
      { settings.theme = Theme(name: "dark") }, { try settings.$theme.set(Theme(name: "dark")) },
      { try settings.$theme.update { $0.name = "dark" } }, { settings.$theme.name.value = "dark" },
    ]
    for succeed in successes {
      store.refusesWrites.store(true, ordering: .relaxed)
      settings.$theme.name.value = "light"
      #expect(settings.$theme.error?.code == .noSpace)
      store.refusesWrites.store(false, ordering: .relaxed)
      try succeed()
      #expect(settings.$theme.error == nil && settings.theme.name == "dark")
    }
  }
}

/// A store in memory that can be made to refuse writes and compactions.
private final class FullStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  let refusesWrites = Atomic(false)
  let refusesCompactions = Atomic(false)
  private let base = MemoryPreferenceStore()

  var keys: [String] { base.keys }
  func json(forKey key: String) -> String? { base.json(forKey: key) }

  func write(_ changes: [PreferenceChange]) throws(PreferenceError) {
    if refusesWrites.load(ordering: .relaxed) { throw PreferenceError(.noSpace, "full") }
    base.write(changes)
  }

  func compact() throws(PreferenceError) {
    if refusesCompactions.load(ordering: .relaxed) { throw PreferenceError(.noSpace, "full") }
  }
}

/// A value whose encoding throws.
private struct Unwritable: Codable, Sendable {
  func encode(to encoder: any Encoder) throws { throw PreferenceProjectionTests.Refused() }
}
