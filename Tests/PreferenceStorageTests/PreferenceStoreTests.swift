import Foundation
import PreferenceStorage
import TestSupport
import Testing

/// The kinds of stores, for all of which these tests have to pass.
enum StoreKind: CaseIterable, Sendable, CustomTestStringConvertible {
  case memory, file

  var testDescription: String { self == .memory ? "memory" : "file" }

  func makeStore(in folder: TemporaryFolder) throws -> any PreferenceStore {
    switch self {
    case .memory: MemoryPreferenceStore()
    case .file: try FilePreferenceStore(url: folder.file())
    }
  }
}

struct Theme: Codable, Equatable, Sendable {
  var name: String
  var sizes: [Int]
}

@Suite("PreferenceStore", .timeLimit(.hang)) struct PreferenceStoreTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("what was never set is nil", arguments: StoreKind.allCases)
  func absent(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    #expect(try store.value(Int.self, forKey: "absent") == nil)
    #expect(try store.value(Theme?.self, forKey: "absent") == nil)
    #expect(store.keys.isEmpty)
  }

  @Test("a store in memory may begin with values, in the order in which they are given")
  func initialValues() throws {
    let dark = Theme(name: "dark", sizes: [1])
    let store = try MemoryPreferenceStore(["volume": 7, "theme": dark, "draft": String?.none])
    #expect(store.keys == ["volume", "theme"])
    #expect(try store.value(Theme.self, forKey: "theme") == dark)
    #expect(throws: PreferenceError.self) { try MemoryPreferenceStore(["": 7]) }
  }

  @Test("setting an optional to nil removes the key", arguments: StoreKind.allCases)
  func settingNil(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set(Optional(7), forKey: "a")
    #expect(try store.value(Int?.self, forKey: "a") == 7)
    #expect(try store.value(Int.self, forKey: "a") == 7)
    try store.set(Int?.none, forKey: "a")
    #expect(try store.value(Int?.self, forKey: "a") == .some(nil) || store.keys.isEmpty)
    #expect(store.keys.isEmpty)
  }

  @Test(
    "keys are sorted by first writing, and one that is set again is the last", arguments: StoreKind.allCases)
  func order(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    for key in ["c", "a", "b"] { try store.set(1, forKey: key) }
    try store.set(2, forKey: "c")
    #expect(store.keys == ["c", "a", "b"])
    try store.removeValue(forKey: "c")
    try store.set(3, forKey: "c")
    #expect(store.keys == ["a", "b", "c"])
    try store.removeAll()
    #expect(store.keys.isEmpty)
  }

  @Test(
    "any string but the empty one is a key",
    arguments: [
      "two words", "a\nb", "nul\u{0}", "\"\\", "👩‍👩‍👧", "\u{1}\u{7f}\u{2028}",
      String(repeating: "k", count: 65_536),
    ])
  func hostileKeys(key: String) throws {
    for kind in StoreKind.allCases {
      let store = try kind.makeStore(in: folder)
      try store.set("value", forKey: key)
      #expect(try store.value(String.self, forKey: key) == "value")
      #expect(store.keys == [key])
    }
    let lines = try folder.file().text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(try FilePreferenceStore(path: FilePath(folder.file().path), system: FileSystem()).keys == [key])
  }

  @Test("an empty key and one that is too long are refused", arguments: StoreKind.allCases)
  func invalidKeys(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    for key in ["", String(repeating: "k", count: 65_537)] {
      #expect(throws: PreferenceError.self) { try store.set(1, forKey: key) }
      let error = try #require(throws: PreferenceError.self) { try store.value(Int.self, forKey: key) }
      #expect(error.code == .invalidKey)
      #expect(error.description.utf8.count < 400)
    }
    #expect(store.keys.isEmpty)
  }

  @Test("a value of another type is an error that names it, and is kept", arguments: StoreKind.allCases)
  func typeMismatch(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set("seven", forKey: "volume")
    let error = try #require(throws: PreferenceError.self) { try store.value(Int.self, forKey: "volume") }
    #expect(error.code == .typeMismatch)
    #expect(error.key == "volume")
    #expect(error.description.contains("a string of 7 bytes") && !error.description.contains("seven"))
    #expect(error.description.contains("Int"))
    #expect(try store.value(String.self, forKey: "volume") == "seven")
  }

  @Test("a value that can't be encoded is refused, and the old one kept", arguments: StoreKind.allCases)
  func invalidValue(kind: StoreKind) throws {
    struct Stubborn: Codable {
      struct Refusal: Error {}
      init() {}
      init(from decoder: any Decoder) throws { throw Refusal() }
      func encode(to encoder: any Encoder) throws { throw Refusal() }
    }
    let store = try kind.makeStore(in: folder)
    try store.set(1, forKey: "a")
    let error = try #require(throws: PreferenceError.self) { try store.set(Stubborn(), forKey: "a") }
    #expect(error.code == .invalidValue)
    #expect(try store.value(Int.self, forKey: "a") == 1)
  }

  @Test("threads that hammer one store lose no increment", arguments: StoreKind.allCases)
  func threads(kind: StoreKind) async throws {
    let store = try kind.makeStore(in: folder)
    let turns = repetitions(debug: 50, release: 250)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for turn in 0..<turns {
            try store.transaction { changes in
              try changes.set((changes.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
            }
            try store.set(turn, forKey: "task \(task)")
            _ = try store.value(Int.self, forKey: "task \((task + 1) % 8)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.value(Int.self, forKey: "count") == 8 * turns)
    #expect(store.keys.count == 9)
  }
}
