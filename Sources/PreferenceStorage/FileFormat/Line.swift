/// One line of the file: the checksum in eight hexadecimal digits, a space, a JSON object, a newline.
enum Line {
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
      (change.text ?? .null).append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    bytes.withUnsafeMutableBytes { buffer in
      var checksum = Line.checksum(UnsafeRawBufferPointer(rebasing: buffer[(start + 9)...]))
      for index in (start..<start + 8).reversed() {
        buffer[index] = Hexadecimal.digit(UInt8(checksum & 15))
        checksum >>= 4
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// What a line turned out to be.
  enum Kind: Sendable, Equatable {
    case blank
    /// A line whose checksum is right.
    case checked
    /// A JSON object without a checksum.
    case byHand
    case wrongChecksum
    case notJSON
  }

  /// Reads a line without its newline into `changes`, which is empty unless the line is whole.
  static func read(_ line: UnsafeBufferPointer<UInt8>, into changes: inout [PreferenceChange]) -> Kind {
    changes.removeAll(keepingCapacity: true)
    var line = line
    if line.last == UInt8(ascii: "\r") { line = UnsafeBufferPointer(rebasing: line.dropLast()) }
    guard let first = line.first else { return .blank }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
      if readObject(line, into: &changes) { return .byHand }
      return line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } ? .blank : .notJSON
    }
    guard let checksum = statedChecksum(of: line) else { return .notJSON }
    let object = UnsafeBufferPointer(rebasing: line[9...])
    guard Line.checksum(UnsafeRawBufferPointer(object)) == checksum else { return .wrongChecksum }
    return readObject(object, into: &changes) ? .checked : .notJSON
  }

  /// Whether the line begins with the checksum of the rest.
  static func hasRightChecksum(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let stated = statedChecksum(of: line) else { return false }
    return checksum(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: line[9...]))) == stated
  }

  private static func statedChecksum(of line: UnsafeBufferPointer<UInt8>) -> UInt32? {
    guard line.count >= 11, line[8] == UInt8(ascii: " ") else { return nil }
    var checksum: UInt32 = 0
    for index in 0..<8 {
      guard let digit = Hexadecimal.value(of: line[index]) else { return nil }
      checksum = checksum << 4 | digit
    }
    return checksum
  }

  /// Returns the offsets of valid records at the end of a damaged line.
  ///
  /// A program that writes in place, or one that crashes, can leave a file without a newline at its end at the instant at
  /// which another program appends. The lines can be read nevertheless.
  static func gluedRecords(in line: UnsafeBufferPointer<UInt8>) -> [Int] {
    var starts: [Int] = []
    var rest = line
    if rest.last == UInt8(ascii: "\r") { rest = UnsafeBufferPointer(rebasing: rest.dropLast()) }
    while let start = lastGluedRecord(in: rest) {
      starts.append(start)
      rest = UnsafeBufferPointer(rebasing: rest[..<start])
    }
    return starts.reversed()
  }

  /// Returns the offset of the last valid record of a line, unless the line begins with it.
  ///
  /// A line can have many places at which a record may begin, each with a checksum of all that follows. The search ends
  /// when it has read eight times the line, so that a hostile line costs no more than its length.
  private static func lastGluedRecord(in line: UnsafeBufferPointer<UInt8>) -> Int? {
    guard line.count > 11, line.last == UInt8(ascii: "}") else { return nil }
    var budget = 8 * line.count
    var brace = line.count - 2
    while brace >= 10 {
      defer { brace -= 1 }
      guard line[brace] == UInt8(ascii: "{"), line[brace - 1] == UInt8(ascii: " ") else { continue }
      let record = UnsafeBufferPointer(rebasing: line[(brace - 9)...])
      guard let stated = statedChecksum(of: record) else { continue }
      budget -= record.count
      guard budget >= 0 else { return nil }
      if checksum(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: record[9...]))) == stated { return brace - 9 }
    }
    return nil
  }

  /// Reads a JSON object, on any number of lines; false if it isn't one, and `changes` is empty then.
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
          let text = JSONText(UnsafeBufferPointer(rebasing: scanner.bytes[start..<scanner.position]))
        else { return false }
        changes.append(PreferenceChange(key: key, text: text.isNull ? nil : text))
        scanner.skipSpace()
      } while scanner.take(",")
      guard scanner.take("}") else { return false }
    }
    scanner.skipSpace()
    return scanner.isAtEnd
  }
}

extension Line {
  /// Eight tables of 256: the table k tells what a byte does that k more bytes come after.
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

  /// The CRC-32 of zlib, PNG and Ethernet, eight bytes at a time.
  ///
  /// "Slicing-by-8", from Kounavis and Berry, *Novel Table Lookup-Based Algorithms for High-Performance CRC Generation*.
  static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    tables.withUnsafeBufferPointer { table in
      var crc: UInt32 = ~0
      var index = 0
      while index + 8 <= bytes.count {
        let low = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)) ^ crc
        let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self))
        let first = table[1792 + Int(low & 0xff)] ^ table[1536 + Int(low >> 8 & 0xff)]
        let second = table[1280 + Int(low >> 16 & 0xff)] ^ table[1024 + Int(low >> 24)]
        let third = table[768 + Int(high & 0xff)] ^ table[512 + Int(high >> 8 & 0xff)]
        let fourth = table[256 + Int(high >> 16 & 0xff)] ^ table[Int(high >> 24)]
        crc = first ^ second ^ third ^ fourth
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

// MARK: The end of a file

/// Where the lines of a file end.
struct FileEnd: Sendable, Equatable {
  /// What the last line begins with, by which it is known again.
  struct LastLine: Sendable, Equatable {
    var offset: Int
    /// The first eight bytes, which are the checksum unless the line was written by hand.
    let beginning: UInt64

    /// Nil for a line of less than eight bytes.
    init?(of line: UnsafeBufferPointer<UInt8>, at offset: Int) {
      guard line.count >= 8 else { return nil }
      self.offset = offset
      beginning = UnsafeRawBufferPointer(line).loadUnaligned(as: UInt64.self)
    }
  }

  /// Where the last whole line ends.
  var length = 0
  /// How many bytes after it broke off.
  var tornBytes = 0
  /// The last line is whole but for its newline, so the next one begins with it.
  var endsWithoutNewline = false
  var lastLine: LastLine?
  /// What the lines add up to, by which they are known again without being parsed.
  var digest = LinesDigest()

  /// Whether a line can be appended as it is, and what is appended be read by itself.
  var isClean: Bool { length > 0 && tornBytes == 0 && !endsWithoutNewline }
  var size: Int { length + tornBytes }

  /// Moves behind a line that was appended, with its newline, after the newline that the last one may have lacked.
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, lineStart: Int) {
    let line = UnsafeBufferPointer(rebasing: bytes[lineStart..<bytes.count - 1])
    lastLine = LastLine(of: line, at: length + lineStart)
    if length > 0 { digest.add(line, isChecked: true) }
    length += bytes.count
    endsWithoutNewline = false
  }
}

/// A number that two lists of lines have in common only if they are the same, as far as checksums can tell.
struct LinesDigest: Sendable, Equatable {
  private var value: UInt64 = 0

  /// Adds a line, of which the checksum that it begins with is enough, if that was found to be right.
  mutating func add(_ line: UnsafeBufferPointer<UInt8>, isChecked: Bool) {
    let bytes = UnsafeRawBufferPointer(line)
    let part = isChecked ? bytes.loadUnaligned(as: UInt64.self) : UInt64(Line.checksum(bytes))
    // FNV-1a, by words.
    value = (value ^ part ^ UInt64(line.count)) &* 0x100_0000_01b3
  }

  /// The digest of all lines.
  init(of lines: UnsafeBufferPointer<UInt8>) {
    var start = 0
    while start < lines.count {
      let end = LineParser.lineEnd(in: lines, from: start)
      let line = UnsafeBufferPointer(rebasing: lines[start..<end])
      add(line, isChecked: Line.hasRightChecksum(line))
      start = end + 1
    }
  }

  init() {}
}
