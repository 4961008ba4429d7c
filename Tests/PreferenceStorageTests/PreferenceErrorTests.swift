import Foundation
import PreferenceStorage
import Testing

@Suite("PreferenceError") struct PreferenceErrorTests {
  @Test("says what, where, and what caused it")
  func description() {
    let error = PreferenceError(
      .noSpace, "no space is left", key: "volume", path: "/tmp/a", underlying: SystemError("write", 28))
    #expect(
      error.description.hasPrefix(
        "key \"volume\" in /tmp/a: no space is left [write: No space left on device"))
    #expect(PreferenceError(.unreadable, "gone").description == "gone")
  }

  @Test("has its description as its localized description")
  func localizedDescription() {
    let error: any Error = PreferenceError(.noSpace, "no space is left", key: "volume")
    #expect(error.localizedDescription == "key \"volume\": no space is left")
  }

  @Test("names the member that a stored value lacks, and the declaration that reads an encoded one")
  func remedies() throws {
    struct Theme: Codable, Equatable { var name = "light", dark = false }
    let store = try MemoryPreferenceStore(["short": ["name": "red"], "number": 7])
    let encoded = try JSONEncoder().encode(Theme())
    try store.set(encoded, forKey: "data")
    try store.set(String(decoding: encoded, as: UTF8.self), forKey: "text")
    func message(forKey key: String) -> String {
      do { return "read: \(try store.value(Theme.self, forKey: key) as Any)" } catch { return "\(error)" }
    }
    #expect(message(forKey: "short").contains("Make `dark` Optional, or write init(from:) with decodeIfPresent"))
    for key in ["data", "text"] {
      #expect(message(forKey: key).contains("declare the key as formerly: .encoded(\"\(key)\")"))
    }
    #expect(message(forKey: "number").contains("Read it as the type it was written as"))
  }

  @Test("codes can be compared and have names")
  func codes() {
    #expect(PreferenceError.Code.noSpace != .unwritable)
    #expect("\(PreferenceError.Code.laterVersion)" == "laterVersion")
  }
}
