/// A scanner that finds the bounds of JSON values, and rejects invalid syntax and more than 512 levels of nesting.
///
/// Only arrays and objects count as levels. A line of the file is an object, so a value in it has at most 511 levels.
/// The scanner doesn't check whether strings are valid UTF-8, or whether their escapes form valid characters.
struct JSONScanner {
  let bytes: UnsafeBufferPointer<UInt8>
  private(set) var position = 0
  /// Whether the string that was scanned last contains escapes.
  private(set) var sawEscape = false

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// Returns whether the bytes are one JSON value, with or without whitespace around it.
  static func isJSON(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var scanner = JSONScanner(bytes)
    // The depth begins at 1, because each line of the file is an object that contains the value.
    return scanner.skipSpace() && scanner.skipValue(depth: 1) && scanner.skipSpace() && scanner.isAtEnd
  }

  /// Skips whitespace, if there is any, and returns true, so that conditions can include the call.
  @discardableResult
  mutating func skipSpace() -> Bool {
    while position < bytes.count, JSONScanner.isSpace(bytes[position]) { position += 1 }
    return true
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  /// Skips a string and returns the bytes between its quotes; nil if no valid string is at the position.
  private mutating func string() -> UnsafeBufferPointer<UInt8>? {
    guard take("\"") else { return nil }
    let start = position
    sawEscape = false
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return UnsafeBufferPointer(rebasing: bytes[start..<position - 1]) }
      if byte < 0x20 { return nil }
      if byte == UInt8(ascii: "\\") {
        sawEscape = true
        guard skipEscape() else { return nil }
      }
    }
    return nil
  }

  /// Skips one value of any kind; returns false if no valid value is at the position.
  ///
  /// - Parameter depth: The number of arrays and objects that contain the value.
  mutating func skipValue(depth: Int = 0) -> Bool {
    guard position < bytes.count else { return false }
    switch bytes[position] {
    case UInt8(ascii: "\""): return string() != nil
    case UInt8(ascii: "{"): return depth < 512 && skipMembers(depth: depth) { _, _, _ in true }
    case UInt8(ascii: "["): return depth < 512 && skipList("[", "]") { $0.skipValue(depth: depth + 1) }
    case UInt8(ascii: "t"): return skip("true")
    case UInt8(ascii: "f"): return skip("false")
    case UInt8(ascii: "n"): return skip("null")
    default: return skipNumber()
    }
  }

  /// Skips an object, and calls `body` for each member until `body` returns false.
  ///
  /// The arguments of `body` are the member's name without quotes, whether the name has escapes, and the member's
  /// value.
  ///
  /// - Returns: False if the object is malformed, or if `body` has returned false; otherwise, true.
  mutating func skipMembers(
    depth: Int = 0, _ body: (UnsafeBufferPointer<UInt8>, Bool, UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    skipList("{", "}") { scanner in
      guard let name = scanner.string() else { return false }
      let hasEscapes = scanner.sawEscape
      guard scanner.skipSpace(), scanner.take(":"), scanner.skipSpace() else { return false }
      let start = scanner.position
      return scanner.skipValue(depth: depth + 1)
        && body(name, hasEscapes, UnsafeBufferPointer(rebasing: scanner.bytes[start..<scanner.position]))
    }
  }

  /// Skips an array or object, whose elements are separated by commas; returns false if it is malformed.
  private mutating func skipList(
    _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ skipElement: (inout JSONScanner) -> Bool
  ) -> Bool {
    guard skipSpace(), take(opening), skipSpace() else { return false }
    if take(closing) { return true }
    repeat {
      guard skipSpace(), skipElement(&self), skipSpace() else { return false }
    } while take(",")
    return take(closing)
  }

  private mutating func skip(_ word: StaticString) -> Bool {
    let word = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard bytes[position...].starts(with: word) else { return false }
    position += word.count
    return true
  }

  private mutating func skipNumber() -> Bool {
    _ = take("-")
    if !take("0"), !skipDigits() { return false }
    if take("."), !skipDigits() { return false }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      return skipDigits()
    }
    return true
  }

  private mutating func skipDigits() -> Bool {
    let start = position
    while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    return position > start
  }

  private mutating func skipEscape() -> Bool {
    guard position < bytes.count else { return false }
    let escape = bytes[position]
    position += 1
    if escape == UInt8(ascii: "u") {
      guard position + 4 <= bytes.count else { return false }
      for offset in 0..<4 where Hexadecimal.value(of: bytes[position + offset]) == nil { return false }
      position += 4
      return true
    }
    return "\"\\/bfnrt".utf8.contains(escape)
  }
}
