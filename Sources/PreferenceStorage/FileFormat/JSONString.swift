#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
internal import Support

/// Strings as JSON spells them: everything as it is but `"`, `\` and the control characters.
enum JSONString {
  static func append(_ string: String, to bytes: inout [UInt8]) {
    if needsEscapes(string) { return bytes.append(contentsOf: string.jsonQuoted.utf8) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: string.utf8)
    bytes.append(UInt8(ascii: "\""))
  }

  static func needsEscapes(_ string: String) -> Bool {
    string.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
  }

  /// The string between the quotes, or nil if an escape or the UTF-8 is wrong.
  static func decode(_ bytes: UnsafeBufferPointer<UInt8>, hasEscapes: Bool) -> String? {
    guard hasEscapes else { return string(of: bytes) }
    let quote = UInt8(ascii: "\"")
    do {
      return try JSONDecoder().decode(String.self, from: Data([quote] + bytes + [quote]))
    } catch { return nil }
  }

  /// The bytes as a string, or nil if they aren't UTF-8.
  static func string(of bytes: UnsafeBufferPointer<UInt8>) -> String? {
    // The library's own check costs more than all the rest (benchmark "Open a store of 100,000 keys").
    bytes.reduce(0, |) < 0x80
      ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
  }
}

/// Numbers as hexadecimal digits, and back.
enum Hexadecimal {
  static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
  }

  static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(digit - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(digit - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
