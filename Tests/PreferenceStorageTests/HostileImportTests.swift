import Foundation
import TestSupport
import Testing

@testable import PreferenceStorage

@Suite("Files that an import must survive", .timeLimit(.hang)) struct HostileImportTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Returns a binary property list with objects of these bytes; the first is the root object.
  static func binary(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
      bytes += object
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [objects.count, 0, table] { bytes += withUnsafeBytes(of: UInt64(number).bigEndian, Array.init) }
    return bytes
  }

  /// Arrays, each of which contains the next one twice: 2 to the power of 200 values in about 600 bytes.
  static var doubled: [UInt8] {
    binary([[0xd1, 1, 2], [0x51, 0x61]] + (3..<203).map { [0xa2, UInt8($0), UInt8($0)] } + [[0x09]])
  }

  static let closing = String(repeating: "</array>", count: 100_000)

  /// Returns a deeply nested property list after a text with as many closing tags.
  static func hidden(_ disguise: String) -> String {
    "<plist>\(disguise)<dict><key>a</key>" + String(repeating: "<array>", count: 100_000) + closing + "</dict></plist>"
  }

  static let files: [(name: String, bytes: [UInt8])] = [
    ("a list in itself", binary([[0xd1, 1, 2], [0x51, 0x61], [0xa1, 2]])),
    ("a dictionary in itself", binary([[0xd1, 1, 0], [0x51, 0x61]])),
    ("a list that doubles", doubled),
    ("nested elements", Array((String(repeating: "<array>", count: 100_000)).utf8)),
    (
      "a nested list of XML",
      Array(
        ("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>a</key>"
          + String(repeating: "<array>", count: 100_000)
          + String(repeating: "</array>", count: 100_000) + "</dict></plist>").utf8)
    ),
    ("a nested list that a comment hides", Array((hidden("<!-- \(closing) -->")).utf8)),
    ("a nested list that a text hides", Array((hidden("<string><![CDATA[\(closing)]]></string>")).utf8)),
    ("a document type of its own", Array("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><dict></dict></plist>".utf8)),
    ("nested parentheses", Array(("{a = " + String(repeating: "(", count: 100_000)).utf8)),
    ("nested braces", Array(String(repeating: "{a=", count: 100_000).utf8)),
    ("nested JSON", Array(("{\"a\":" + String(repeating: "[", count: 100_000)).utf8)),
    ("brackets without an end", Array(String(repeating: "<", count: 30_000).utf8)),
    ("a claim of many objects", Array("bplist00".utf8) + [0, 0, 0, 0, 0, 0, 8, 8] + Array(repeating: 0xff, count: 24)),
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

  @Test("that were changed at random are read or refused")
  func fuzz() throws {
    let values: [String: Any] = [
      "flag": true, "count": -7, "large": UInt64.max, "ratio": 0.1, "name": "é", "date": Date(timeIntervalSince1970: 1),
      "data": Data([0, 255]), "list": [1, "two", [true]], "nested": ["a": ["b": 1.5]],
    ]
    let binary = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    let xml = try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
    var random = SplitMix(seed: 7)
    for _ in 0..<Effort.count(300, long: 100_000) {
      var bytes = [UInt8](random.below(2) == 0 ? binary : xml)
      for _ in 0...random.below(4) {
        bytes[Int(random.below(UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: random.next())
      }
      let store = MemoryPreferenceStore()
      do { _ = try store.importValues(bytes, from: "fuzz") } catch is PreferenceError {}
    }
  }
}
