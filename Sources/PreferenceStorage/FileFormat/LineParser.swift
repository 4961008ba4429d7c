/// Reads the lines of a preferences file into a table, and keeps account of what is damaged.
///
/// Bytes in, values out: it calls nothing of the system.
struct LineParser {
  var table: ValueTable
  /// What the lines did, in order; kept only if it is wanted.
  private(set) var changes: [PreferenceChange] = []
  private(set) var damage = PreferenceRecovery()
  /// The lines that were skipped, and what is wrong with them.
  private(set) var badLines: [(number: Int, kind: Line.Kind)] = []
  private(set) var lineCount = 0
  private(set) var end = FileEnd()
  private var isAllChecked = true
  private var lineIsChecked = false
  private var line: [PreferenceChange] = []

  init(table: ValueTable = ValueTable()) { self.table = table }

  /// What a file begins with.
  enum Header: Equatable {
    case empty, whole, damaged, foreign
    case laterVersion(String)
  }

  /// Reads a whole file, and returns what it begins with.
  ///
  /// Only files of this format are read into the table.
  mutating func parseFile(_ file: [UInt8]) -> Header {
    file.withUnsafeBufferPointer { bytes in
      let header = LineParser.header(of: bytes)
      switch header {
      case .whole:
        // About that many keys, which saves moving the table while it grows.
        table.reserveCapacity(min(bytes.count / 32, 1 << 20))
        parse(bytes, from: LineParser.lineEnd(in: bytes, from: 0) + 1, number: 2)
      case .damaged where LineParser.isTorn(bytes):
        damage.headerWasDamaged = true
        damage.tornBytes = bytes.count
        end.tornBytes = bytes.count
      case .damaged:
        damage.headerWasDamaged = true
        parse(bytes, from: 0, number: 1)
      case .empty, .foreign, .laterVersion: break
      }
      table.measure()
      return header
    }
  }

  /// Reads the lines that a file has grown by since its end was there, after a newline.
  ///
  /// False unless all of them are whole and have their checksums, as lines have that this library appends. Anything else
  /// is the work of another program, which may have written all of the file again, so that all of it has to be read.
  mutating func parseGrowth(_ growth: ArraySlice<UInt8>, after old: FileEnd) -> Bool {
    growth.withUnsafeBufferPointer { bytes in
      end.digest = old.digest
      parse(bytes, from: 0, number: 0, keepingChanges: true)
      end.length += old.length
      end.lastLine?.offset += old.length
      if bytes.isEmpty { end.lastLine = old.lastLine }
      return isAllChecked && !end.endsWithoutNewline && damage.isEmpty
    }
  }

  private static let newline = UInt8(ascii: "\n")

  private mutating func parse(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, number first: Int, keepingChanges: Bool = false
  ) {
    var start = start
    var number = first
    end.length = start
    while start < bytes.count {
      let stop = LineParser.lineEnd(in: bytes, from: start)
      let isLast = stop == bytes.count
      lineCount = number
      let text = UnsafeBufferPointer(rebasing: bytes[start..<stop])
      let unread = parseLine(text, number: number, keepingChanges: keepingChanges)
      end.digest.add(text, isChecked: lineIsChecked)
      if unread == text.count, isLast, number != 1 {
        damage.tornBytes = unread
        end.tornBytes = unread
        return
      }
      if unread > 0, !(number == 1 && damage.headerWasDamaged) {
        damage.skippedLines.append(number)
        damage.skippedBytes += unread + (unread == text.count ? 1 : 0)
      }
      end.length = min(stop + 1, bytes.count)
      end.endsWithoutNewline = isLast
      end.lastLine = FileEnd.LastLine(of: text, at: start)
      start = stop + 1
      number += 1
    }
  }

  /// Reads a line, and returns how many bytes at its beginning can't be read.
  private mutating func parseLine(
    _ text: UnsafeBufferPointer<UInt8>, number: Int, keepingChanges: Bool
  ) -> Int {
    let kind = Line.read(text, into: &line)
    lineIsChecked = kind == .checked
    isAllChecked = isAllChecked && lineIsChecked
    if load(kind, keepingChanges: keepingChanges) { return 0 }
    let records = Line.gluedRecords(in: text)
    guard let first = records.first else {
      badLines.append((number, kind))
      return text.count
    }
    let beginning = Line.read(UnsafeBufferPointer(rebasing: text[..<first]), into: &line)
    let isRead = load(beginning, keepingChanges: keepingChanges)
    if !isRead { badLines.append((number, beginning)) }
    for (start, end) in zip(records, records.dropFirst() + [text.count]) {
      let record = Line.read(UnsafeBufferPointer(rebasing: text[start..<end]), into: &line)
      if !load(record, keepingChanges: keepingChanges) { badLines.append((number, record)) }
    }
    return isRead ? 0 : first
  }

  /// Makes the changes of a line that could be read.
  private mutating func load(_ kind: Line.Kind, keepingChanges: Bool) -> Bool {
    switch kind {
    case .checked, .byHand, .blank:
      for change in line { table.load(change) }
      if keepingChanges { changes.append(contentsOf: line) }
      return true
    case .wrongChecksum, .notJSON: return false
    }
  }

  static func lineEnd(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != newline { index += 1 }
    return index
  }
}

extension LineParser {
  private static func header(of bytes: UnsafeBufferPointer<UInt8>) -> Header {
    if bytes.isEmpty { return .empty }
    let header = Line.header
    if bytes.starts(with: header) || bytes.starts(with: header.dropLast() + Array("\r\n".utf8)) { return .whole }
    if isTorn(bytes) { return .damaged }
    if let version = version(in: bytes), version != "1" { return .laterVersion(version) }
    return hasCheckedLine(bytes) ? .damaged : .foreign
  }

  /// Whether it is a part of the first line, or nothing but zeros, which some file systems leave of a file that was new
  /// when the power went.
  private static func isTorn(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    bytes.count < Line.header.count && Line.header.starts(with: bytes) || bytes.allSatisfy { $0 == 0 }
  }

  /// The version of a first line that is well-formed, of this format or a later one.
  private static func version(in bytes: UnsafeBufferPointer<UInt8>) -> String? {
    let name = Line.header.dropLast(2)
    guard bytes.starts(with: name) else { return nil }
    let digits = bytes.dropFirst(name.count).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    guard (1...9).contains(digits.count), digits.endIndex < bytes.count, digits.first != UInt8(ascii: "0"),
      bytes[digits.endIndex] == newline || bytes[digits.endIndex] == UInt8(ascii: " ")
    else { return nil }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Whether there is a line whose checksum is right, which no file has that isn't of this format.
  private static func hasCheckedLine(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var start = 0
    var changes: [PreferenceChange] = []
    while start < bytes.count {
      let end = lineEnd(in: bytes, from: start)
      let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
      if Line.read(line, into: &changes) == .checked { return true }
      // A damaged newline joins the first line with the second.
      if start == 0, !Line.gluedRecords(in: line).isEmpty { return true }
      start = end + 1
    }
    return false
  }
}
