/// The search for lines of a file with obsolete values, which new lines can overwrite.
enum FreeRoom {
  private struct Entry {
    let range: Range<Int>
    let keys: [String]
    let isIntact: Bool
  }

  /// Returns the range of adjacent lines of at least `count` bytes that may be overwritten; nil if there is none.
  ///
  /// Neither a damaged line nor a line with the last value of a key may be overwritten. As an exception, the last value
  /// of a removed key may be overwritten if the key has no earlier value, which would become valid again.
  static func find(for count: Int, in file: [UInt8], removing removed: Set<String>) -> Range<Int>? {
    let lines = lines(of: file)
    var (last, uses): ([String: Int], [String: Int]) = ([:], [:])
    for (index, line) in lines.enumerated() {
      for key in line.keys { (last[key], uses[key, default: 0]) = (index, uses[key, default: 0] + 1) }
    }
    var found: Range<Int>?
    for (index, line) in lines.enumerated() {
      let isFree =
        line.isIntact && line.keys.allSatisfy { last[$0] != index || removed.contains($0) && uses[$0] == 1 }
      found = isFree ? (found?.lowerBound ?? line.range.lowerBound)..<line.range.upperBound : nil
      if let found, found.count >= count { return found }
    }
    return nil
  }

  /// Returns the complete lines of the file, without the first line, which is the header.
  private static func lines(of file: [UInt8]) -> [Entry] {
    var lines: [Entry] = []
    var changes: [PreferenceChange] = []
    var start = Line.header.count
    while start < file.count {
      guard let end = file[start...].firstIndex(of: UInt8(ascii: "\n")) else { break }
      let kind = file.withUnsafeBufferPointer {
        Line.read(UnsafeBufferPointer(rebasing: $0[start..<end]), into: &changes)
      }
      lines.append(Entry(range: start..<end + 1, keys: changes.map(\.key), isIntact: kind != .damaged))
      start = end + 1
    }
    return lines
  }
}
