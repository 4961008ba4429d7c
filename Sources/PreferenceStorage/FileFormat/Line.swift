/// A namespace for writing and reading the lines of a preferences file.
///
/// Each line of changes that a store writes consists of a checksum in eight hexadecimal digits, a space, a JSON object,
/// and a newline.
enum Line {
  /// The first line of a file, with its newline.
  static let header = Array("#preferences 1\n".utf8)

  /// Appends to the bytes one line that contains all of the changes.
  static func append(_ changes: some Collection<PreferenceChange>, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(contentsOf: "         {".utf8)
    var isFirst = true
    for change in changes {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      JSONString.append(change.key, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: (change.text ?? .null).string.utf8)
    }
    bytes.append(UInt8(ascii: "}"))
    seal(&bytes, from: start)
  }

  /// Replaces the first eight of a line's nine leading spaces by the checksum of the text after the spaces, and appends a
  /// newline.
  ///
  /// - Parameter start: The offset at which the line begins.
  private static func seal(_ bytes: inout [UInt8], from start: Int) {
    bytes.withUnsafeMutableBytes { buffer in
      var checksum = Line.checksum(UnsafeRawBufferPointer(rebasing: buffer[(start + 9)...]))
      for index in (start..<start + 8).reversed() {
        let digit = UInt8(checksum & 15)
        buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
        checksum >>= 4
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  enum Kind: Sendable, Equatable {
    case blank
    /// A line that has a JSON object with a valid checksum.
    case checked
    /// A line that has only a JSON object without a checksum, most likely written by a person.
    case byHand
    /// A line that has a JSON object after a wrong checksum, or after eight other bytes and a space.
    ///
    /// Most likely, a person has edited the object.
    case edited
    /// A line that isn't blank and has no valid JSON object, because it is damaged or incomplete.
    case damaged
  }

  /// Reads a line without its newline, and replaces the contents of `changes` with the changes in the line.
  ///
  /// For a blank or damaged line, `changes` becomes empty.
  static func read(_ line: UnsafeBufferPointer<UInt8>, into changes: inout [PreferenceChange]) -> Kind {
    changes.removeAll(keepingCapacity: true)
    var line = line
    if line.last == UInt8(ascii: "\r") { line = UnsafeBufferPointer(rebasing: line.dropLast()) }
    if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { return .blank }
    if line.count >= 11, line[8] == UInt8(ascii: " "), line[0] != UInt8(ascii: "{") {
      let object = UnsafeBufferPointer(rebasing: line[9...])
      if readObject(object, into: &changes) {
        return Line.checksum(UnsafeRawBufferPointer(object)) == statedChecksum(of: line) ? .checked : .edited
      }
    }
    return readObject(line, into: &changes) ? .byHand : .damaged
  }

  /// Returns the checksum in the first eight bytes of the line; nil if these aren't hexadecimal digits.
  ///
  /// The caller must pass at least eight bytes.
  static func statedChecksum(of line: UnsafeBufferPointer<UInt8>) -> UInt32? {
    var checksum: UInt32 = 0
    for index in 0..<8 {
      guard let digit = Hexadecimal.value(of: line[index]) else { return nil }
      checksum = checksum << 4 | digit
    }
    return checksum
  }

  /// Returns the offset in a damaged line at which a second record starts; nil if no second record is found.
  ///
  /// A record is what a line has before its newline. An edit in place or by hand can leave the last line of a file
  /// without a newline, so that the next record is appended to that line. The search first looks for a record with a
  /// valid checksum at the end of the line. It tries only the last eight possible beginnings, so that a malicious line
  /// takes linear time. If no checksum is valid, but the line begins with a JSON object, with or without a checksum
  /// before it, the second record is assumed to start after this object.
  static func gluedRecord(in line: UnsafeBufferPointer<UInt8>) -> Int? {
    var tries = 0
    for brace in stride(from: line.count - 2, through: 10, by: -1)
    where line[brace] == UInt8(ascii: "{") && line[brace - 1] == UInt8(ascii: " ") {
      let record = UnsafeBufferPointer(rebasing: line[(brace - 9)...])
      guard let stated = statedChecksum(of: record), tries < 8 else { continue }
      tries += 1
      if checksum(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: record[9...]))) == stated { return brace - 9 }
    }
    let start = line.first == UInt8(ascii: "{") ? 0 : min(line.count, 9)
    var scanner = JSONScanner(UnsafeBufferPointer(rebasing: line[start...]))
    return scanner.skipMembers { _, _, _ in true } && !scanner.isAtEnd ? start + scanner.position : nil
  }

  /// Appends the members of a JSON object, which may extend over several lines, to `changes`.
  ///
  /// - Returns: False, with empty `changes`, if the bytes aren't a JSON object.
  static func readObject(_ bytes: UnsafeBufferPointer<UInt8>, into changes: inout [PreferenceChange]) -> Bool {
    var scanner = JSONScanner(bytes)
    let isWhole = scanner.skipMembers { name, hasEscapes, value in
      guard let key = JSONString.decode(name, hasEscapes: hasEscapes), let text = JSONText(value) else { return false }
      changes.append(PreferenceChange(key: key, text: text.isNull ? nil : text))
      return true
    }
    if isWhole, scanner.skipSpace(), scanner.isAtEnd { return true }
    changes.removeAll(keepingCapacity: true)
    return false
  }
}

// MARK: Checksum

extension Line {
  /// Eight tables of 256 entries: table k contains the effect of each byte on the checksum if k more bytes follow.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var value = UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xedb8_8320 }
      tables[byte] = value
    }
    for index in 256..<tables.count {
      let value = tables[index - 256]
      tables[index] = value >> 8 ^ tables[Int(value & 0xff)]
    }
    return tables
  }()

  /// Returns the CRC-32 checksum that zlib, PNG and Ethernet use, computed eight bytes at a time.
  ///
  /// The algorithm is "Slicing-by-8" by Kounavis and Berry, from *Novel Table Lookup-Based Algorithms for
  /// High-Performance CRC Generation*.
  ///
  /// - Parameter start: The checksum of the bytes that precede `bytes`.
  static func checksum(_ bytes: UnsafeRawBufferPointer, after start: UInt32 = 0) -> UInt32 {
    tables.withUnsafeBufferPointer { table in
      var crc = ~start
      var index = 0
      while index + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(crc)
        crc = 0
        for lane in 0..<8 { crc ^= table[(7 - lane) << 8 + Int(word >> (8 * lane) & 0xff)] }
        index += 8
      }
      while index < bytes.count {
        crc = crc >> 8 ^ table[Int((crc ^ UInt32(bytes[index])) & 0xff)]
        index += 1
      }
      return ~crc
    }
  }
}

/// A namespace for the conversion of hexadecimal digits to numbers.
enum Hexadecimal {
  static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(digit - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(digit - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
