import Foundation
import Support
import PreferenceSpell
import PreferenceStorage
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

@Suite("CustomPreferenceStore", .timeLimit(.hang)) struct CustomPreferenceStoreTests {
  let medium = Medium()
  let store: MediumStore

  init() { store = MediumStore(medium) }

  @Test("is given changes only, each as a line of JSON")
  func changes() throws {
    try store.set("a\nb", forKey: "text")
    try store.set(["x": [1, 2]], forKey: "nested")
    #expect(medium.contents.withLock(\.texts) == ["text": #""a\nb""#, "nested": #"{"x":[1,2]}"#])
    medium.contents.withLock { $0.isWritable = false }
    try store.set(["x": [1, 2]], forKey: "nested")
    try store.removeValue(forKey: "absent")
    try store.transaction { try $0.set("a\nb", forKey: "text") }
    let error = try #require(throws: PreferenceError.self) { try store.set(1, forKey: "text") }
    #expect(error.code == .unwritable)
  }

  @Test("announces no change that its medium refused")
  func refused() async throws {
    var changes = store.changes().makeAsyncIterator()
    medium.contents.withLock { $0.isWritable = false }
    #expect(throws: PreferenceError.self) { try store.set(1, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.transaction { try $0.set(1, forKey: "b") } }
    medium.contents.withLock { $0.isWritable = true }
    try store.set(1, forKey: "c")
    #expect(store.keys == ["c"])
    #expect(await changes.next() == ["c"])
  }

  @Test("announces what others wrote after its own reload")
  func reload() async throws {
    try store.set(1, forKey: "a")
    let other = MediumStore(medium)
    var changes = store.changes().makeAsyncIterator()
    try other.set(2, forKey: "a")
    try other.set(3, forKey: "b")
    #expect(try store.value(Int.self, forKey: "a") == 1)
    try store.reload()
    #expect(try store.value(Int.self, forKey: "a") == 2)
    #expect(await changes.next() == ["a", "b"])
  }

  @Test("throws what its medium can't read, and can overwrite it")
  func unreadable() throws {
    try store.set(1, forKey: "a")
    medium.contents.withLock { $0.isReadable = false }
    try store.reload()
    let error = try #require(throws: PreferenceError.self) { try store.value(Int.self, forKey: "a") }
    #expect(error.code == .unreadable)
    #expect(error.key == "a")
    try store.set(1, forKey: "a")
  }

  @Test("throws a type mismatch for text that isn't JSON")
  func noJSON() throws {
    medium.contents.withLock { contents in
      contents.order = ["a"]
      contents.texts = ["a": "{]"]
    }
    let error = try #require(throws: PreferenceError.self) { try MediumStore(medium).value(Int.self, forKey: "a") }
    #expect(error.code == .typeMismatch)
  }

  @Test("migrates and imports as other stores do")
  func migration() throws {
    try store.set(7, forKey: "loudness")
    try store.migrate(to: 1) { _, changes in try changes.moveValue(forKey: "loudness", to: "volume") }
    let file = URL.temporaryDirectory.appending(path: UUID().uuidString)
    defer { _ = try? FileManager.default.removeItem(at: file) }
    try Data(#"{ "volume": null, "name": "Ada" }"#.utf8).write(to: file)
    #expect(try store.import(from: file).count == 2)
    #expect(store.keys == ["#version", "name"])
  }

  @Test("keeps properties, and reports an assignment that it refused", .registry)
  func property() async throws {
    final class Player { @Preference var volume = 5 }
    InitializerRegistry.current.register(.instance(store as any PreferenceStore))
    var errors = store.errors.makeAsyncIterator()
    let player = Player()
    player.volume += 1
    #expect(medium.contents.withLock(\.texts) == ["volume": "6"])
    medium.contents.withLock { $0.isWritable = false }
    player.volume += 1
    #expect(player.volume == 6)
    #expect(player.$volume.error?.code == .unwritable)
    #expect(await errors.next()?.code == .unwritable)
  }

  @Test("can put a transaction into its own transaction")
  func ownTransaction() throws {
    let store = CountingStore()
    try store.transaction { changes in
      try changes.set(1, forKey: "a")
      #expect(changes.keys == ["a"])
    }
    #expect(store.value == ["a=1"])
    #expect(throws: PreferenceError.self) {
      try store.transaction { _ in try store.set(1, forKey: "b") }
    }
  }

  @Test("can run a transaction on values of its choice, and hear what it reads")
  func transactionOnGivenValues() throws {
    let copy = NotingStore(["a": "1", "b": "2"])
    var transaction = PreferenceTransaction(on: copy)
    #expect(try transaction.value(Int.self, forKey: "a") == 1)
    #expect(copy.read.withLock(\.self) == ["a"])
    try transaction.set(1, forKey: "a")
    try transaction.set(3, forKey: "c")
    transaction.removeValue(forKey: "b")
    #expect(transaction.keys == ["a", "c"])
    #expect(transaction.changes.map(\.key) == ["c", "b"])
    #expect(transaction.changes.map(\.json) == ["3", nil])
    #expect(copy.read.withLock(\.self) == ["a", "b", "c"])
  }

  @Test("passes a reported error to every listener")
  func reports() async {
    let hub = PreferenceHub()
    var one = hub.errors.makeAsyncIterator()
    var two = hub.errors.makeAsyncIterator()
    hub.report(PreferenceError(.noSpace, "the session is full", key: "a", path: "session"))
    #expect(await one.next()?.key == "a")
    #expect(await two.next()?.description == #"key "a" in session: the session is full"#)
  }
}

/// A store that implements `transaction` itself, and keeps only what the last transaction changed.
private final class CountingStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  private let last = Medium()
  var keys: [String] { [] }
  var value: [String] { last.contents.withLock { $0.texts.map { "\($0.key)=\($0.value)" } } }

  func json(forKey key: String) -> String? { nil }
  func write(_ changes: [PreferenceChange]) throws(PreferenceError) { try last.write(changes) }

  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try hub.write { () throws(PreferenceError) in
      var transaction = PreferenceTransaction(on: self)
      do { result = .success(try body(&transaction)) } catch {
        result = .failure(error)
        return []
      }
      try write(transaction.changes)
      return Set(transaction.changes.map(\.key))
    }
    return try #require(result).get()
  }
}

/// A copy of values that records which of them are read.
private final class NotingStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  let read = Lock<Set<String>>([])
  private let values: [String: String]
  init(_ values: [String: String]) { self.values = values }

  var keys: [String] { values.keys.sorted() }
  func json(forKey key: String) -> String? {
    read.withLock { _ = $0.insert(key) }
    return values[key]
  }
  func write(_ changes: [PreferenceChange]) {}
}
