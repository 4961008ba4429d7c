internal import Support

/// The JSON text of one value, byte for byte as it is in the file.
///
/// Most preferences have a text of up to 15 bytes, which needs no allocation.
package struct JSONText: Sendable {
  package let string: String

  package init(_ text: String) { string = text }

  /// Creates a text from bytes; nil if they aren't UTF-8.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let text = JSONString.string(of: bytes) else { return nil }
    string = text
  }

  /// Creates the JSON text of a string, with quotes and escapes.
  init(string: String) {
    var bytes: [UInt8] = []
    JSONString.append(string, to: &bytes)
    self.string = String(decoding: bytes, as: UTF8.self)
  }

  /// Creates a JSON text without whitespace outside of its strings; nil if the given text isn't JSON.
  package init?(validating text: String) {
    guard JSONText(text).isJSON else { return nil }
    self = JSONText(text).compacted
  }

  /// Creates the text of a value to set; nil if `json` is nil or `null`.
  ///
  /// - Throws: `.invalidValue` if `json` isn't valid JSON.
  init?(json: String?, forKey key: String) throws(PreferenceError) {
    guard let json else { return nil }
    guard let text = JSONText(validating: json) else {
      // The message leaves out the text, which may be a secret.
      throw PreferenceError(
        .invalidValue,
        "the text of \(json.utf8.count) bytes is not JSON, or is nested more than 511 levels deep, and was not set; a"
          + " string needs its quotes", key: key)
    }
    if text.isNull { return nil }
    self = text
  }

  static let null = JSONText("null")
  /// The text that stores nil for a key whose default isn't nil.
  static let storedNil = ##"{"#nil":null}"##
  /// Whether the text is `storedNil`, or differs from it only by additional `#`, as in `{"##nil":null}`.
  ///
  /// If a program's own value is encoded as one of these texts, the library adds a `#` to tell it from a stored nil.
  var isLikeStoredNil: Bool {
    guard string.utf8.starts(with: "{\"#".utf8), string.hasSuffix(##"#nil":null}"##) else { return false }
    return string.utf8.dropFirst(2).prefix { $0 == UInt8(ascii: "#") }.count == string.utf8.count - 12
  }
  var isNull: Bool { string == "null" }
  var firstByte: UInt8? { string.utf8.first }
  var isString: Bool { firstByte == UInt8(ascii: "\"") }

  /// Whether the text is one JSON value, with or without whitespace around it.
  var isJSON: Bool { withBytes { JSONScanner.isJSON($0) } }

  package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var string = string
    return string.withUTF8(body)
  }

  /// The text without whitespace outside of strings, so that it fits on one line.
  var compacted: JSONText {
    var compacted: [UInt8] = []
    withBytes { bytes in
      compacted.reserveCapacity(bytes.count)
      var isInString = false
      var isEscaped = false
      for byte in bytes {
        if !isInString, JSONScanner.isSpace(byte) { continue }
        compacted.append(byte)
        if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
      }
    }
    return JSONText(String(decoding: compacted, as: UTF8.self))
  }

  /// Returns the members of a JSON object as changes, with a nil text for `null`; nil if the bytes aren't an object.
  package static func members(of bytes: UnsafeBufferPointer<UInt8>) -> [PreferenceChange]? {
    var changes: [PreferenceChange] = []
    guard Line.readObject(bytes, into: &changes) else { return nil }
    return changes.map { PreferenceChange(key: $0.key, text: $0.text?.compacted) }
  }

  /// Returns the text of a JSON object that has one line for each key.
  static func object(_ members: [PreferenceChange]) -> String {
    if members.isEmpty { return "{}\n" }
    var bytes: [UInt8] = []
    for member in members {
      bytes.append(contentsOf: (bytes.isEmpty ? "{\n  " : ",\n  ").utf8)
      JSONString.append(member.key, to: &bytes)
      bytes.append(contentsOf: ": ".utf8)
      bytes.append(contentsOf: (member.text ?? .null).string.utf8)
    }
    bytes.append(contentsOf: "\n}\n".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension JSONText: Equatable {
  /// Returns whether the texts have equal bytes.
  ///
  /// Two Unicode spellings of `é` are equal strings in Swift, but different JSON texts.
  package static func == (one: JSONText, other: JSONText) -> Bool {
    // Comparing the bytes one by one would take several times as long (benchmark "Set an Int, written").
    one.withBytes { these in
      other.withBytes { $0.count == these.count && memcmp($0.baseAddress!, these.baseAddress!, these.count) == 0 }
    }
  }
}

/// A namespace for writing and reading JSON strings.
///
/// A written string has escapes only for `"`, `\` and control characters below U+0020.
enum JSONString {
  static func append(_ string: String, to bytes: inout [UInt8]) {
    if needsEscapes(string) { return bytes.append(contentsOf: string.jsonQuoted.utf8) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: string.utf8)
    bytes.append(UInt8(ascii: "\""))
  }

  static func needsEscapes(_ string: String) -> Bool {
    JSONText(string).withBytes { bytes in
      bytes.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    }
  }

  /// Returns the bytes as a string; nil if they aren't UTF-8.
  static func string(of bytes: UnsafeBufferPointer<UInt8>) -> String? {
    // For ASCII, the standard library's costly validation isn't needed (benchmark "Open a store of 100,000 keys").
    bytes.reduce(0, |) < 0x80 ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
  }
}
