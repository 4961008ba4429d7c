/// Reads the lines of a preferences file into a table, and keeps account of the damage, without a system call.
struct LineParser {
  private(set) var table = ValueTable()
  /// The changes that the lines made, in order, if they are wanted.
  private(set) var changes: [PreferenceChange] = []
  private(set) var damage = PreferenceRecovery()
  private(set) var lineCount = 0
  private(set) var known: KnownPart
  /// Whether all lines have their checksums, and the last one its newline, as this library writes them.
  private(set) var isAllChecked = true
  private let keepsChanges: Bool
  private var line: [PreferenceChange] = []

  /// Creates a parser for a file, or for lines that come after the part that is known.
  init(after known: KnownPart? = nil) { (self.known, keepsChanges) = (known ?? KnownPart(), known != nil) }

  /// The beginning of a file.
  enum Header: Equatable {
    case empty, whole, damaged, foreign
    case laterVersion(String)
  }

  /// Reads a whole file into the table, if it is one of this format, and returns what it begins with.
  mutating func parseFile(_ file: [UInt8]) -> Header {
    file.withUnsafeBufferPointer { file in
      if file.isEmpty { return .empty }
      // Some editors put a byte-order mark before the text.
      let textStart = file.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
      known.append(UnsafeBufferPointer(rebasing: file[..<textStart]))
      let bytes = UnsafeBufferPointer(rebasing: file[textStart...])
      let start = LineParser.lineEnd(in: bytes, from: 0) + 1
      let first = Line.header.dropLast()
      if start <= bytes.count, bytes.starts(with: first), start == first.count + 1 || bytes[first.count] == 0x0d {
        // About that many keys, which saves moving the table while it grows.
        table.reserveCapacity(min(bytes.count / 32, 1 << 20))
        known.append(UnsafeBufferPointer(rebasing: bytes[..<start]))
        lineCount = 1
        parseLines(UnsafeBufferPointer(rebasing: bytes[start...]))
        return .whole
      }
      if LineParser.isTorn(bytes) {
        (damage.headerWasDamaged, damage.tornBytes) = (true, file.count)
        known.append(bytes)
        return .damaged
      }
      if let version = LineParser.version(in: bytes), version != "1" { return .laterVersion(version) }
      return parseHeadless(bytes)
    }
  }

  /// Reads a file whose first line isn't what it should be, and is known by its other lines: one has its checksum, or a
  /// person has begun the file, and all are JSON objects.
  private mutating func parseHeadless(_ bytes: UnsafeBufferPointer<UInt8>) -> Header {
    let checkedCount = parseLines(bytes)
    if checkedCount > 0 || damage.isEmpty && !table.isEmpty {
      damage.headerWasDamaged = true
      damage.skippedLines.removeAll { $0 == 1 }
      return .damaged
    }
    return .foreign
  }

  /// Reads lines, and returns how many have a right checksum.
  @discardableResult
  mutating func parseLines(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var (start, end, checkedCount) = (0, 0, 0)
    while start < bytes.count {
      let stop = LineParser.lineEnd(in: bytes, from: start)
      let text = UnsafeBufferPointer(rebasing: bytes[start..<stop])
      var kind = Line.read(text, into: &line)
      lineCount += 1
      if kind == .damaged, let record = Line.gluedRecord(in: text) {
        let beginning = Line.read(UnsafeBufferPointer(rebasing: text[..<record]), into: &line)
        note(beginning, length: record)
        kind = Line.read(UnsafeBufferPointer(rebasing: text[record...]), into: &line)
        isAllChecked = false
      } else if kind == .damaged, stop == bytes.count, lineCount > 1 {
        damage.tornBytes = text.count
        (isAllChecked, end) = (false, stop)
        break
      }
      note(kind, length: text.count + 1)
      if kind == .checked { checkedCount += 1 }
      end = min(stop + 1, bytes.count)
      start = stop + 1
    }
    known.append(UnsafeBufferPointer(rebasing: bytes[..<end]))
    if known.lacksNewline { isAllChecked = false }
    return checkedCount
  }

  /// Makes the changes of a line, or notes why it has none.
  private mutating func note(_ kind: Line.Kind, length: Int) {
    if kind != .checked { isAllChecked = false }
    switch kind {
    case .damaged:
      damage.skippedLines.append(lineCount)
      damage.skippedBytes += length
    case .edited: damage.editedLines.append(lineCount)
    case .blank, .checked, .byHand: break
    }
    if keepsChanges { changes.append(contentsOf: line) } else { for change in line { table.apply(change) } }
  }

  private static func lineEnd(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
  }

  /// Whether it is a part of the first line, or only zeros, which a power cut can leave of a new file.
  private static func isTorn(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    bytes.count < Line.header.count && Line.header.starts(with: bytes) || bytes.allSatisfy { $0 == 0 }
  }

  /// The version of a first line that is well-formed, of this format or a later one.
  private static func version(in bytes: UnsafeBufferPointer<UInt8>) -> String? {
    let name = Line.header.dropLast(2)
    guard bytes.starts(with: name) else { return nil }
    let digits = bytes.dropFirst(name.count).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    guard (1...9).contains(digits.count), digits.endIndex < bytes.count, digits.first != UInt8(ascii: "0"),
      bytes[digits.endIndex] == UInt8(ascii: "\n") || bytes[digits.endIndex] == UInt8(ascii: " ")
    else { return nil }
    return String(decoding: digits, as: UTF8.self)
  }
}
