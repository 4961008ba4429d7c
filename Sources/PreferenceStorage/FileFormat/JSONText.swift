/// The JSON text of one value, byte for byte as it is in the file.
///
/// Texts of up to 15 bytes, which most preferences have, need no allocation. A string without escapes is kept without its
/// quotes, so that to read it copies nothing (benchmark: "read from a store").
struct JSONText: Sendable {
  /// The text or, of a string without escapes, what is between the quotes.
  let content: String
  /// Whether it is a string without escapes.
  let isPlainString: Bool

  init(_ text: String) {
    var text = text
    let plain = text.withUTF8 { Self.plainContent(of: $0).map { String(decoding: $0, as: UTF8.self) } }
    (content, isPlainString) = (plain ?? text, plain != nil)
  }

  /// Nil if the bytes aren't UTF-8.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    let plain = Self.plainContent(of: bytes)
    guard let content = JSONString.string(of: plain ?? bytes) else { return nil }
    (self.content, isPlainString) = (content, plain != nil)
  }

  /// The text of a string.
  init(string: String) {
    if JSONString.length(of: string) == string.utf8.count + 2 {
      var content = string
      content.makeContiguousUTF8()
      (self.content, isPlainString) = (content, true)
    } else {
      var bytes: [UInt8] = []
      JSONString.append(string, to: &bytes)
      (content, isPlainString) = (String(decoding: bytes, as: UTF8.self), false)
    }
  }

  /// What is between the quotes of a string without escapes; nil of any other text.
  private static func plainContent(of bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
    let quote = UInt8(ascii: "\"")
    guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return nil }
    let content = UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1])
    return content.contains { $0 == quote || $0 == UInt8(ascii: "\\") } ? nil : content
  }

  /// The text.
  var string: String { isPlainString ? "\"" + content + "\"" : content }
  /// How many bytes the text has.
  var length: Int { content.utf8.count + (isPlainString ? 2 : 0) }
  var firstByte: UInt8? { isPlainString ? UInt8(ascii: "\"") : content.utf8.first }

  static let null = JSONText("null")
  var isNull: Bool { self == .null }
}

extension JSONText: Equatable {
  /// Equal byte for byte; two spellings of `é` are equal strings and different texts.
  static func == (one: JSONText, other: JSONText) -> Bool {
    let count = one.content.utf8.count
    guard one.isPlainString == other.isPlainString, count == other.content.utf8.count else { return false }
    return one.withContent { these in
      other.withContent { those in
        guard let these = these.baseAddress, let those = those.baseAddress else { return true }
        return compareBytes(these, those, count)
      }
    }
  }

  /// The bytes of the content, in place: the string has them in a row, as none comes from Objective-C.
  func withContent<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = content.utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = content
    return copy.withUTF8(body)
  }

  /// The bytes of the text.
  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if !isPlainString { return withContent(body) }
    var text = string
    return text.withUTF8(body)
  }

  func append(to bytes: inout [UInt8]) {
    if isPlainString { bytes.append(UInt8(ascii: "\"")) }
    withContent { bytes.append(contentsOf: $0) }
    if isPlainString { bytes.append(UInt8(ascii: "\"")) }
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
    if isPlainString { return self }
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
      (member.text ?? .null).append(to: &bytes)
    }
    bytes.append(contentsOf: "\n}\n".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }
}
