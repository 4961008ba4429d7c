#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension JSONText {
  /// Creates the text of a value to set; nil if the value is nil.
  ///
  /// - Throws: `.invalidKey` if the key is empty or too long. `.invalidValue` if the value can't be encoded, or is
  ///   encoded as `null` although its type isn't Optional. In the file, `null` means that the key has no value.
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

  /// Creates the text of a value to set; nil if the value and the default are both nil.
  ///
  /// If the value is nil and the default isn't, the text is `storedNil`.
  ///
  /// - Throws: The errors of `init(of:forKey:)`.
  package init?<Value: Encodable>(
    of value: Value, forKey key: String, default defaultValue: @autoclosure () -> Value
  ) throws(PreferenceError) {
    if let text = try JSONText(of: value, forKey: key) {
      self = text
    } else {
      do { if try JSONText(encoding: defaultValue()).isNull { return nil } } catch {}
      self.init(JSONText.storedNil)
    }
  }

  /// Creates the JSON text of a value; the text of nil is `null`.
  ///
  /// Values of the most frequent types are written without an encoder.
  package init<Value: Encodable>(encoding value: Value) throws {
    if let value = same(value, as: Int.self) {
      self.init(value.description)
    } else if let value = same(value, as: Bool.self) {
      self.init(value ? "true" : "false")
    } else if let value = same(value, as: String.self), !JSONString.needsEscapes(value) {
      self.init(string: value)
    } else if let value = same(value, as: Double.self), value.isFinite {
      self.init(value.description)
    } else if let seconds = unwrapped(value, as: Date.self)?.timeIntervalSinceReferenceDate, seconds.isFinite {
      self.init(seconds.description)
    } else {
      let encoder = JSONEncoder()
      // Without sorted keys, equal values could have different texts, and an unchanged value would be written again.
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      self.init(String(decoding: try encoder.encode(value), as: UTF8.self))
      if isLikeStoredNil { self.init("{\"#" + string.dropFirst(2)) }
      // The encoder's output isn't always JSON: A `Decimal` that isn't a number is written as `NaN` without quotes.
      if !isJSON {
        throw PreferenceError(
          .invalidValue,
          "\(Value.self), or a value in it, is encoded as what isn't JSON, or is nested more than 511 levels deep")
      }
    }
  }
}

/// Returns the value if its static type is the given type; otherwise, nil.
///
/// Unlike `as?`, the function doesn't look up conformances at run time.
@inline(__always)
private func same<Value, Same>(_ value: Value, as type: Same.Type) -> Same? {
  Value.self == Same.self ? unsafeBitCast(value, to: Same.self) : nil
}

/// Returns the value if its static type is the given type or an Optional of the given type; otherwise, nil.
@inline(__always)
private func unwrapped<Value, Same>(_ value: Value, as type: Same.Type) -> Same? {
  same(value, as: Same.self) ?? (same(value, as: Same?.self) ?? nil)
}

// MARK: Decoding

extension JSONText {
  /// Returns the value that the text encodes.
  ///
  /// - Throws: `.typeMismatch` if the text doesn't encode a value of the type. The error's own message doesn't contain
  ///   the text, which may be a secret.
  func value<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value {
    do { return try decode(type) } catch {
      throw PreferenceError(
        .typeMismatch,
        "the value is \(kind) of \(string.utf8.count) bytes, which can't be read as \(type); it was kept. "
          + remedy(for: error, readingAs: type, forKey: key), key: key, underlying: error is KindMismatch ? nil : error)
    }
  }

  /// Returns advice for the programmer about a value that can't be read as the type.
  private func remedy(for error: any Error, readingAs type: (some Decodable).Type, forKey key: String) -> String {
    if case DecodingError.keyNotFound(let member, _) = error {
      return "Make `\(member.stringValue)` Optional, or write init(from:) with decodeIfPresent"
    }
    // A longer text isn't decoded just for this advice, because that would slow down every failing read.
    if isString, string.utf8.count < 65_536, (try? decodeEncoded(type)) != nil {
      return "It has the value in encoded form: declare the key as formerly: .encoded(\(key.debugDescription))"
    }
    return "Read it as the type it was written as, or remove it"
  }

  /// The error for a text that `decodeOtherwise(_:)` refuses before decoding, such as a string for an integer type.
  private struct KindMismatch: Error {}

  /// The kind of the value, in words for error messages, according to the first byte of the text.
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
    // Values of these types need no decoder. Each bit cast is from a type to itself. The code avoids `Optional<Value>`,
    // a type that the runtime would look up at each call.
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
    // If the type is `String`, `decode(_:)` has found that the text isn't a valid string. An integer type refuses a
    // string without a decoder, because a decoder would first read all of a long text.
    if type == String.self || type is any BinaryInteger.Type && isString { throw KindMismatch() }
    if string == JSONText.storedNil {
      if type is any ExpressibleByNilLiteral.Type { return try JSONText.null.decode(type) }
    } else if isLikeStoredNil {
      return try JSONText("{\"" + string.dropFirst(3)).decodeAsIs(type)
    }
    return try decodeAsIs(type)
  }

  /// Decodes the text with a `JSONDecoder`, without regard to this library's special texts for nil.
  private func decodeAsIs<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return try decoder.decode(type, from: Data(string.utf8))
  }

  /// The string that the text encodes; nil if the value isn't a string, or if the string is invalid.
  ///
  /// A string with an escape such as `\ud800`, which isn't a character, is invalid.
  package var characters: String? {
    guard isString else { return nil }
    return withBytes { bytes in
      guard bytes.count > 1, bytes.last == UInt8(ascii: "\"") else { return nil }
      let content = UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1])
      return JSONString.decode(content, hasEscapes: content.contains(UInt8(ascii: "\\")))
    }
  }

  /// Returns a value that the program, not this library, has encoded and stored as a string of JSON or as `Data`.
  ///
  /// `Data` can contain JSON or a property list.
  func decodeEncoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let string = try decode(String.self)
    if let inner = JSONText(validating: string) { return try inner.decode(type) }
    let data = try decode(Data.self)
    if let inner = JSONText(validating: String(decoding: data, as: UTF8.self)) { return try inner.decode(type) }
    return try PropertyListDecoder().decode(type, from: data)
  }
}

extension JSONString {
  /// Returns the string that the bytes between two quotes encode; nil if an escape or the UTF-8 is invalid.
  static func decode(_ bytes: UnsafeBufferPointer<UInt8>, hasEscapes: Bool) -> String? {
    guard hasEscapes else { return string(of: bytes) }
    let quote = UInt8(ascii: "\"")
    do { return try JSONDecoder().decode(String.self, from: Data([quote] + bytes + [quote])) } catch { return nil }
  }
}
