/// The part of a file that the values in memory reflect, from the beginning of the file to the end of a line.
///
/// A checksum shows whether a file still begins with this part. Before a write, only the end of the part is compared
/// with the file, so that the cost doesn't grow with the file.
struct KnownPart: Sendable, Equatable {
  /// A number of bytes at the beginning of the file, and their checksum.
  struct Beginning: Sendable, Equatable {
    var length = 0
    var checksum: UInt32 = 0
  }

  private var all = Beginning()
  /// The bytes of the known part that precede its end, which is at least 4 KiB long, or else the whole part.
  private(set) var endStart = Beginning()
  /// The next value of `endStart`; the known part continues for less than 4 KiB after these bytes.
  private var nextEndStart = Beginning()
  /// Whether the last line lacks its newline, so that a newline has to be written before the next line.
  private(set) var lacksNewline = false

  private static let endLength = 4096

  var length: Int { all.length }

  /// Whether the part is so short that a comparison of its end includes the whole part.
  var isShort: Bool { endStart.length == 0 }

  /// Extends the part by the bytes of the lines that follow it.
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let last = bytes.last else { return }
    lacksNewline = last != UInt8(ascii: "\n")
    var rest = UnsafeRawBufferPointer(bytes)
    while !rest.isEmpty {
      let next = UnsafeRawBufferPointer(rebasing: rest.prefix(KnownPart.endLength))
      all.checksum = Line.checksum(next, after: all.checksum)
      all.length += next.count
      if all.length - nextEndStart.length >= KnownPart.endLength { (endStart, nextEndStart) = (nextEndStart, all) }
      rest = UnsafeRawBufferPointer(rebasing: rest[next.count...])
    }
  }

  /// Returns whether the bytes, read from the file at the offset `endStart.length`, begin with the end of this part.
  func endsLike(_ bytes: [UInt8]) -> Bool {
    let count = length - endStart.length
    return count <= bytes.count
      && bytes.withUnsafeBytes {
        Line.checksum(UnsafeRawBufferPointer(rebasing: $0[..<count]), after: endStart.checksum) == all.checksum
      }
  }

  /// Returns whether the file still begins with this part.
  func isBeginning(of file: [UInt8]) -> Bool {
    length <= file.count
      && all.checksum == file.withUnsafeBytes { Line.checksum(UnsafeRawBufferPointer(rebasing: $0[..<length])) }
  }

  /// Returns whether the file still consists of exactly this part.
  func isAll(of file: [UInt8]) -> Bool { length == file.count && isBeginning(of: file) }
}
