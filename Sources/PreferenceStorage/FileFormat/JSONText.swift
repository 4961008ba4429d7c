#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import Support

/// The JSON text of one value, byte for byte as it is in the file.
///
/// Texts of up to 15 bytes, which most preferences have, need no allocation.
struct JSONText: Sendable {
  let string: String

  init(_ text: String) { string = text }

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

  /// Creates a text without the whitespace around its parts; nil if the text isn't JSON.
  init?(validating text: String) {
    guard JSONText(text).isJSON else { return nil }
    self = JSONText(text).compacted
  }

  /// Creates the text of a value to set, or nil if `json` is nil or `null`; throws `.invalidValue` if it isn't JSON.
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
  /// The text of a nil that is stored, because the default isn't nil.
  static let storedNil = ##"{"#nil":null}"##
  /// Whether the text is that of a stored nil, or of a value that is encoded like one and has another `#` before it.
  var isLikeStoredNil: Bool {
    guard string.utf8.starts(with: "{\"#".utf8), string.hasSuffix(##"#nil":null}"##) else { return false }
    return string.utf8.dropFirst(2).prefix { $0 == UInt8(ascii: "#") }.count == string.utf8.count - 12
  }
  var isNull: Bool { string == "null" }
  var firstByte: UInt8? { string.utf8.first }
  var isString: Bool { firstByte == UInt8(ascii: "\"") }

  /// Whether the text is one JSON value, with or without whitespace around it.
  var isJSON: Bool { withBytes { JSONScanner.isJSON($0) } }

  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var string = string
    return string.withUTF8(body)
  }

  /// The text without whitespace outside of strings, so that it fits in one line.
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

  /// Returns the members of a JSON object, as changes; nil if the bytes aren't a JSON object.
  static func members(of bytes: UnsafeBufferPointer<UInt8>) -> [PreferenceChange]? {
    var changes: [PreferenceChange] = []
    guard Line.readObject(bytes, into: &changes) else { return nil }
    return changes.map { PreferenceChange(key: $0.key, text: $0.text?.compacted) }
  }

  /// Returns a JSON object with one line for each key.
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
  /// Returns whether the texts have equal bytes; two spellings of `é` are equal strings, but different texts.
  static func == (one: JSONText, other: JSONText) -> Bool {
    // An element at a time would take several times as long (benchmark "Set an Int, written").
    one.withBytes { these in
      other.withBytes { $0.count == these.count && memcmp($0.baseAddress!, these.baseAddress!, these.count) == 0 }
    }
  }
}

// MARK: Encoding

extension JSONText {
  /// Creates the text of a value to set; nil if the value is nil.
  ///
  /// - Throws: `.invalidKey` if it is empty or too long; `.invalidValue` if the value can't be encoded, or if it isn't
  ///   nil but is encoded as `null`, which would be read as no value.
  init?<Value: Encodable>(of value: Value, forKey key: String) throws(PreferenceError) {
    try ValueTable.check(key)
    do { self = try JSONText(encoding: value) } catch {
      throw PreferenceError(
        .invalidValue, "the value of type \(Value.self) could not be encoded, and was not set", key: key,
        underlying: error)
    }
    guard isNull else { return }
    if Value.self is any ExpressibleByNilLiteral.Type { return nil }
    throw PreferenceError(
      .invalidValue,
      "the value of type \(Value.self) is encoded as null, which means no value, so it was not set; encode it as something"
        + " else, or make the property Optional", key: key)
  }

  /// Creates the text of a value, `null` for nil; the most frequent types need no encoder.
  init<Value: Encodable>(encoding value: Value) throws {
    if let value = same(value, as: Int.self) {
      self.init(value.description)
    } else if let value = same(value, as: Bool.self) {
      self.init(value ? "true" : "false")
    } else if let value = same(value, as: String.self), !JSONString.needsEscapes(value) {
      self.init(string: value)
    } else if let value = same(value, as: Double.self), value.isFinite {
      self.init(value.description)
    } else if let seconds = unwrapped(value, as: Date.self)?.timeIntervalSinceReferenceDate, seconds.isFinite {
      // The text of a date always has a fraction or an exponent, so that an integer isn't read as a date.
      self.init(seconds.description)
    } else if let text = textOfNaN(value) {
      self.init(string: text)
    } else {
      let encoder = JSONEncoder()
      // Sorted keys give equal values equal texts, so that equal values needn't be written again.
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      self.init(String(decoding: try encoder.encode(value), as: UTF8.self))
      if isLikeStoredNil { self.init("{\"#" + string.dropFirst(2)) }
      // Some of the encoder's output isn't JSON: it writes `NaN` for a `Decimal` that isn't a number.
      if !isJSON {
        throw PreferenceError(
          .invalidValue,
          "\(Value.self), or a value in it, is encoded as what isn't JSON, or is nested more than 511 levels deep")
      }
    }
  }
}

/// Returns the value as the other type, if both types are the same, without the conformance lookup of `as?`.
@inline(__always)
private func same<Value, Same>(_ value: Value, as type: Same.Type) -> Same? {
  Value.self == Same.self ? unsafeBitCast(value, to: Same.self) : nil
}

/// Returns the value if it is of the other type, or an Optional of it that isn't nil; otherwise, nil.
@inline(__always)
private func unwrapped<Value, Same>(_ value: Value, as type: Same.Type) -> Same? {
  same(value, as: Same.self) ?? (same(value, as: Same?.self) ?? nil)
}

// MARK: NaN

/// Returns the text of a NaN other than the usual one, with its bits: `NaN(7ff8000000000005)`; nil for other values.
///
/// An encoder writes every NaN as `NaN`, so only a NaN that is a value by itself keeps its bits.
private func textOfNaN<Value>(_ value: Value) -> String? {
  func text(_ bits: some BinaryInteger) -> String { "NaN(\(String(bits, radix: 16)))" }
  if let value = unwrapped(value, as: Double.self) {
    return value.isNaN && value.bitPattern != Double.nan.bitPattern ? text(value.bitPattern) : nil
  }
  guard let value = unwrapped(value, as: Float.self) else { return nil }
  return value.isNaN && value.bitPattern != Float.nan.bitPattern ? text(value.bitPattern) : nil
}

extension JSONText {
  /// Returns the NaN whose bits the text has; nil for any other text or type.
  private func exactNaN<Value>(_ type: Value.Type) -> Value? {
    guard string.hasPrefix("\"NaN("), string.hasSuffix(")\"") else { return nil }
    let bits = string.dropFirst(5).dropLast(2)
    let double = bits.count == 16 ? UInt64(bits, radix: 16).map { Double(bitPattern: $0) } : nil
    let float = bits.count == 8 ? UInt32(bits, radix: 16).map { Float(bitPattern: $0) } : nil
    guard let wide = double ?? float.map({ Double($0) }), wide.isNaN else { return nil }
    return wide as? Value ?? (float ?? Float(wide)) as? Value
  }
}

// MARK: Decoding

extension JSONText {
  /// Returns the stored value; the error of a mismatch doesn't contain the value, which may be a secret.
  func value<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value {
    do { return try decode(type) } catch {
      throw PreferenceError(
        .typeMismatch,
        "the value is \(kind) of \(string.utf8.count) bytes, which can't be read as \(type); it was kept. "
          + remedy(for: error, readingAs: type, forKey: key), key: key, underlying: error is KindMismatch ? nil : error)
    }
  }

  /// Returns the advice for a value that can't be read as a type.
  private func remedy(for error: any Error, readingAs type: (some Decodable).Type, forKey key: String) -> String {
    if case DecodingError.keyNotFound(let member, _) = error {
      return "Make `\(member.stringValue)` Optional, or write init(from:) with decodeIfPresent"
    }
    // In a long text that would be looked for at every read.
    if isString, string.utf8.count < 65_536, (try? decodeEncoded(type)) != nil {
      return "It has the value in encoded form: declare the key as formerly: .encoded(\(key.debugDescription))"
    }
    return "Read it as the type it was written as, or remove it"
  }

  /// The error for a text whose kind of value doesn't fit the type.
  private struct KindMismatch: Error {}

  /// The kind of the value, as the first byte of the text shows it.
  private var kind: String {
    switch firstByte {
    case UInt8(ascii: "\""): "a string"
    case UInt8(ascii: "{"): "an object"
    case UInt8(ascii: "["): "an array"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "a Boolean"
    default: "a number"
    }
  }

  /// Returns the value that the text encodes.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // These types need no decoder. Each bit cast is from a type to itself. None of the types is an `Optional<Value>`,
    // since the runtime would look up that type at each call.
    if type == Int.self {
      if let value = Int(string) { return unsafeBitCast(value, to: type) }
    } else if type == Bool.self {
      if string == "true" || string == "false" { return unsafeBitCast(string == "true", to: type) }
    } else if type == String.self {
      if let value = characters { return unsafeBitCast(value, to: type) }
    } else if type == Double.self, kind == "a number", let value = Double(string), value.isFinite {
      return unsafeBitCast(value, to: type)
    }
    return try decodeOtherwise(type)
  }

  @inline(never) private func decodeOtherwise<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // The kind of the text is enough to refuse these types. A decoder would read all of a long text first.
    if type == String.self || type is any BinaryInteger.Type && isString { throw KindMismatch() }
    if type == Date.self || type == Date?.self, Int(string) != nil { throw KindMismatch() }
    if string == JSONText.storedNil {
      if type is any ExpressibleByNilLiteral.Type { return try JSONText.null.decode(type) }
    } else if isLikeStoredNil {
      return try JSONText("{\"" + string.dropFirst(3)).decodeAsIs(type)
    }
    if let value = exactNaN(type) { return value }
    return try decodeAsIs(type)
  }

  /// Decodes the text in the way of an encoder, without this library's own forms.
  private func decodeAsIs<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return try decoder.decode(type, from: Data(string.utf8))
  }

  /// The string that the text encodes; nil if the value isn't a string, or if one of its escapes is invalid.
  private var characters: String? {
    guard isString else { return nil }
    return withBytes { bytes in
      let content = UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1])
      return JSONString.decode(content, hasEscapes: content.contains(UInt8(ascii: "\\")))
    }
  }

  /// Returns the value that is encoded as JSON in a string, or as JSON or a property list in data.
  func decodeEncoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let string = try decode(String.self)
    if let inner = JSONText(validating: string) { return try inner.decode(type) }
    let data = try decode(Data.self)
    if let inner = JSONText(validating: String(decoding: data, as: UTF8.self)) { return try inner.decode(type) }
    try PropertyListCheck.check([UInt8](data))
    return try PropertyListDecoder().decode(type, from: data)
  }
}

/// The functions on JSON texts that other modules use.
package enum PreferenceText {
  /// Returns the text that a store keeps for the value; nil if the value can't be encoded.
  package static func text(of value: some Encodable) -> String? {
    do { return try JSONText(encoding: value).string } catch { return nil }
  }

  /// Returns the text of a value to set; nil if the key is to be removed, because the value and the default are nil.
  ///
  /// - Throws: `.invalidKey` if the key is empty or too long; `.invalidValue` if the value can't be encoded.
  package static func text<Value: Encodable>(
    of value: Value, forKey key: String, default defaultValue: @autoclosure () -> Value
  ) throws(PreferenceError) -> String? {
    if let text = try JSONText(of: value, forKey: key) { return text.string }
    return text(of: defaultValue()) == "null" ? nil : JSONText.storedNil
  }

  /// Returns the text without whitespace outside of strings; nil if the text isn't JSON.
  package static func compacted(_ text: String) -> String? { JSONText(validating: text)?.string }

  /// Returns the characters of a JSON string; nil if the text isn't a JSON string.
  package static func string(of text: String) -> String? {
    do { return try JSONText(text).decode(String.self) } catch { return nil }
  }

  /// Returns the members of a JSON object, the last of each name, with nil for `null`; nil if the text isn't an object.
  package static func members(of text: String) -> [String: String?]? {
    JSONText(text).withBytes(JSONText.members).map { members in
      Dictionary(members.map { ($0.key, $0.json) }) { _, last in last }
    }
  }
}

/// JSON strings, in which only `"`, `\` and control characters are escaped.
enum JSONString {
  static func append(_ string: String, to bytes: inout [UInt8]) {
    if needsEscapes(string) { return bytes.append(contentsOf: string.jsonQuoted.utf8) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: string.utf8)
    bytes.append(UInt8(ascii: "\""))
  }

  static func needsEscapes(_ string: String) -> Bool {
    string.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
  }

  /// Returns the bytes as a string; nil if they aren't UTF-8.
  static func string(of bytes: UnsafeBufferPointer<UInt8>) -> String? {
    // ASCII skips the standard library's costly validation (benchmark "Open a store of 100,000 keys").
    bytes.reduce(0, |) < 0x80 ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
  }

  /// Returns the string of the bytes between two quotes; nil if an escape or the UTF-8 is invalid.
  static func decode(_ bytes: UnsafeBufferPointer<UInt8>, hasEscapes: Bool) -> String? {
    guard hasEscapes else { return string(of: bytes) }
    let quote = UInt8(ascii: "\"")
    do { return try JSONDecoder().decode(String.self, from: Data([quote] + bytes + [quote])) } catch { return nil }
  }
}
