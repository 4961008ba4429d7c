import Foundation
import TestSupport
import Testing

@testable import PreferenceStorage

@Suite("Files that an import must survive", .timeLimit(.hang)) struct HostileImportTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  static let files: [(name: String, bytes: [UInt8])] = [
    ("nested JSON", Array(("{\"a\":" + String(repeating: "[", count: 100_000)).utf8)),
    ("nested XML", Array(xml(arrays).utf8)),
    ("nested XML behind a comment", Array(("<!--" + closings + "-->" + xml(arrays)).utf8)),
    ("nested XML behind a CDATA section", Array(xml("<array><![CDATA[" + closings + "]]>" + arrays + "</array>").utf8)),
    (
      "nested XML behind a document type",
      Array(("<!DOCTYPE plist [<!ENTITY a \"> <!--\">]>" + xml(arrays) + "<!-- -->").utf8)
    ),
    ("a binary list that contains itself", binary([0xa1, 0])),
    ("a binary list that contains itself twice", binary([0xa2, 0, 0])),
    ("a binary list whose values double 30 times", binary((0..<30).flatMap { [0xa2, $0 + 1, $0 + 1] } + [0x09])),
    ("a space", [0x20]),
    ("a byte-order mark", [0xef, 0xbb, 0xbf]),
    ("bytes", [0xff]),
  ]

  private static let closings = String(repeating: "</array>", count: 100_000)
  private static let arrays = String(repeating: "<array>", count: 100_000) + closings

  private static func xml(_ value: String) -> String {
    "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>a</key>\(value)</dict></plist>"
  }

  /// Returns a binary property list: a dictionary whose value has the objects, each of which is an array or `true`.
  private static func binary(_ objects: [UInt8]) -> [UInt8] {
    // The references are to the objects in order. The last two are the dictionary's key and the dictionary.
    var offsets: [Int] = []
    var position = 0
    while position < objects.count {
      offsets.append(8 + position)
      position += 1 + (objects[position] == 0x09 ? 0 : Int(objects[position] & 15))
    }
    offsets += [8 + objects.count, 10 + objects.count]
    let key = UInt8(offsets.count - 2)
    let bytes = Array("bplist00".utf8) + objects + [0x51, 0x61] + [0xd1, key, 0]
    let trailer: [UInt64] = [0x201, UInt64(offsets.count), UInt64(key) + 1, UInt64(bytes.count)]
    let table = offsets.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    return bytes + table + trailer.flatMap { number in (0..<8).map { UInt8(number >> (56 - 8 * $0) & 255) } }
  }

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

  @Test("are property lists of up to 511 levels of arrays in a value, as JSON", arguments: [511, 512])
  func deepest(depth: Int) throws {
    let arrays = String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
    let source = folder.file("source")
    try Data(HostileImportTests.xml(arrays).utf8).write(to: source)
    let store = try FilePreferenceStore(url: folder.file("settings"))
    if depth == 511 {
      #expect(try store.import(from: source).keys == ["a"])
    } else {
      #expect(throws: PreferenceError.self) { try store.import(from: source) }
    }
    #expect(try store.damage() == nil)
    let other = try FilePreferenceStore(path: FilePath(folder.file("settings")), system: FileSystem())
    #expect(other.keys == (depth == 511 ? ["a"] : []))
  }

  @Test("with a byte-order mark before JSON are read")
  func byteOrderMark() throws {
    let source = folder.file("source")
    try Data([0xef, 0xbb, 0xbf] + Array("{\"a\":1}".utf8)).write(to: source)
    let store = MemoryPreferenceStore()
    #expect(try store.import(from: source).keys == ["a"])
  }
}
