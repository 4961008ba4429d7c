#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension JSONText {
  /// The text of a value that is to be set; nil for a value that is nil.
  ///
  /// - Throws: `.invalidKey`; `.invalidValue` if the value can't be encoded, or is encoded as `null` without being nil: it
  ///   would be read as no value.
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

  /// The text of a value, `null` for nil; the most frequent types are spelled here, as the encoder spells them.
  init<Value: Encodable>(encoding value: Value) throws {
    if let value = same(value, as: Int.self) {
      self.init(value.description)
    } else if let value = same(value, as: Bool.self) {
      self.init(value ? "true" : "false")
    } else if let value = same(value, as: String.self), !JSONString.needsEscapes(value) {
      self.init(string: value)
    } else if let value = same(value, as: Double.self), value.isFinite {
      self.init(value.description)
    } else if let seconds = date(in: value)?.timeIntervalSinceReferenceDate, seconds.isFinite {
      // Always with a fraction, so that an integer isn't read as a date.
      self.init(seconds.description)
    } else {
      let encoder = JSONEncoder()
      // Equal values have equal texts, so that they need not be written again.
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      self.init(String(decoding: try encoder.encode(value), as: UTF8.self))
      // The encoder writes some values as what no JSON parser reads: `NaN` for a `Decimal` that is none.
      if !isJSON {
        throw PreferenceError(
          .invalidValue,
          "\(Value.self), or a value in it, is encoded as what isn't JSON, or is nested more than 512 levels deep")
      }
    }
  }
}

/// The value as what it is, if the types are the same, without the search through conformances that `as?` takes.
@inline(__always)
private func same<Value, Same>(_ value: Value, as type: Same.Type) -> Same? {
  Value.self == Same.self ? unsafeBitCast(value, to: Same.self) : nil
}

/// The date that the value is, if it is one or an optional one.
private func date<Value>(in value: Value) -> Date? {
  same(value, as: Date.self) ?? (same(value, as: Date?.self) ?? nil)
}

// MARK: Decoding

extension JSONText {
  /// The value that was stored; the error of a mismatch has nothing of it, as it may be a secret.
  func value<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value {
    do { return try decode(type) } catch {
      throw PreferenceError(
        .typeMismatch,
        "the value is \(kind) of \(string.utf8.count) bytes, which can't be read as \(type); it was kept. "
          + remedy(for: error, readingAs: type, forKey: key), key: key, underlying: error is KindMismatch ? nil : error)
    }
  }

  /// The advice for a value that can't be read as a type.
  private func remedy(for error: any Error, readingAs type: (some Decodable).Type, forKey key: String) -> String {
    if case DecodingError.keyNotFound(let member, _) = error {
      return "Make `\(member.stringValue)` Optional, or write init(from:) with decodeIfPresent"
    }
    // In a long text that would be looked for at every read.
    if isString, string.utf8.count < 65_536, (try? decodeEncoded(type)) != nil {
      return "It has the value in encoded form: declare the property with formerly: .encoded(\(key.debugDescription))"
    }
    return "Read it as the type it was written as, set it again or remove it"
  }

  /// The first byte shows that the type can't be read.
  private struct KindMismatch: Error {}

  /// The kind of value that the text spells, by its first byte.
  private var kind: String {
    switch firstByte {
    case UInt8(ascii: "\""): "a string"
    case UInt8(ascii: "{"): "an object"
    case UInt8(ascii: "["): "an array"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "a Boolean"
    default: "a number"
    }
  }

  /// The value that the text spells.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // The types that need no decoder. The bit casts are of a type to itself. There is no `Optional<Value>`, which the
    // runtime would look up at each call.
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
    // A text of any length needn't be read to find that it is a string and not a number.
    if type == String.self || type is any BinaryInteger.Type && isString { throw KindMismatch() }
    if type == Date.self || type == Date?.self, Int(string) != nil { throw KindMismatch() }
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return try decoder.decode(type, from: Data(string.utf8))
  }

  /// The string that the text spells, if it spells one.
  private var characters: String? {
    guard isString else { return nil }
    return withBytes { bytes in
      let content = UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1])
      return JSONString.decode(content, hasEscapes: content.contains(UInt8(ascii: "\\")))
    }
  }

  /// The value that is encoded within a string, or within data.
  func decodeEncoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let string = try decode(String.self)
    if let inner = JSONText(validating: string) { return try inner.decode(type) }
    let data = try decode(Data.self)
    if let inner = JSONText(validating: String(decoding: data, as: UTF8.self)) { return try inner.decode(type) }
    try PropertyListCheck.check([UInt8](data))
    return try PropertyListDecoder().decode(type, from: data)
  }
}

extension JSONString {
  /// The string between the quotes, or nil if an escape or the UTF-8 is wrong.
  static func decode(_ bytes: UnsafeBufferPointer<UInt8>, hasEscapes: Bool) -> String? {
    guard hasEscapes else { return string(of: bytes) }
    let quote = UInt8(ascii: "\"")
    do { return try JSONDecoder().decode(String.self, from: Data([quote] + bytes + [quote])) } catch { return nil }
  }
}
