/// A parser that makes a table from the bytes of a preferences file, and records the damage.
///
/// The parser makes no system calls.
struct LineParser {
  private(set) var table = ValueTable()
  /// The changes in the lines, in order; empty unless the parser was created for the lines after a known part.
  private(set) var changes: [PreferenceChange] = []
  private(set) var damage = PreferenceRecovery()
  private(set) var lineCount = 0
  private(set) var known: KnownPart
  /// Whether every line that was read has a valid checksum and a newline, like the lines that this library writes.
  private(set) var isAllChecked = true
  private let keepsChanges: Bool
  private var line: [PreferenceChange] = []

  /// Creates a parser for the lines after a known part of a file; for nil, creates a parser for a whole file.
  init(after known: KnownPart? = nil) { (self.known, keepsChanges) = (known ?? KnownPart(), known != nil) }

  /// Returns all changes in the lines, in order.
  static func changes(in lines: ArraySlice<UInt8>) -> [PreferenceChange] {
    var parser = LineParser(after: KnownPart())
    lines.withUnsafeBufferPointer { _ = parser.parseLines($0) }
    return parser.changes
  }

  /// The state of a file's first line, which identifies the format.
  enum Header: Equatable {
    case empty, whole, damaged, foreign
    case laterVersion(String)
  }

  /// Reads a whole file into the table, and returns the state of the file's first line.
  ///
  /// If the result is `.foreign` or `.laterVersion`, the table isn't valid.
  mutating func parseFile(_ file: [UInt8]) -> Header {
    file.withUnsafeBufferPointer { file in
      if file.isEmpty { return .empty }
      // Some editors put a byte-order mark before the text.
      let textStart = file.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
      known.append(UnsafeBufferPointer(rebasing: file[..<textStart]))
      let bytes = UnsafeBufferPointer(rebasing: file[textStart...])
      if let header = LineParser.header(in: bytes) {
        // Space for an estimated number of keys avoids reallocations while the table grows.
        table.reserveCapacity(min(bytes.count / 32, 1 << 20))
        known.append(UnsafeBufferPointer(rebasing: bytes[..<header.length]))
        lineCount = header.isWhole ? 1 : 0
        damage.headerWasDamaged = !header.isWhole
        parseLines(UnsafeBufferPointer(rebasing: bytes[header.length...]))
        return header.isWhole ? .whole : .damaged
      }
      if LineParser.isTorn(bytes) {
        (damage.headerWasDamaged, damage.tornBytes) = (true, file.count)
        known.append(bytes)
        return .damaged
      }
      let version = LineParser.version(in: bytes)
      if let version, version.isChecked { return .laterVersion(version.number) }
      let header = parseHeadless(bytes)
      // A version without a valid checksum may be a damaged `1`. The file counts as a later version only if nothing
      // else shows that it is a file of version 1.
      if header == .foreign, let version { return .laterVersion(version.number) }
      return header
    }
  }

  /// Reads a file without a valid first line.
  ///
  /// The file counts as a preferences file if one of the following is true:
  ///
  /// - A line has a valid checksum.
  /// - Only one bit of the first line is wrong.
  /// - All lines that aren't blank are JSON objects without a checksum, which a person may have written, and they set
  ///   at least one value.
  private mutating func parseHeadless(_ bytes: UnsafeBufferPointer<UInt8>) -> Header {
    let checkedCount = parseLines(bytes)
    if checkedCount > 0 || LineParser.isOneBitOff(bytes) || damage.isEmpty && !table.isEmpty {
      damage.headerWasDamaged = true
      damage.lacksFirstLine = !damage.skippedLines.contains(1)
      damage.skippedLines.removeAll { $0 == 1 }
      return .damaged
    }
    return .foreign
  }

  /// Reads lines, and returns the number of lines with a valid checksum.
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

  /// Adds the changes of the line that was just read to `table` or to `changes`, and records damage and edits.
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

  /// Returns the length of the header at the beginning of the file, and whether it ends with a line break.
  ///
  /// If another control character has taken the place of the newline, it counts as the end of the header, because the
  /// first record follows it on the same line.
  ///
  /// - Returns: Nil if the file doesn't begin with the header of this format.
  private static func header(in bytes: UnsafeBufferPointer<UInt8>) -> (length: Int, isWhole: Bool)? {
    let text = Line.header.dropLast()
    guard bytes.starts(with: text), bytes.count > text.count else { return nil }
    let end = bytes[text.count]
    let rest = bytes[(text.count + 1)...]
    if end == UInt8(ascii: "\n") { return (text.count + 1, true) }
    if end == UInt8(ascii: "\r"), rest.first == UInt8(ascii: "\n") { return (text.count + 2, true) }
    return end < 0x20 || end == 0x7f ? (text.count + 1, false) : nil
  }

  /// Returns whether the file has only the beginning of the header, or only zeros.
  ///
  /// A power failure can leave a new file in this state.
  private static func isTorn(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    bytes.count < Line.header.count && Line.header.starts(with: bytes) || bytes.allSatisfy { $0 == 0 }
  }

  /// Returns whether the file begins with the header of this format, except for a single wrong bit.
  private static func isOneBitOff(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let differences = zip(Line.header, bytes).map { ($0 ^ $1).nonzeroBitCount }
    return differences.count == Line.header.count && differences.reduce(0, +) == 1
  }

  /// Returns the version in a first line such as `#preferences 2 253eff8f`, and whether the line's checksum is valid.
  ///
  /// In every version after 1, the first line ends with the checksum of the text before it, such as `#preferences 2`.
  /// If the checksum is wrong or missing, the line may be a damaged first line of version 1.
  ///
  /// - Returns: Nil if the version is 1, or if the first line has another form.
  private static func version(in bytes: UnsafeBufferPointer<UInt8>) -> (number: String, isChecked: Bool)? {
    let name = Line.header.dropLast(2)
    guard bytes.starts(with: name) else { return nil }
    var line = UnsafeBufferPointer(rebasing: bytes[..<lineEnd(in: bytes, from: 0)])
    guard line.count < bytes.count else { return nil }
    if line.last == UInt8(ascii: "\r") { line = UnsafeBufferPointer(rebasing: line.dropLast()) }
    let digits = line.dropFirst(name.count).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    let rest = UnsafeBufferPointer(rebasing: line[digits.endIndex...])
    guard (1...9).contains(digits.count), digits.first != UInt8(ascii: "0"), !digits.elementsEqual("1".utf8),
      rest.isEmpty || rest.first == UInt8(ascii: " ")
    else { return nil }
    let start = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: line[..<digits.endIndex]))
    let checksum = UnsafeBufferPointer(rebasing: rest.dropFirst())
    let isChecked = checksum.count == 8 && Line.statedChecksum(of: checksum) == Line.checksum(start)
    return (String(decoding: digits, as: UTF8.self), isChecked)
  }
}
