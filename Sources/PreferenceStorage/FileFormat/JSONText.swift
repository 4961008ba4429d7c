/// The JSON text of one value, byte for byte as it is in the file.
///
/// Texts of up to 15 bytes, which most preferences have, need no allocation.
struct JSONText: Sendable {
  var string: String

  init(_ string: String) { self.string = string }

  static let null = JSONText("null")
  var isNull: Bool { self == .null }
}

extension JSONText: Equatable {
  /// Equal byte for byte; two spellings of `é` are equal strings and different texts.
  static func == (one: JSONText, other: JSONText) -> Bool {
    let count = one.string.utf8.count
    guard count == other.string.utf8.count else { return false }
    return one.withBytes { these in
      other.withBytes { those in
        guard let these = these.baseAddress, let those = those.baseAddress else { return true }
        return compareBytes(these, those, count)
      }
    }
  }

  /// The bytes, in place if the string has them in a row, which it has unless it came from Objective-C.
  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = string.utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = string
    return copy.withUTF8(body)
  }
}

private func compareBytes(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
  for index in 0..<count where one[index] != other[index] { return false }
  return true
}

/// The texts of values, for what compares them.
package enum PreferenceText {
  /// The text that a store keeps for the value; nil if the value can't be encoded.
  package static func text(of value: some Encodable) -> String? {
    do { return try JSONText(encoding: value).string } catch { return nil }
  }

  /// The text without the space between its parts; nil if it isn't JSON.
  package static func compacted(_ text: String) -> String? { JSONText(validating: text)?.string }

  /// The characters as a JSON string, as a store spells it.
  package static func quoted(_ characters: String) -> String {
    var bytes: [UInt8] = []
    JSONString.append(characters, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The characters of a JSON string; nil if the text isn't one.
  package static func string(of text: String) -> String? {
    do { return try JSONText(text).decode(String.self) } catch { return nil }
  }

  /// The members of a JSON object, the last of those with one name; nil if the text isn't one.
  ///
  /// A value of nil is `null`.
  package static func members(of text: String) -> [String: String?]? {
    JSONText(text).withBytes { bytes in
      var changes: [PreferenceChange] = []
      guard Line.readObject(bytes, into: &changes) else { return nil }
      return Dictionary(changes.map { ($0.key, $0.text?.compacted.string) }) { _, last in last }
    }
  }
}

// MARK: Layout

extension JSONText {
  /// The text, if it is JSON, without space at its ends and between its parts.
  init?(validating string: String) {
    guard JSONText(string).isJSON else { return nil }
    self = JSONText(string).compacted
  }

  /// Whether the text is one JSON value, with or without space around it.
  var isJSON: Bool {
    withBytes { bytes in
      var scanner = JSONScanner(bytes)
      scanner.skipSpace()
      guard scanner.skipValue() else { return false }
      scanner.skipSpace()
      return scanner.isAtEnd
    }
  }

  /// The text that is to be set; nil for `null` and nil.
  ///
  /// - Throws: `.invalidValue` if it isn't JSON.
  init?(json: String?, forKey key: String) throws(PreferenceError) {
    guard let json else { return nil }
    guard let text = JSONText(validating: json) else {
      // Its content may be a secret.
      throw PreferenceError(
        .invalidValue, "the text of \(json.utf8.count) bytes is not JSON, and was not set; a string needs its quotes",
        key: key)
    }
    if text.isNull { return nil }
    self = text
  }

  /// The text without the space between its parts, so that it fits in a line.
  var compacted: JSONText {
    var compacted: [UInt8] = []
    withBytes { bytes in
      compacted.reserveCapacity(bytes.count)
      var isInString = false
      var isEscaped = false
      for byte in bytes {
        if isInString {
          if isEscaped {
            isEscaped = false
          } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
          } else if byte == UInt8(ascii: "\"") {
            isInString = false
          }
        } else if byte == UInt8(ascii: "\"") {
          isInString = true
        } else if byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
          continue
        }
        compacted.append(byte)
      }
    }
    return JSONText(String(decoding: compacted, as: UTF8.self))
  }

  /// A JSON object with a line for each key.
  static func object(_ members: [PreferenceChange]) -> String {
    if members.isEmpty { return "{}\n" }
    var bytes = Array("{".utf8)
    var separator = "\n  "
    for member in members {
      bytes.append(contentsOf: separator.utf8)
      separator = ",\n  "
      JSONString.append(member.key, to: &bytes)
      bytes.append(contentsOf: ": ".utf8)
      (member.text ?? .null).withBytes { bytes.append(contentsOf: $0) }
    }
    bytes.append(contentsOf: "\n}\n".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }
}
