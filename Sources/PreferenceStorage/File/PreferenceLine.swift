/// One line of the file: the checksum in eight hexadecimal digits, a space, a JSON object, a newline.
enum PreferenceLine {
  /// The first line of a file, with its newline.
  static let header = Array("#preferences 1\n".utf8)

  /// How many bytes the line of a single key has.
  static func length(key: String, textLength: Int) -> Int { 13 + JSONString.length(of: key) + textLength }

  /// Appends the line which makes all the changes.
  static func append(_ changes: some Collection<PreferenceChange>, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 9))
    var separator = UInt8(ascii: "{")
    for change in changes {
      bytes.append(separator)
      separator = UInt8(ascii: ",")
      JSONString.append(change.key, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      (change.text ?? .null).withBytes { bytes.append(contentsOf: $0) }
    }
    bytes.append(UInt8(ascii: "}"))
    bytes.withUnsafeMutableBytes { buffer in
      var checksum = CRC32.checksum(UnsafeRawBufferPointer(rebasing: buffer[(start + 9)...]))
      for index in (start..<start + 8).reversed() {
        buffer[index] = Hexadecimal.digit(UInt8(checksum & 15))
        checksum >>= 4
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// What a line turned out to be.
  enum Verdict: Sendable, Equatable {
    case blank
    /// A line whose checksum is right.
    case checked
    /// A JSON object without a checksum.
    case byHand
    case wrongChecksum
    case notJSON
  }

  /// Reads a line without its newline into `changes`, which is empty unless the line is whole.
  static func read(_ line: UnsafeBufferPointer<UInt8>, into changes: inout [PreferenceChange]) -> Verdict {
    changes.removeAll(keepingCapacity: true)
    var line = line
    if line.last == UInt8(ascii: "\r") { line = UnsafeBufferPointer(rebasing: line.dropLast()) }
    guard let first = line.first else { return .blank }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
      if readObject(line, into: &changes) { return .byHand }
      return line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } ? .blank : .notJSON
    }
    guard let checksum = checksum(of: line) else { return .notJSON }
    let object = UnsafeBufferPointer(rebasing: line[9...])
    guard CRC32.checksum(UnsafeRawBufferPointer(object)) == checksum else { return .wrongChecksum }
    return readObject(object, into: &changes) ? .checked : .notJSON
  }

  private static func checksum(of line: UnsafeBufferPointer<UInt8>) -> UInt32? {
    guard line.count >= 11, line[8] == UInt8(ascii: " ") else { return nil }
    var checksum: UInt32 = 0
    for index in 0..<8 {
      guard let digit = Hexadecimal.value(of: line[index]) else { return nil }
      checksum = checksum << 4 | digit
    }
    return checksum
  }

  /// Reads a JSON object, on any number of lines; false where it isn't one, and `changes` is empty then.
  static func readObject(
    _ bytes: UnsafeBufferPointer<UInt8>, into changes: inout [PreferenceChange]
  ) -> Bool {
    var scanner = JSONScanner(bytes)
    let isWhole = readMembers(&scanner, into: &changes)
    if !isWhole { changes.removeAll(keepingCapacity: true) }
    return isWhole
  }

  private static func readMembers(_ scanner: inout JSONScanner, into changes: inout [PreferenceChange])
    -> Bool
  {
    scanner.skipSpace()
    guard scanner.take("{") else { return false }
    scanner.skipSpace()
    if !scanner.take("}") {
      repeat {
        scanner.skipSpace()
        guard let name = scanner.string(), let key = JSONString.decode(name, hasEscapes: scanner.sawEscape)
        else { return false }
        scanner.skipSpace()
        guard scanner.take(":") else { return false }
        scanner.skipSpace()
        let start = scanner.position
        guard scanner.skipValue(),
          let text = JSONString.string(
            of: UnsafeBufferPointer(rebasing: scanner.bytes[start..<scanner.position]))
        else { return false }
        changes.append(PreferenceChange(key: key, text: text == "null" ? nil : JSONText(text)))
        scanner.skipSpace()
      } while scanner.take(",")
      guard scanner.take("}") else { return false }
    }
    scanner.skipSpace()
    return scanner.isAtEnd
  }
}
