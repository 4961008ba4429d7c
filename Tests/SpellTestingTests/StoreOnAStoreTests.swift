import Foundation
import PreferenceSpell
import PreferenceStorage
import SpellTesting
import Support
import TestSupport
import Testing

/// A store that writes the characters of its texts in another order, as a cipher would.
private final class ReversingStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  private let base: any PreferenceStore
  init(_ base: any PreferenceStore) { self.base = base }

  var keys: [String] { base.keys }
  func json(forKey key: String) throws(PreferenceError) -> String? {
    guard let text = try base.value(String.self, forKey: key) else { return nil }
    guard let data = Data(base64Encoded: text) else {
      throw PreferenceError(.unreadable, "was not written by this store", key: key)
    }
    return String(decoding: data.reversed(), as: UTF8.self)
  }

  func write(_ changes: [PreferenceChange]) throws(PreferenceError) {
    do {
      try base.transaction { try stage(changes, in: &$0) }
    } catch {
      throw error as? PreferenceError ?? PreferenceError(.unwritable, "could not be written", underlying: error)
    }
  }

  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    try base.transaction { baseChanges in
      var transaction = PreferenceTransaction(on: self)
      let result = try body(&transaction)
      try stage(transaction.changes, in: &baseChanges)
      return result
    }
  }

  private func stage(_ changes: [PreferenceChange], in transaction: inout PreferenceTransaction) throws {
    for change in changes {
      try transaction.set(change.json.map { Data($0.utf8.reversed()).base64EncodedString() }, forKey: change.key)
    }
  }

  func changes() -> PreferenceChanges { base.changes() }
  func changes(of key: String) -> PreferenceChanges { base.changes(of: key) }
  func signal(forKey key: String) -> PreferenceSignal? { base.signal(forKey: key) }
}

/// A store in a separate domain of `UserDefaults`.
///
/// `@unchecked Sendable`: `UserDefaults` is thread-safe, although its type isn't declared `Sendable` on every platform.
private final class DefaultsStore: CustomPreferenceStore, @unchecked Sendable {
  let hub = PreferenceHub()
  private let defaults: UserDefaults
  init(_ domain: String) { defaults = UserDefaults(suiteName: domain)! }

  var keys: [String] { defaults.stringArray(forKey: "keys") ?? [] }
  func json(forKey key: String) -> String? {
    defaults.data(forKey: "value." + key).map { String(decoding: $0, as: UTF8.self) }
  }
  func write(_ changes: [PreferenceChange]) {
    var keys = keys
    for change in changes {
      if json(forKey: change.key) == nil { keys.append(change.key) }
      defaults.set(change.json.map { Data($0.utf8) }, forKey: "value." + change.key)
      if change.json == nil {
        defaults.removeObject(forKey: "value." + change.key)
        keys.removeAll { $0 == change.key }
      }
    }
    defaults.set(keys, forKey: "keys")
  }
}

@Suite("A store on another store", .timeLimit(.hang)) struct StoreOnAStoreTests {
  static let checks = PreferenceStoreSuite.checks

  /// A store that keeps its values in a store in memory.
  enum Layers: CaseIterable {
    case prefix, otherForm, otherFormOfPrefixOfPrefix

    func store() -> any PreferenceStore {
      let memory = MemoryPreferenceStore()
      return switch self {
      case .prefix: PrefixedPreferenceStore("ui.", in: memory)
      case .otherForm: ReversingStore(memory)
      case .otherFormOfPrefixOfPrefix:
        ReversingStore(PrefixedPreferenceStore("a.", in: PrefixedPreferenceStore("b.", in: memory)))
      }
    }
  }

  @Test("a store on a store in memory keeps the contract of stores", arguments: checks, Layers.allCases)
  func inMemory(check: PreferenceStoreSuite.Check, layers: Layers) async {
    await check.run { layers.store() }
  }

  @Test("a prefixed part of a store in a file keeps the contract, beside other keys", arguments: checks)
  func prefixedFile(check: PreferenceStoreSuite.Check) async throws {
    let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    let file = try FilePreferenceStore(url: folder.appending(path: "test.preferences"))
    try file.set(1, forKey: "other")
    await check.run { PrefixedPreferenceStore("ui.", in: file) }
    #expect(try file.value(Int.self, forKey: "other") == 1)
  }

  @Test("a store in UserDefaults keeps the contract", arguments: checks)
  func userDefaults(check: PreferenceStoreSuite.Check) async {
    let domain = "spellbook-\(UUID().uuidString)"
    await check.run { DefaultsStore(domain) }
    UserDefaults.standard.removePersistentDomain(forName: domain)
  }

  @Test("has no key that doesn't begin with its prefix, and removes none")
  func prefix() throws {
    let whole = MemoryPreferenceStore()
    let part = PrefixedPreferenceStore("é.", in: whole)
    for key in ["é.a", "é.", "é", "b"] { try whole.set(1, forKey: key) }
    #expect(part.keys == ["a"])
    try part.set(2, forKey: "\u{301}x")
    #expect(part.keys == ["a", "\u{301}x"])
    #expect(try part.value(Int.self, forKey: "\u{301}x") == 2)
    try part.removeAll()
    #expect(whole.keys == ["é.", "é", "b"])
  }

  @Test(
    "has the keys whose prefix is spelled otherwise in Unicode",
    arguments: ["e\u{301}.", "\u{212A}:", "a\u{323}\u{301}/"])
  func equalPrefixes(prefix: String) throws {
    let whole = MemoryPreferenceStore()
    let composed = prefix.precomposedStringWithCanonicalMapping
    #expect(Array(composed.unicodeScalars) != Array(prefix.unicodeScalars))
    let (one, other) = (PrefixedPreferenceStore(prefix, in: whole), PrefixedPreferenceStore(composed, in: whole))
    for key in ["n", "\u{301}x", "é"] {
      try one.set(1, forKey: key)
      #expect(other.keys == [key] && one.keys == [key])
      try other.removeAll()
      #expect(one.keys == [])
    }
  }

  @Test("a property of it keeps its decoded value, and sees what is written to the other store")
  func property() async throws {
    let whole = MemoryPreferenceStore()
    let part = ReversingStore(PrefixedPreferenceStore("ui.", in: whole))
    let counted = Preference("counted", default: DecodingCounter(), store: part)
    try part.set(DecodingCounter(), forKey: "counted")
    let before = DecodingCounter.count
    for _ in 0..<100 { _ = counted.value }
    #expect(DecodingCounter.count == before + 1)
    var values = counted.values.makeAsyncIterator()
    #expect(await values.next()?.number == 0)
    try ReversingStore(whole).set(DecodingCounter(number: 1), forKey: "ui.counted")
    #expect(counted.value.number == 1)
    #expect(await values.next()?.number == 1)
  }

  @Test("a failed write reaches the errors of the other store")
  func errors() async throws {
    let whole = MemoryPreferenceStore()
    var errors = whole.errors.makeAsyncIterator()
    let value = Preference("value", default: Decimal(0), store: PrefixedPreferenceStore("ui.", in: whole))
    value.value = .nan
    #expect(await errors.next()?.code == .invalidValue)
    #expect(value.error?.key == "value")
  }
}

/// A value that counts how often values of its type are decoded.
private struct DecodingCounter: Codable, Sendable {
  static let counter = Counter()
  static var count: Int { counter.count }
  var number = 0

  enum CodingKeys: CodingKey { case number }

  init(number: Int = 0) { self.number = number }

  init(from decoder: any Decoder) throws {
    DecodingCounter.counter.add()
    number = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .number)
  }

  final class Counter: Sendable {
    private let value = Lock(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
  }
}
