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
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        decoded.append(byte)
        continue
      }
      guard index < bytes.count else { return nil }
      let escape = bytes[index]
      index += 1
      if escape == UInt8(ascii: "u") {
        guard let scalar = unicodeEscape(bytes, &index) else { return nil }
        decoded.append(contentsOf: UTF8.encode(scalar)!)
      } else if let plain = plainByte(forEscape: escape) {
        decoded.append(plain)
      } else {
        return nil
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }

  /// The bytes as a string, or nil if they aren't UTF-8.
  static func string(of bytes: UnsafeBufferPointer<UInt8>) -> String? {
    // The library's own check costs more than all the rest (benchmark "Open a store of 100,000 keys").
    bytes.allSatisfy { $0 < 0x80 }
      ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
  }

  /// The scalar after `\u`, of two escapes if it takes a surrogate pair.
  private static func unicodeEscape(_ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> Unicode
    .Scalar?
  {
    guard let first = fourDigits(bytes, &index) else { return nil }
    guard first & 0xfc00 == 0xd800 else { return Unicode.Scalar(first) }
    guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
    else { return nil }
    index += 2
    guard let second = fourDigits(bytes, &index), second & 0xfc00 == 0xdc00 else { return nil }
    return Unicode.Scalar(0x10000 + (first & 0x3ff) << 10 + second & 0x3ff)
  }

  private static func fourDigits(_ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt32? {
    guard index + 4 <= bytes.count else { return nil }
    var value: UInt32 = 0
    for offset in 0..<4 {
      guard let digit = Hexadecimal.value(of: bytes[index + offset]) else { return nil }
      value = value << 4 | digit
    }
    index += 4
    return value
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

  static func plainByte(forEscape escape: UInt8) -> UInt8? {
    switch escape {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): escape
    case UInt8(ascii: "n"): UInt8(ascii: "\n")
    case UInt8(ascii: "r"): UInt8(ascii: "\r")
    case UInt8(ascii: "t"): UInt8(ascii: "\t")
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "f"): 12
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
