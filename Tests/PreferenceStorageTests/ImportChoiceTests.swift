import Foundation
import TestSupport
import Testing

@testable import PreferenceStorage

@Suite("What an import takes over") struct ImportChoiceTests {
  let folder: TemporaryFolder
  let store = MemoryPreferenceStore()

  init() throws { folder = try TemporaryFolder() }

  func source(_ text: String) throws -> URL {
    let file = folder.file("source")
    try file.overwrite(text)
    return file
  }

  @Test("is the keys that are asked for")
  func keys() throws {
    let source = try source("{\"a\":1,\"b\":2,\"c\":3}")
    #expect(try store.import(from: source, keys: ["c", "a", "absent"]).keys == ["a", "c"])
    #expect(store.keys == ["a", "c"])
  }

  @Test("is all but what is invalid, which is listed, or nothing")
  func invalid() throws {
    let long = String(repeating: "k", count: 65_537)
    let source = try source("{\"a\":1,\"\(long)\":2,\"b\":3}")
    #expect(throws: PreferenceError.self) { try store.import(from: source) }
    #expect(store.keys.isEmpty)
    let result = try store.import(from: source, skippingInvalid: true)
    #expect(result.keys == ["a", "b"])
    #expect(result.errors.map(\.code) == [.invalidKey])
    #expect(result.errors.first?.key == long)
    #expect(store.keys == ["a", "b"])
  }

  @Test("is the keys that are asked for, though another one has no valid name or value, which isn't listed")
  func invalidElsewhere() throws {
    let longKey = String(repeating: "k", count: 65_537)
    let source = try source(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>a</key><integer>1</integer><key>b</key><dict><key>CF$UID</key><integer>1</integer></dict>
      <key>\(longKey)</key><integer>2</integer></dict></plist>
      """)
    #expect(code { _ = try store.import(from: source, keys: ["a", "b"]) } == .invalidValue)
    #expect(try store.import(from: source, keys: ["a"]).keys == ["a"])
    #expect(try store.import(from: source, keys: ["a"], skippingInvalid: true).errors.isEmpty)
  }

  @Test("is each key once, with the last of its values")
  func duplicates() throws {
    let result = try store.import(from: try source("{\"a\":1,\"b\":2,\"a\":3}"))
    #expect(result.keys == ["a", "b"] && result.count == 2)
    #expect(store.json() == "{\n  \"a\": 3,\n  \"b\": 2\n}\n")
  }

  @Test("is part of the transaction in which it is made, as a step of a migration")
  func migration() throws {
    struct Refused: Error {}
    let source = try source("{\"a\":1,\"loudness\":2}")
    #expect(throws: Refused.self) {
      try store.migrate(to: 1) { _, changes in
        try changes.import(from: source)
        throw Refused()
      }
    }
    #expect(store.keys.isEmpty)
    try store.migrate(to: 1) { _, changes in
      try changes.import(from: source)
      try changes.moveValue(forKey: "loudness", to: "volume")
    }
    #expect(Set(store.keys) == ["a", "volume", "#version"])
  }

  @Test("takes the place of everything if it is a restoration")
  func restoration() throws {
    try store.set(1, forKey: "kept")
    try store.set(1, forKey: "newer")
    let source = try source("{\"kept\":2,\"old\":3}")
    try store.import(replacing: source)
    #expect(store.json() == "{\n  \"kept\": 2,\n  \"old\": 3\n}\n")
    #expect(throws: PreferenceError.self) { try store.import(replacing: folder.file("absent")) }
    #expect(store.keys == ["kept", "old"])
  }

  @Test("can be an empty key, which a file that was edited by hand has; it can be read, exported and removed")
  func emptyKey() throws {
    let file = folder.file()
    try file.overwrite("#preferences 1\n{\"\":1}\n")
    let kept = try FilePreferenceStore(url: file)
    #expect(kept.keys == [""])
    #expect(try kept.json(forKey: "") == "1")
    let source = try source(kept.json())
    try store.import(from: source)
    #expect(store.keys == [""])
    try kept.removeValue(forKey: "")
    #expect(kept.keys.isEmpty)
    #expect(throws: PreferenceError.self) { try kept.set(1, forKey: "") }
  }

  @Test(
    "is never what an encoder writes and no parser reads",
    arguments: StoreKind.allCases)
  func notJSON(kind: StoreKind) throws {
    struct Price: Codable { var amount = Decimal.nan }
    let store = try kind.makeStore(in: folder)
    try store.set(1, forKey: "a")
    #expect(code { try store.set(Decimal.nan, forKey: "a") } == .invalidValue)
    #expect(code { try store.set([Price()], forKey: "a") } == .invalidValue)
    #expect(code { try store.transaction { try $0.set(Price(), forKey: "b") } } == .invalidValue)
    #expect(code { try store.transaction { try $0.set(json: "NaN", forKey: "b") } } == .invalidValue)
    try store.set(Decimal(string: "1.5"), forKey: "b")
    #expect(try store.value(Decimal.self, forKey: "b") == Decimal(string: "1.5"))
    #expect(try store.value(Int.self, forKey: "a") == 1)
  }
}
