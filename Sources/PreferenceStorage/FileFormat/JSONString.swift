#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Strings as JSON spells them: everything as it is but `"`, `\` and the control characters.
enum JSONString {
  static func append(_ string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { source in
      var start = 0
      for index in source.indices where mustBeEscaped(source[index]) {
        bytes.append(contentsOf: source[start..<index])
        appendEscape(of: source[index], to: &bytes)
        start = index + 1
      }
      bytes.append(contentsOf: source[start...])
    }
    bytes.append(UInt8(ascii: "\""))
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

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    if let short = shortEscape(of: byte) {
      bytes.append(short)
    } else {
      bytes.append(contentsOf: "u00".utf8)
      bytes.append(Hexadecimal.digit(byte >> 4))
      bytes.append(Hexadecimal.digit(byte & 15))
    }
  }

  private static func shortEscape(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
    case UInt8(ascii: "\n"): UInt8(ascii: "n")
    case UInt8(ascii: "\r"): UInt8(ascii: "r")
    case UInt8(ascii: "\t"): UInt8(ascii: "t")
    case 8: UInt8(ascii: "b")
    case 12: UInt8(ascii: "f")
    default: nil
    }
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
