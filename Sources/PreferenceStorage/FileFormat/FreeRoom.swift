/// The search for lines of a file that no longer count, so that others can take their place.
enum FreeRoom {
  private struct Entry {
    let range: Range<Int>
    let keys: [String]
    let isIntact: Bool
  }

  /// Returns a range of at least `count` bytes, of adjacent lines that may be overwritten; nil if there is none.
  ///
  /// A damaged line may not be overwritten, nor a line with the last value of a key. If the key is being removed, its
  /// last value may be overwritten, unless an earlier line has another value of the key, which would count again.
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

  /// Returns the lines after the first one.
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
