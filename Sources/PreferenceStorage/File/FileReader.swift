/// Reads the lines of a preferences file into a table, and keeps account of what is damaged.
struct FileReader {
  var table: ValueTable
  /// What the lines did, in order; kept only where it is wanted.
  private(set) var changes: [PreferenceChange] = []
  private(set) var damage = PreferenceRecovery()
  /// The lines that were skipped, and what is wrong with them.
  private(set) var badLines: [(number: Int, verdict: PreferenceLine.Verdict)] = []
  private(set) var lineCount = 0
  /// Where the last whole line ends.
  private(set) var goodLength = 0
  /// The last line is whole but for its newline.
  private(set) var endsWithoutNewline = false
  private var line: [PreferenceChange] = []

  init(table: ValueTable = ValueTable()) { self.table = table }

  /// What a file begins with.
  enum Beginning: Equatable {
    case empty, header, damagedHeader, foreign
    case laterVersion(String)
  }

  /// Reads a whole file, and says what it begins with.
  ///
  /// Only files of this format are read into the table.
  mutating func readAll(_ file: [UInt8]) -> Beginning {
    file.withUnsafeBufferPointer { bytes in
      let beginning = FileReader.beginning(of: bytes)
      switch beginning {
      case .header:
        // About that many keys, which saves moving the table while it grows.
        table.reserveCapacity(min(bytes.count / 32, 1 << 20))
        let end = bytes.firstIndex(of: FileReader.newline)!
        read(bytes, from: end + 1, lineNumber: 2)
      case .damagedHeader:
        damage.headerWasDamaged = true
        if let start = FileReader.startAfterDamagedHeader(in: bytes) {
          read(bytes, from: start, lineNumber: 2)
        } else {
          damage.tornBytes = bytes.count
        }
      case .empty, .foreign, .laterVersion: break
      }
      return beginning
    }
  }

  /// Reads the lines that a file has grown by.
  ///
  /// False where they don't look like lines, so that the file has rather been written anew and all of it has
  /// to be read.
  mutating func readAppended(_ file: [UInt8], at offset: Int, afterNewline: Bool) -> Bool {
    file.withUnsafeBufferPointer { bytes in
      var start = 0
      if !afterNewline {
        guard bytes.first == FileReader.newline else { return false }
        start = 1
      }
      read(bytes, from: start, lineNumber: 0, keepingChanges: true)
      goodLength += offset
      return damage.skippedLines.isEmpty
    }
  }

  private static let newline = UInt8(ascii: "\n")

  private mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, lineNumber: Int, keepingChanges: Bool = false
  ) {
    var start = start
    var number = lineNumber
    goodLength = start
    while start < bytes.count {
      let end = FileReader.lineEnd(in: bytes, from: start)
      let isLast = end == bytes.count
      lineCount = number
      let verdict = PreferenceLine.read(UnsafeBufferPointer(rebasing: bytes[start..<end]), into: &line)
      switch verdict {
      case .checked, .byHand, .blank:
        for change in line { table.load(change) }
        if keepingChanges { changes.append(contentsOf: line) }
        goodLength = min(end + 1, bytes.count)
        endsWithoutNewline = isLast
      case .wrongChecksum, .notJSON:
        if isLast {
          damage.tornBytes = bytes.count - start
          return
        }
        damage.skippedLines.append(number)
        badLines.append((number, verdict))
        damage.skippedBytes += end + 1 - start
        goodLength = end + 1
      }
      start = end + 1
      number += 1
    }
  }

  private static func lineEnd(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != newline { index += 1 }
    return index
  }
}

extension FileReader {
  private static func beginning(of bytes: UnsafeBufferPointer<UInt8>) -> Beginning {
    if bytes.isEmpty { return .empty }
    let header = PreferenceLine.header
    if bytes.starts(with: header) || bytes.starts(with: header.dropLast() + Array("\r\n".utf8)) {
      return .header
    }
    if bytes.count < header.count, header.starts(with: bytes) { return .damagedHeader }
    // What some file systems leave of a file that was new when the power went.
    if bytes.allSatisfy({ $0 == 0 }) { return .damagedHeader }
    if let version = version(in: bytes), version != "1" { return .laterVersion(version) }
    return startAfterDamagedHeader(in: bytes) == nil ? .foreign : .damagedHeader
  }

  /// The version of a first line that is well-formed, of this format or a later one.
  private static func version(in bytes: UnsafeBufferPointer<UInt8>) -> String? {
    let name = PreferenceLine.header.dropLast(2)
    guard bytes.starts(with: name) else { return nil }
    let digits = bytes.dropFirst(name.count).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    guard (1...9).contains(digits.count), digits.endIndex < bytes.count, digits.first != UInt8(ascii: "0"),
      bytes[digits.endIndex] == newline || bytes[digits.endIndex] == UInt8(ascii: " ")
    else { return nil }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Where the lines begin in a file whose first line is damaged.
  ///
  /// Nothing but a preferences file has lines whose checksum is right, so one such line shows that it is one.
  private static func startAfterDamagedHeader(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    let length = PreferenceLine.header.count
    let firstEnd = lineEnd(in: bytes, from: 0)
    let start = firstEnd < length ? firstEnd + 1 : length
    var position = start
    var changes: [PreferenceChange] = []
    while position < bytes.count {
      let end = lineEnd(in: bytes, from: position)
      let line = UnsafeBufferPointer(rebasing: bytes[position..<end])
      if PreferenceLine.read(line, into: &changes) == .checked { return start }
      position = end + 1
    }
    return nil
  }
}
