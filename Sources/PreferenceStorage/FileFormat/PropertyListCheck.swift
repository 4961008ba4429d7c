/// Finds property lists that would do harm when they are decoded.
///
/// A binary one can refer to itself, or to one value so often that a few bytes become gigabytes. One of either form can be
/// nested so deep that a decoder runs out of stack. The old text form isn't read.
enum PropertyListCheck {
  /// The file isn't decoded.
  struct Harmful: Error, CustomStringConvertible {
    let description =
      "neither XML in UTF-8 nor binary, nested more than \(maximumDepth) levels deep, larger than it seems, or not well-formed"
  }

  /// As deep as the JSON that a store keeps.
  fileprivate static let maximumDepth = 512

  static func isHarmless(_ bytes: [UInt8]) -> Bool {
    if bytes.starts(with: "bplist".utf8) {
      var check = BinaryCheck(bytes)
      return check.isHarmless
    }
    return bytes.first { $0 > 0x20 } == UInt8(ascii: "<") && isShallow(bytes[...])
  }

  /// Whether the elements of an XML text are nested no deeper than is allowed.
  ///
  /// What counts is what begins an element: not what a comment, a CDATA section, a declaration or an instruction has in it.
  private static func isShallow(_ bytes: ArraySlice<UInt8>) -> Bool {
    let passages = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!DOCTYPE", ">")]
    var (depth, rest) = (0, bytes)
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[start...]
      if let passage = passages.first(where: { rest.starts(with: $0.0.utf8) }) {
        let content = rest.dropFirst(passage.0.utf8.count)
        guard let end = content.firstRange(of: Array(passage.1.utf8)) else { return false }
        // A document type of its own could define what other texts stand for.
        if passage.0 == "<!DOCTYPE", content[..<end.lowerBound].contains(UInt8(ascii: "[")) { return false }
        rest = rest[end.upperBound...]
      } else {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
        if rest.starts(with: "</".utf8) {
          depth -= 1
        } else if rest[end - 1] != UInt8(ascii: "/") {
          depth += 1
        }
        guard (0...maximumDepth).contains(depth) else { return false }
        rest = rest[(end + 1)...]
      }
    }
    return depth == 0
  }
}

/// The objects of a binary property list: eight bytes of header, the objects, a table of their offsets, a trailer of 32 bytes.
private struct BinaryCheck {
  /// What is known of an object.
  private enum Object {
    case unvisited, entered
    /// How deep it is, and how large with all that it refers to.
    case known(height: Int, size: Int)
  }

  private let bytes: [UInt8]
  private var objects: [Object] = []
  private var table = 0
  private var offsetWidth = 0
  private var referenceWidth = 0
  private var top = 0
  private var references = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isHarmless: Bool {
    mutating get {
      guard bytes.count >= 40 else { return false }
      let trailer = bytes.count - 32
      offsetWidth = Int(bytes[trailer + 6])
      referenceWidth = Int(bytes[trailer + 7])
      guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
        let count = integer(at: trailer + 8, width: 8), let top = integer(at: trailer + 16, width: 8),
        let table = integer(at: trailer + 24, width: 8), count <= bytes.count, table <= trailer,
        count * offsetWidth <= trailer - table, top < count
      else { return false }
      (self.table, self.top) = (table, top)
      objects = Array(repeating: .unvisited, count: count)
      guard let size = visit(top, depth: 0)?.size else { return false }
      // Values that are equal are kept once, so a sound list may well be larger than its file, but not by that much.
      return size <= 64 * bytes.count + 1 << 20
    }
  }

  /// A big-endian number; nil if it isn't in the file or isn't one of an `Int`.
  private func integer(at offset: Int, width: Int) -> Int? {
    guard offset >= 0, offset <= bytes.count - width else { return nil }
    var value: UInt64 = 0
    for byte in bytes[offset..<offset + width] { value = value << 8 | UInt64(byte) }
    return Int(exactly: value)
  }

  private mutating func visit(_ index: Int, depth: Int) -> (height: Int, size: Int)? {
    guard depth <= PropertyListCheck.maximumDepth, index < objects.count else { return nil }
    switch objects[index] {
    case .entered: return nil
    case .known(let height, let size): return depth + height <= PropertyListCheck.maximumDepth ? (height, size) : nil
    case .unvisited: break
    }
    objects[index] = .entered
    guard let offset = integer(at: table + index * offsetWidth, width: offsetWidth), offset < table,
      let known = measure(offset, depth: depth)
    else { return nil }
    objects[index] = .known(height: known.height, size: known.size)
    return known
  }

  private mutating func measure(_ offset: Int, depth: Int) -> (height: Int, size: Int)? {
    let kind = bytes[offset] >> 4
    var count = Int(bytes[offset] & 15)
    var start = offset + 1
    switch kind {
    case 0x0: return (0, 1)
    case 0x1, 0x2, 0x3, 0x8: return (0, 1 << min(count, 4))
    case 0x4, 0x5, 0x6, 0x7, 0xa, 0xb, 0xc, 0xd: break
    default: return nil
    }
    if count == 15 {
      guard start < table, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3,
        let long = integer(at: start + 1, width: 1 << Int(bytes[start] & 15))
      else { return nil }
      count = long
      start += 1 + 1 << Int(bytes[offset + 1] & 15)
    }
    guard count <= bytes.count else { return nil }
    if kind < 0xa { return (0, 1 + count * (kind == 0x6 ? 2 : 1)) }
    return measureReferences(kind == 0xd ? 2 * count : count, at: start, depth: depth)
  }

  private mutating func measureReferences(_ count: Int, at start: Int, depth: Int) -> (height: Int, size: Int)? {
    // Containers that lie on one another would cost the square of the file's length.
    references += count
    guard references <= bytes.count else { return nil }
    var (height, size) = (0, 1)
    for number in 0..<count {
      guard let index = integer(at: start + number * referenceWidth, width: referenceWidth),
        let object = visit(index, depth: depth + 1)
      else { return nil }
      height = max(height, object.height + 1)
      size += object.size
      // Without a limit here the sizes would soon be beyond every number.
      guard size <= 1 << 40 else { return nil }
    }
    return (height, size)
  }
}
