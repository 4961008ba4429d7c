import Foundation
import Testing

@testable import PreferenceStorage

@Suite("Line") struct LineTests {
  func read(_ line: String) -> (Line.Kind, [PreferenceChange]) {
    var changes: [PreferenceChange] = []
    let verdict = Array(line.utf8).withUnsafeBufferPointer { Line.read($0, into: &changes) }
    return (verdict, changes)
  }

  @Test("the checksum is zlib's, at every length")
  func checksum() {
    func checksum(_ bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes({ Line.checksum($0) }) }
    #expect(checksum(Array("123456789".utf8)) == 0xcbf4_3926)
    #expect(checksum([]) == 0)
    for length in 0..<40 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
      var simple: UInt32 = ~0
      for byte in bytes {
        simple ^= UInt32(byte)
        for _ in 0..<8 { simple = simple & 1 == 0 ? simple >> 1 : simple >> 1 ^ 0xedb8_8320 }
      }
      #expect(checksum(bytes) == ~simple)
    }
  }

  @Test(
    "what is written is read back", arguments: ["a", "\"\n\u{0}é👩‍👩‍👧\\", ""])
  func roundTrip(key: String) {
    let changes = [PreferenceChange(key: key, text: JSONText("[1, {\"x\":\"}\"}]"))]
    var bytes: [UInt8] = []
    Line.append(changes, to: &bytes)
    let (verdict, read) = read(String(decoding: bytes.dropLast(), as: UTF8.self))
    #expect(verdict == .checked)
    #expect(read == changes)
  }

  @Test("a line by hand is any JSON object")
  func byHand() {
    let (verdict, changes) = read(" { \"\\u00e9\\uD83D\\uDE00\\/\" : null , \"b\" : [ -1.5e+3 , true ] } ")
    #expect(verdict == .byHand)
    #expect(changes == [.init(key: "é😀/", text: nil), .init(key: "b", text: JSONText("[ -1.5e+3 , true ]"))])
    #expect(read("{}").0 == .byHand)
  }

  @Test(
    "what isn't JSON isn't a line",
    arguments: [
      "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":+1}",
      "{\"a\":1e}",
      "{\"a\":tru}", "{\"a\":\"\t\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"\\ud800\":1}",
      "{\"a\":[1 2]}",
      "{\"a\":1} x", "{\"a\":1}{\"b\":2}", "[1]", "7", "null", "{a:1}", "{\"a\":{\"b\":1]}", "{\"a\":\"",
    ])
  func notJSON(line: String) {
    #expect(read(line) == (.damaged, []))
  }

  @Test("a line nested too deep is refused instead of crashing")
  func depth() {
    let deep = read("{\"a\":" + String(repeating: "[", count: 100_000)).0
    #expect(deep == .damaged)
    #expect(
      read("{\"a\":\(String(repeating: "[", count: 500))\(String(repeating: "]", count: 500))}").0 == .byHand)
  }

  @Test("a line that isn't UTF-8 is refused, with a checksum too")
  func invalidUTF8() {
    var line: [UInt8] = Array("{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8)
    var changes: [PreferenceChange] = []
    #expect(line.withUnsafeBufferPointer { Line.read($0, into: &changes) } == .damaged)
    let digits = String(line.withUnsafeBytes({ Line.checksum($0) }), radix: 16)
    line = Array((String(repeating: "0", count: 8 - digits.count) + digits + " ").utf8) + line
    #expect(line.withUnsafeBufferPointer { Line.read($0, into: &changes) } == .damaged)
    #expect(changes.isEmpty)
  }

  @Test("a JSON object with a wrong checksum is an edit, and distinguished from one without")
  func wrongChecksum() {
    #expect(read("c9a86aae {\"volume\":7}").0 == .checked)
    #expect(read("C9A86AAE {\"volume\":7}").0 == .checked)
    #expect(read("c9a86aaf {\"volume\":7}").0 == .edited)
    #expect(read("c9a86aaf {\"volume\":7}").1.map(\.key) == ["volume"])
    #expect(read("c9a86aae  {\"volume\":7}").0 == .edited)
    #expect(read("c9a86aa {\"volume\":7}").0 == .damaged)
    #expect(read("").0 == .blank)
    #expect(read(" \t").0 == .blank)
  }
}
