/// A search for the lines of a file that have only obsolete changes, so that a new line can overwrite them.
enum FreeRoom {
  private struct Entry {
    let range: Range<Int>
    let keys: [String]
    let isIntact: Bool
  }

  /// Returns the range of the first adjacent lines that may be overwritten and together have at least `count` bytes.
  ///
  /// A line may not be overwritten if it is damaged or has the last change to a key. As an exception, the last change
  /// to a key in `removed` may be overwritten if it is the key's only change in the file. If there were an earlier
  /// change to the key, the value of that change would become valid again.
  ///
  /// - Returns: Nil if there are no such lines.
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

  /// Returns the lines of the file that end with a newline, without the header.
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
