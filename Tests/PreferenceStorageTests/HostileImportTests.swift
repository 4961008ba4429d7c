import Foundation
import TestSupport
import Testing

@testable import PreferenceStorage

@Suite("Files that an import must survive", .timeLimit(.hang)) struct HostileImportTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  static let files: [(name: String, bytes: [UInt8])] = [
    ("nested JSON", Array(("{\"a\":" + String(repeating: "[", count: 100_000)).utf8)),
    ("a space", [0x20]),
    ("a byte-order mark", [0xef, 0xbb, 0xbf]),
    ("bytes", [0xff]),
  ]

  @Test("are an error in no time", arguments: files.map(\.name))
  func hostile(name: String) throws {
    let source = folder.file("source")
    try Data(try #require(HostileImportTests.files.first { $0.name == name }).bytes).write(to: source)
    let store = MemoryPreferenceStore()
    let time = try processorTime {
      let error = try #require(throws: PreferenceError.self) { try store.import(from: source) }
      #expect(error.code == .unreadable)
    }
    // In a release build, this takes less than a second.
    #expect(time < .seconds(5))
    #expect(store.keys.isEmpty)
  }

  @Test("with a byte-order mark before JSON are read")
  func byteOrderMark() throws {
    let source = folder.file("source")
    try Data([0xef, 0xbb, 0xbf] + Array("{\"a\":1}".utf8)).write(to: source)
    let store = MemoryPreferenceStore()
    #expect(try store.import(from: source).keys == ["a"])
  }
}
