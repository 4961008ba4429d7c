#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension JSONText {
  /// The text of a value that is to be set; nil for a value that is nil.
  init?<Value: Encodable>(of value: Value, forKey key: String) throws(PreferenceError) {
    try ValueTable.check(key)
    do {
      self = try JSONText(encoding: value)
    } catch {
      throw PreferenceError(
        .invalidValue, "the value of type \(Value.self) could not be encoded, and was not set",
        key: key, underlying: error)
    }
    if isNull { return nil }
  }

  /// The text of a value.
  ///
  /// Nil becomes `null`.
  ///
  /// Bool, the integers, String, the floating-point numbers, Date and Data are spelled here, in the same way as the
  /// encoder spells them inside other values. Every spelling can be read back to the last bit.
  init<Value: Encodable>(encoding value: Value) throws {
    if let text = JSONText(fast: value) {
      self = text
    } else {
      let encoder = JSONEncoder()
      // Equal values have equal texts, so that they need not be written again.
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: Spelling.infinity, negativeInfinity: Spelling.negativeInfinity, nan: Spelling.nan)
      self.init(String(decoding: try encoder.encode(value), as: UTF8.self))
      // The encoder writes some values as what no JSON parser reads: `NaN` for a `Decimal` that is none.
      if !isJSON { throw NotJSON(type: Value.self) }
    }
  }

  /// What an encoder gave can't be kept.
  private struct NotJSON: Error, CustomStringConvertible {
    let type: any Any.Type
    var description: String {
      "\(type), or a value in it, is encoded as what isn't JSON, or is nested more than 512 levels deep"
    }
  }

  private init?<Value>(fast value: Value) {
    if let value = same(value, as: Int.self) {
      self.init(decimal: value)
    } else if let value = same(value, as: Bool.self) {
      self.init(value ? "true" : "false")
    } else if let value = same(value, as: String.self) {
      self.init(string: value)
    } else if let value = same(value, as: Double.self) {
      self.init(number: value)
    } else if let value = same(value, as: Int64.self) {
      self.init(value.description)
    } else if let value = same(value, as: UInt64.self) {
      self.init(value.description)
    } else if let value = same(value, as: Date.self) {
      self.init(number: value.timeIntervalSinceReferenceDate)
    } else if let value = same(value, as: Data.self) {
      self.init(string: value.base64EncodedString())
    } else if let value = same(value, as: Float.self) {
      self.init(number: value)
    } else {
      self.init(integer: value)
    }
  }

  private init?<Value>(integer value: Value) {
    if let value = same(value, as: Int32.self) {
      self.init(value.description)
    } else if let value = same(value, as: UInt.self) {
      self.init(value.description)
    } else if let value = same(value, as: UInt32.self) {
      self.init(value.description)
    } else if let value = same(value, as: Int16.self) {
      self.init(value.description)
    } else if let value = same(value, as: UInt16.self) {
      self.init(value.description)
    } else if let value = same(value, as: Int8.self) {
      self.init(value.description)
    } else if let value = same(value, as: UInt8.self) {
      self.init(value.description)
    } else {
      return nil
    }
  }

  /// The digits of the most frequent type, at half of the cost of `description`.
  private init(decimal value: Int) {
    var digits = 1
    var rest = value.magnitude / 10
    while rest > 0 {
      rest /= 10
      digits += 1
    }
    let count = digits + (value < 0 ? 1 : 0)
    // A capacity of 15 or less needs no allocation.
    let string = String(unsafeUninitializedCapacity: count) { buffer in
      buffer[0] = UInt8(ascii: "-")
      var rest = value.magnitude
      for index in (count - digits..<count).reversed() {
        buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      return count
    }
    self.init(string)
  }

  private init<Number: BinaryFloatingPoint & CustomStringConvertible>(number: Number) {
    if number.isFinite {
      self.init(number.description)
    } else if number.isNaN {
      self.init(string: Spelling.nan)
    } else {
      self.init(string: number < 0 ? Spelling.negativeInfinity : Spelling.infinity)
    }
  }
}

/// How the numbers are spelled that JSON has no number for.
private enum Spelling {
  static let infinity = "Infinity"
  static let negativeInfinity = "-Infinity"
  static let nan = "NaN"
}

/// The value as what it is, if the types are the same.
///
/// Unlike `as?` it takes no search through the conformances.
@inline(__always)
func same<Value, Same>(_ value: Value, as type: Same.Type) -> Same? {
  Value.self == Same.self ? unsafeBitCast(value, to: Same.self) : nil
}

// MARK: Decoding

extension JSONText {
  /// The value that was stored.
  ///
  /// The error of a mismatch has nothing of the value in it, which may be a secret.
  func value<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value {
    func mismatch(_ underlying: (any Error)? = nil) -> PreferenceError {
      PreferenceError(
        .typeMismatch,
        "the value is \(kind) of \(length) bytes, which can't be read as \(type); it was kept."
          + " Read it as the type it was written as, set it again or remove it",
        key: key, underlying: underlying)
    }
    do { return try decode(type) } catch is KindMismatch { throw mismatch() } catch { throw mismatch(error) }
  }

  /// The first byte shows that the type can't be read.
  private struct KindMismatch: Error {}

  /// What the text spells, by its first byte.
  private var kind: String {
    switch firstByte {
    case UInt8(ascii: "\""): "a string"
    case UInt8(ascii: "{"): "an object"
    case UInt8(ascii: "["): "an array"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "a Boolean"
    default: "a number"
    }
  }

  /// False if the first byte shows that the type can't be read, so that the decoder needn't read a text of any length to
  /// find out.
  private func mayBe<Value>(_ type: Value.Type) -> Bool {
    if type == String.self || type == Data.self { return firstByte == UInt8(ascii: "\"") }
    if type is any FixedWidthInteger.Type { return kind == "a number" }
    if type == Bool.self { return kind == "a Boolean" }
    if type is any BinaryFloatingPoint.Type || type == Date.self { return mayBeNumber }
    return true
  }

  /// Whether it is a number, or the name of one that JSON can't spell.
  private var mayBeNumber: Bool { length <= Spelling.negativeInfinity.utf8.count + 2 || kind == "a number" }

  /// The value that the text spells.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // The types that need no decoder, as far as they are spelled as this library spells them. The bit casts are of a
    // type to itself. There is no `Optional<Value>`, which the runtime would look up at each call.
    if type == Int.self {
      if let value = integer(Int.self) { return unsafeBitCast(value, to: type) }
    } else if type == Bool.self {
      if let value = boolean { return unsafeBitCast(value, to: type) }
    } else if type == String.self {
      if let value = plainString { return unsafeBitCast(value, to: type) }
    } else if type == Double.self {
      if let value = number(Double.self) { return unsafeBitCast(value, to: type) }
    } else if type == Int64.self {
      if let value = integer(Int64.self) { return unsafeBitCast(value, to: type) }
    } else if type == UInt64.self {
      if let value = integer(UInt64.self) { return unsafeBitCast(value, to: type) }
    } else if type == Date.self {
      if let value = date { return unsafeBitCast(value, to: type) }
    } else if type == Data.self {
      if let value = data { return unsafeBitCast(value, to: type) }
    } else if type == Float.self {
      if let value = number(Float.self) { return unsafeBitCast(value, to: type) }
    }
    return try decodeOtherwise(type)
  }

  @inline(never) private func decodeOtherwise<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let value = otherInteger(type) { return value }
    guard mayBe(type) else { throw KindMismatch() }
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Spelling.infinity, negativeInfinity: Spelling.negativeInfinity, nan: Spelling.nan)
    return try decoder.decode(type, from: Data(string.utf8))
  }

  private func otherInteger<Value>(_ type: Value.Type) -> Value? {
    func known<Same>(_ value: Same?) -> Value? { value.map { unsafeBitCast($0, to: type) } }
    if type == Int32.self { return known(integer(Int32.self)) }
    if type == UInt.self { return known(integer(UInt.self)) }
    if type == UInt32.self { return known(integer(UInt32.self)) }
    if type == Int16.self { return known(integer(Int16.self)) }
    if type == UInt16.self { return known(integer(UInt16.self)) }
    if type == Int8.self { return known(integer(Int8.self)) }
    if type == UInt8.self { return known(integer(UInt8.self)) }
    return nil
  }

  /// Digits, with or without a minus, and nothing else.
  ///
  /// Other spellings of an integer (`3.0`), and numbers of 20 digits, are the decoder's.
  private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    guard let (magnitude, isNegative) = wholeNumber else { return nil }
    if !isNegative { return Integer(exactly: magnitude) }
    return magnitude <= Int64.min.magnitude ? Integer(exactly: Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
  }

  /// Nil also for a number of 20 digits, which may not fit, so that no digit has to be checked for that.
  private var wholeNumber: (magnitude: UInt64, isNegative: Bool)? {
    if isPlainString { return nil }
    return withContent { bytes in
      let isNegative = bytes.first == UInt8(ascii: "-")
      let digits = bytes.dropFirst(isNegative ? 1 : 0)
      guard !digits.isEmpty, digits.count < 20 else { return nil }
      var magnitude: UInt64 = 0
      for byte in digits {
        let digit = byte &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        magnitude = magnitude &* 10 &+ UInt64(digit)
      }
      return (magnitude, isNegative)
    }
  }

  private var boolean: Bool? {
    switch content {
    case "true" where !isPlainString: true
    case "false" where !isPlainString: false
    default: nil
    }
  }

  private func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Number.Type) -> Number? {
    guard mayBeNumber else { return nil }
    return switch plainString {
    case Spelling.infinity?: .infinity
    case Spelling.negativeInfinity?: -.infinity
    case Spelling.nan?: .nan
    case .some: nil
    // What is too large for the type is not infinite but an error, which the decoder explains.
    case nil: Number(content).flatMap { $0.isFinite ? $0 : nil }
    }
  }

  private var date: Date? { number(Double.self).map(Date.init(timeIntervalSinceReferenceDate:)) }

  private var data: Data? { plainString.flatMap { Data(base64Encoded: $0) } }

  /// What the text spells, if it is a string.
  private var plainString: String? {
    if isPlainString { return content }
    return withContent { bytes in
      guard bytes.count >= 2, bytes.first == UInt8(ascii: "\"") else { return nil }
      return JSONString.decode(UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1]), hasEscapes: true)
    }
  }
}
