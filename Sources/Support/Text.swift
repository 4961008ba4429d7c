// Text functions that several modules share: searches for parts, escapes, and the search for the name closest to a
// misspelled name.

extension String {
  /// The string as a JSON string literal, in quotes.
  package var jsonQuoted: String {
    unicodeScalars.reduce(into: "\"") { text, scalar in
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case _ where scalar.value < 0x20:
        text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    } + "\""
  }

  /// The string with XML's escapes, for use as text or between the double quotes of an attribute's value.
  ///
  /// A space replaces U+FFFE, U+FFFF and each character below U+0020. XML forbids most of these characters.
  package var xmlEscaped: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: text += " "
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}

// MARK: Parts
//
// The standard library's functions that search a string for a part are in the library `_StringProcessing`. A statically
// linked program that calls them would have to include that library.

extension ArraySlice<UInt8> {
  /// Returns the index at which `part` first occurs, or nil if it doesn't occur.
  package func start(ofPart part: [UInt8]) -> Int? {
    (startIndex...endIndex).first { self[$0...].starts(with: part) }
  }

  package func contains(part: [UInt8]) -> Bool { start(ofPart: part) != nil }
}

extension String {
  /// Returns whether the string contains `part`, comparing whole characters instead of bytes.
  ///
  /// If `part` is ASCII, the string must also contain the bytes of `part`. The Kelvin sign alone, for example, doesn't
  /// match `K`, although the two characters are canonically equal.
  package func contains(part: String) -> Bool {
    let bytes = Array(part.utf8)
    guard Array(utf8)[...].contains(part: bytes) || !bytes.allSatisfy({ $0 < 0x80 }) else { return false }
    return part.isEmpty || indices.contains { self[$0...].hasPrefix(part) }
  }
}

// MARK: Closest match

extension String {
  /// Returns the name with the smallest edit distance from this string, or nil if no name is close enough.
  ///
  /// The distance ignores case. A name that equals this string, including the case, is skipped. A name is close enough
  /// if the distance is at most a third of this string's length, or is 1. The distance and the length are counted in
  /// UTF-8 bytes. Among equally close names, the function returns the alphabetically first name.
  ///
  /// - Complexity: O(*n* × *m*) for each name with about the same length and letters, where *n* and *m* are the lengths
  ///   of this string and the name.
  package func closestMatch(among names: [String]) -> String? {
    let wanted = Array(lowercased().utf8)
    var limit = max(1, wanted.count / 3)
    var closest: String?
    for name in names where name != self {
      let other = Array(name.lowercased().utf8)
      // One edit changes the length by at most one byte, and the set of letters by at most two letters.
      let letters = (wanted.letters ^ other.letters).nonzeroBitCount
      guard abs(other.count - wanted.count) <= limit, letters <= 2 * limit else { continue }
      let distance = Support.editDistance(from: wanted, to: other)
      guard distance < limit || distance == limit && closest.map({ name < $0 }) ?? true else { continue }
      (closest, limit) = (name, distance)
    }
    return closest
  }
}

extension Sequence<UInt8> {
  /// A set of bits that shows which letters and digits a lowercase text contains.
  ///
  /// The low six bits of a byte select the bit that represents the byte in the set. Some bytes share a bit, such as `p`
  /// and `0`. Texts with different sets are different, but different texts may have the same set.
  package var letters: UInt64 { reduce(0) { $0 | 1 << UInt64($1 & 63) } }
}

/// Returns the smallest number of edits that turn the text `a` into the text `b`.
///
/// An edit inserts, removes or replaces a byte, or swaps two neighboring bytes. No other edit changes swapped bytes or
/// inserts a byte between them.
///
/// - Complexity: O(*n* × *m*), where *n* and *m* are the lengths of `a` and `b`.
package func editDistance(from a: [UInt8], to b: [UInt8]) -> Int {
  // Each row of the table of distances is computed from the previous row, `last`. For a swap, the function also needs
  // `before`, which is the row above `last`.
  var before: [Int] = []
  var last = Array(0...b.count)
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var distance = min(last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { distance = min(distance, before[j - 1] + 1) }
      row.append(distance)
    }
    (before, last) = (last, row)
  }
  return last[b.count]
}
