#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import PreferenceStorage

extension PreferenceStoreSuite {
  static let valueChecks = [
    Check("keeps Booleans and integers exactly") { trial in
      try trial.expectKept(true, false)
      try trial.expectKept(Int.min, -1, 0, 1, Int.max)
      try trial.expectKept(Int8.min, Int8.max)
      try trial.expectKept(Int16.min, Int16.max)
      try trial.expectKept(Int32.min, Int32.max)
      try trial.expectKept(Int64.min, Int64.max)
      try trial.expectKept(UInt8.max)
      try trial.expectKept(UInt16.max)
      try trial.expectKept(UInt32.max)
      try trial.expectKept(UInt64.max)
    },
    Check("keeps floating-point numbers to the last bit") { trial in
      try trial.expectKept(0.1 + 0.2, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .ulpOfOne)
      try trial.expectKept(Double.infinity, -.infinity)
      try trial.expectKept(Float(0.1), .leastNonzeroMagnitude, .greatestFiniteMagnitude, -.infinity)
      trial.expect(try trial.kept(-0.0)?.sign, is: .minus, "The sign of -0.0:")
      trial.expect(try trial.kept(Double.nan)?.isNaN, is: true, "Whether NaN is NaN:")
      trial.expect(try trial.kept([Float.nan])?.first?.isNaN, is: true, "Whether NaN in an array is NaN:")
    },
    Check("keeps strings byte for byte") { trial in
      let strings = [
        "", "two words", "nul\u{0}and\u{1f}", "\n\r\t\"\\/", "👩‍👩‍👧 \u{2028}\u{feff}", "\u{10ffff}", "e\u{301}", "\u{e9}",
      ]
      try trial.expectKept(strings)
      for string in strings {
        let bytes = try trial.kept(string).map { Array($0.utf8) }
        trial.expect(bytes, is: Array(string.utf8), "\(string.debugDescription):")
      }
    },
    Check("keeps dates and data exactly") { trial in
      try trial.expectKept(
        Date(timeIntervalSinceReferenceDate: 0.123_456_789), .distantPast, Date(timeIntervalSince1970: 1e-9))
      try trial.expectKept(Data(), Data([0, 10, 255]), Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) }))
    },
    Check("keeps values within values") { trial in
      try trial.expectKept(Sample.full, Sample())
      try trial.expectKept(["a": [Sample.full], "b": []])
      try trial.expectKept([[[1], []], []])
    },
    Check("keeps nil by removing the key") { trial in
      try trial.expectKept(Int?.some(7))
      trial.expect(try trial.kept(Int?.none) ?? nil, is: nil, "Nil:")
      trial.expect(trial.store.keys, is: [], "The keys after nil was set:")
      trial.expect(try trial.store.value(Sample.self, forKey: "absent"), is: nil, "What was never set:")
    },
    Check("throws a type mismatch, and keeps the value") { trial in
      try trial.store.set("seven", forKey: "volume")
      trial.expect(.typeMismatch, "When a string was read as an Int") {
        _ = try trial.store.value(Int.self, forKey: "volume")
      }
      trial.expect(.typeMismatch, "When a string was read as an Int in a transaction") {
        try trial.store.transaction { _ = try $0.value(Int.self, forKey: "volume") }
      }
      trial.expect(try trial.store.value(String.self, forKey: "volume"), is: "seven", "The value after it:")
    },
    Check("refuses what can't be encoded, and keeps the value") { trial in
      try trial.store.set(1, forKey: "a")
      trial.expect(.invalidValue, "When a value refused to be encoded") {
        try trial.store.set(Stubborn(), forKey: "a")
      }
      trial.expect(try trial.store.value(Int.self, forKey: "a"), is: 1, "The value after it:")
    },
    Check("lets an overwritten value go, whatever its type") { trial in
      try trial.store.set("seven", forKey: "a")
      try trial.store.set(Sample.full, forKey: "a")
      try trial.store.set(7, forKey: "a")
      trial.expect(try trial.store.value(Int.self, forKey: "a"), is: 7, "The last value set:")
      trial.expect(trial.store.keys, is: ["a"], "The keys:")
    },
  ]

  /// A value with values of several types in it.
  struct Sample: Codable, Equatable, Sendable {
    var name = ""
    var sizes: [Double] = []
    var created: Date?
    var parts: [String: [Int?]] = [:]

    static let full = Sample(
      name: "\"é\u{0}👩‍👩‍👧", sizes: [0.1, .infinity, 1e-300], created: Date(timeIntervalSince1970: 0.25),
      parts: ["": [nil, .max], "b": []])
  }

  private struct Stubborn: Codable {
    struct Refusal: Error {}
    init() {}
    init(from decoder: any Decoder) throws { throw Refusal() }
    func encode(to encoder: any Encoder) throws { throw Refusal() }
  }
}

extension StoreTrial {
  /// Sets the value and reads it back.
  fileprivate func kept<Value: Codable>(_ value: Value) throws -> Value? {
    try store.set(value, forKey: "value")
    return try store.value(Value.self, forKey: "value")
  }

  fileprivate func expectKept<Value: Codable & Equatable>(_ values: Value...) throws {
    for value in values {
      expect(try kept(value), is: value, "The \(Value.self):")
      expect(try kept([value]), is: [value], "The \(Value.self) in an array:")
    }
  }
}
