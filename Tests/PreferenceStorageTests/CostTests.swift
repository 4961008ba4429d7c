import Foundation
import PreferenceStorage
import TestSupport
import Testing

/// Checks that costs don't grow with something else, by ratios of times that are far apart.
@Suite("Costs") struct CostTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func time(_ body: () throws -> Void) rethrows -> Duration { try processorTime(of: body) }

  @Test("opening a store costs the same however many are open")
  func opening() throws {
    var stores: [FilePreferenceStore] = []
    func open(_ range: Range<Int>) throws -> Duration {
      try time { for number in range { stores.append(try FilePreferenceStore(url: folder.file("\(number)"))) } }
    }
    _ = try open(0..<100)
    let first = try open(100..<400)
    _ = try open(400..<2600)
    #expect(try open(2600..<2900) < first * 4)
  }

  @Test("a listener to a key hears of it, and not of others", .timeLimit(.hang))
  func keyListener() async throws {
    let store = MemoryPreferenceStore()
    var changes = store.changes(of: "a").makeAsyncIterator()
    try store.set(1, forKey: "b")
    try store.set(1, forKey: "a")
    #expect(await changes.next() == ["a"])
  }

  @Test("a mismatch of a long value costs little, and its message has nothing of the value")
  func mismatch() throws {
    let store = MemoryPreferenceStore()
    try store.set(String(repeating: "secret", count: 1_000_000), forKey: "token")
    func read<Value: Codable>(_ type: Value.Type) throws {
      let error = try #require(throws: PreferenceError.self) { _ = try store.value(type, forKey: "token") }
      #expect(error.code == .typeMismatch)
      #expect(error.description.contains("a string of 6000002 bytes"))
      #expect(!error.description.contains("secret"))
    }
    let long = try time {
      try read(Int.self)
      try read(Bool.self)
      try read(Double.self)
      try read(Date.self)
    }
    let copy = try time { _ = try store.value(String.self, forKey: "token") }
    #expect(long < copy * 4 + .milliseconds(50))
    try read([Int].self)
  }

  @Test("the error of a value that a decoder refuses has its place, and nothing of the value")
  func refusal() throws {
    enum Word: String, Codable { case plain }
    let store = MemoryPreferenceStore()
    try store.set(["plain", "secret"], forKey: "token")
    let error = #expect(throws: PreferenceError.self) { _ = try store.value([Word].self, forKey: "token") }
    let text = try #require(error).description
    #expect(text.contains("[at [\"Index 1\"]]") && !text.contains("secret"))
    struct Password: Codable {
      let text: String
      init(_ text: String) { self.text = text }
      func encode(to encoder: any Encoder) throws {}
    }
    let refused = #expect(throws: PreferenceError.self) { try store.set(Password("secret"), forKey: "token") }
    #expect(try !#require(refused).description.contains("secret"))
  }
}
