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
