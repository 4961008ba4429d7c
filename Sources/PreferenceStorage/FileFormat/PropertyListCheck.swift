/// A check that rejects property lists that would do harm when they are decoded.
///
/// A binary property list can contain itself, or refer to one value so often that a few bytes expand to gigabytes. An
/// XML or binary property list can be nested so deeply that a decoder overflows the stack. The old text format of
/// property lists is always rejected.
enum PropertyListCheck {
  /// The maximum depth of nesting, which is nearly the same as for JSON (`JSONScanner`).
  private static let maximumDepth = 512

  static func check(_ bytes: [UInt8]) throws(PreferenceError) {
    let isXML = bytes.first { $0 > 0x20 } == UInt8(ascii: "<")
    if bytes.starts(with: "bplist".utf8) ? isTree(bytes) : isXML && isShallow(bytes[...]) { return }
    throw PreferenceError(
      .unreadable,
      "neither XML in UTF-8 nor binary, nested more than \(maximumDepth) levels deep, larger than it seems, or not well-formed"
    )
  }

  /// Returns whether the elements of an XML text are balanced and nested no deeper than `maximumDepth`.
  ///
  /// Tags within a comment, a CDATA section, a declaration or a processing instruction don't count.
  private static func isShallow(_ bytes: ArraySlice<UInt8>) -> Bool {
    let passages = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!DOCTYPE", ">")]
    var (depth, rest) = (0, bytes)
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[start...]
      if let passage = passages.first(where: { rest.starts(with: $0.0.utf8) }) {
        let content = rest.dropFirst(passage.0.utf8.count)
        guard let end = content.firstRange(of: Array(passage.1.utf8)) else { return false }
        // An internal document type definition could define entities that expand to long texts.
        if passage.0 == "<!DOCTYPE", content[..<end.lowerBound].contains(UInt8(ascii: "[")) { return false }
        rest = rest[end.upperBound...]
      } else {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
        depth += rest.starts(with: "</".utf8) ? -1 : rest[end - 1] == UInt8(ascii: "/") ? 0 : 1
        guard (0...maximumDepth).contains(depth) else { return false }
        rest = rest[(end + 1)...]
      }
    }
    return depth == 0
  }

  /// Returns whether the arrays and dictionaries of a binary property list form a tree of limited depth and size.
  ///
  /// The property lists that Foundation writes have this form. A binary property list has a header of eight bytes, the
  /// objects, a table of the objects' offsets, and a trailer of 32 bytes.
  private static func isTree(_ bytes: [UInt8]) -> Bool {
    /// Returns the big-endian number at an offset; nil if the number is outside of the file or doesn't fit in an `Int`.
    func integer(at offset: Int, width: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - width else { return nil }
      return Int(exactly: bytes[offset..<offset + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    let trailer = bytes.count - 32
    guard trailer >= 8 else { return false }
    let (offsetWidth, referenceWidth) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
      let count = integer(at: trailer + 8, width: 8), let top = integer(at: trailer + 16, width: 8),
      let table = integer(at: trailer + 24, width: 8), count <= bytes.count, table <= trailer,
      count * offsetWidth <= trailer - table
    else { return false }

    // Equal values are stored only once in the file, so all values together can be larger than the file. The limit is
    // 64 times the size of the file plus a megabyte, which a harmless property list is unlikely to exceed.
    var rest = 64 * bytes.count + 1 << 20
    var containers: Set<Int> = []
    var waiting = [(index: top, depth: 0)]
    while let (index, depth) = waiting.popLast() {
      guard depth <= maximumDepth, index < count,
        let offset = integer(at: table + index * offsetWidth, width: offsetWidth), offset < table
      else { return false }
      let kind = bytes[offset] >> 4
      var (length, start) = (Int(bytes[offset] & 15), offset + 1)
      let hasLength = [0x4, 0x5, 0x6, 0x7, 0xa, 0xb, 0xc, 0xd].contains(kind)
      guard hasLength || [0x0, 0x1, 0x2, 0x3, 0x8].contains(kind) else { return false }
      if hasLength, length == 15 {
        guard start < table, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3,
          let long = integer(at: start + 1, width: 1 << Int(bytes[start] & 15))
        else { return false }
        (length, start) = (long, start + 1 + 1 << Int(bytes[start] & 15))
      }
      guard length <= bytes.count else { return false }
      rest -= hasLength ? 1 + 2 * length : 1 << min(length, 4)
      guard rest >= 0 else { return false }
      guard kind >= 0xa else { continue }
      guard containers.insert(index).inserted else { return false }
      for number in 0..<(kind == 0xd ? 2 * length : length) {
        guard let child = integer(at: start + number * referenceWidth, width: referenceWidth) else { return false }
        waiting.append((child, depth + 1))
      }
    }
    return true
  }
}
