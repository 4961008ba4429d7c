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
      self.init("\"" + value.base64EncodedString() + "\"")
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

  private init(string: String) {
    var bytes: [UInt8] = []
    JSONString.append(string, to: &bytes)
    self.init(String(decoding: bytes, as: UTF8.self))
  }

  private init<Number: BinaryFloatingPoint & CustomStringConvertible>(number: Number) {
    if number.isFinite {
      self.init(number.description)
    } else if number.isNaN {
      self.init("\"" + Spelling.nan + "\"")
    } else {
      self.init("\"" + (number < 0 ? Spelling.negativeInfinity : Spelling.infinity) + "\"")
    }
  }
}

/// How the numbers are spelled that JSON has no number for.
enum Spelling {
  static let infinity = "Infinity"
  static let negativeInfinity = "-Infinity"
  static let nan = "NaN"
}

/// The value as what it is, where the types are the same.
///
/// Unlike `as?` it takes no search through the conformances.
@inline(__always)
func same<Value, Same>(_ value: Value, as type: Same.Type) -> Same? {
  Value.self == Same.self ? unsafeBitCast(value, to: Same.self) : nil
}
