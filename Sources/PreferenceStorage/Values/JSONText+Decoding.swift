#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension JSONText {
  /// The value that the text spells.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let value = fast(type) { return value }
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Spelling.infinity, negativeInfinity: Spelling.negativeInfinity, nan: Spelling.nan)
    return try decoder.decode(type, from: Data(string.utf8))
  }

  /// The value, where it is of one of the types that need no decoder and is spelled as this library spells it.
  private func fast<Value>(_ type: Value.Type) -> Value? {
    if type == Int.self { return known(integer(Int.self)) }
    if type == Bool.self { return known(boolean) }
    if type == String.self { return known(plainString) }
    if type == Double.self { return known(number(Double.self)) }
    if type == Int64.self { return known(integer(Int64.self)) }
    if type == UInt64.self { return known(integer(UInt64.self)) }
    if type == Date.self { return known(date) }
    if type == Data.self { return known(data) }
    if type == Float.self { return known(number(Float.self)) }
    if type == Int32.self { return known(integer(Int32.self)) }
    if type == UInt.self { return known(integer(UInt.self)) }
    if type == UInt32.self { return known(integer(UInt32.self)) }
    return nil
  }

  /// The value as what the caller has found it to be.
  private func known<Same, Value>(_ value: Same?) -> Value? { value.map { unsafeBitCast($0, to: Value.self) } }

  /// Digits, with or without a minus, and nothing else. Other spellings of an integer (`3.0`) are the decoder's.
  private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    withBytes { bytes in
      var digits = bytes[...]
      let isNegative = digits.first == UInt8(ascii: "-")
      if isNegative { digits = digits.dropFirst() }
      guard !digits.isEmpty else { return nil }
      var value: Integer = 0
      for byte in digits {
        let digit = byte &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, sumOverflow) =
          isNegative
          ? product.subtractingReportingOverflow(Integer(digit)) : product.addingReportingOverflow(Integer(digit))
        guard !productOverflow, !sumOverflow else { return nil }
        value = sum
      }
      return value
    }
  }

  private var boolean: Bool? {
    switch string {
    case "true": true
    case "false": false
    default: nil
    }
  }

  private func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Number.Type) -> Number? {
    switch plainString {
    case Spelling.infinity?: .infinity
    case Spelling.negativeInfinity?: -.infinity
    case Spelling.nan?: .nan
    case .some: nil
    case nil: Number(string)
    }
  }

  private var date: Date? { number(Double.self).map(Date.init(timeIntervalSinceReferenceDate:)) }

  private var data: Data? { plainString.flatMap { Data(base64Encoded: $0) } }

  private var plainString: String? {
    withBytes { bytes in
      guard bytes.count >= 2, bytes.first == UInt8(ascii: "\"") else { return nil }
      let content = UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1])
      return JSONString.decode(content, hasEscapes: content.contains(UInt8(ascii: "\\")))
    }
  }
}
