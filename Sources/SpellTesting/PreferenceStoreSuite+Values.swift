internal import PreferenceStorage

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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
      try trial.store.set("seven", forKey: "a")
      trial.expect(.typeMismatch, "When a string was read as Int") { _ = try trial.store.value(Int.self, forKey: "a") }
      trial.expect(.typeMismatch, "When a string was read as an Int in a transaction") {
        try trial.store.transaction { _ = try $0.value(Int.self, forKey: "a") }
      }
      trial.expect(try trial.store.value(String.self, forKey: "a"), is: "seven", "The value after it:")
    },
    Check("refuses what can't be encoded, and keeps the value") { trial in
      try trial.store.set(1, forKey: "a")
      trial.expect(.invalidValue, "When a value refused to be encoded") { try trial.store.set(Stubborn(), forKey: "a") }
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

  /// A structured value with members of several types.
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
  /// Writes a value to the store with the key `value`, and returns what the store then reads with the same key.
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

// MARK: Keys

extension PreferenceStoreSuite {
  static let keyChecks = [
    Check("sorts keys by first writing") { trial in
      for key in ["c", "a", "b"] { try trial.store.set(1, forKey: key) }
      try trial.store.set(2, forKey: "c")
      trial.expect(trial.store.keys, is: ["c", "a", "b"], "The keys:")
      try trial.store.removeValue(forKey: "c")
      try trial.store.set(3, forKey: "c")
      trial.expect(trial.store.keys, is: ["a", "b", "c"], "The keys after the first was removed and set again:")
    },
    Check("takes any key of 1 to 65,536 bytes") { trial in
      let keys = [
        "two words", "a\nb", "nul\u{0}", "\"\\", "👩‍👩‍👧", "\u{1}\u{7f}\u{2028}", "A", "a",
        String(repeating: "k", count: 65_536),
      ]
      for (number, key) in keys.enumerated() { try trial.store.set(number, forKey: key) }
      for (number, key) in keys.enumerated() {
        let value = try trial.store.value(Int.self, forKey: key)
        trial.expect(value, is: number, "The value of \(key.prefix(20).debugDescription):")
      }
      trial.expect(trial.store.keys == keys, else: "The keys were not those that were set.")
    },
    Check("refuses an empty key and one that is too long") { trial in
      for key in ["", String(repeating: "k", count: 65_537)] {
        let shown = "a key of \(key.utf8.count) bytes"
        trial.expect(.invalidKey, "When \(shown) was set") { try trial.store.set(1, forKey: key) }
        trial.expect(.invalidKey, "When \(shown) was read") { _ = try trial.store.value(Int.self, forKey: key) }
        trial.expect(.invalidKey, "When \(shown) was set in a transaction") {
          try trial.store.transaction { try $0.set(1, forKey: key) }
        }
      }
      trial.expect(trial.store.keys, is: [], "The keys:")
    },
    Check("removes the value of one key") { trial in
      for key in ["a", "b"] { try trial.store.set(1, forKey: key) }
      try trial.store.removeValue(forKey: "a")
      try trial.store.removeValue(forKey: "absent")
      trial.expect(trial.store.keys, is: ["b"], "The keys after one was removed:")
      trial.expect(try trial.store.value(Int.self, forKey: "a"), is: nil, "The removed value:")
    },
    Check("removes all values") { trial in
      for key in ["a", "b", "c"] { try trial.store.set(1, forKey: key) }
      try trial.store.removeAll()
      trial.expect(trial.store.keys, is: [], "The keys after all were removed:")
      try trial.store.set(2, forKey: "b")
      trial.expect(try trial.store.value(Int.self, forKey: "b"), is: 2, "What was set after that:")
    },
    Check("has everything after it was reloaded and synchronized") { trial in
      for key in ["b", "a"] { try trial.store.set(key, forKey: key) }
      try trial.store.synchronize()
      try trial.store.reload()
      trial.expect(trial.store.keys, is: ["b", "a"], "The keys:")
      trial.expect(try trial.store.value(String.self, forKey: "a"), is: "a", "A value:")
    },
  ]

  static let reopeningChecks = [
    Check("has its values when it is opened again") { trial in
      try trial.store.set(Sample.full, forKey: "b")
      try trial.store.set(Int.min, forKey: "a\u{0}\n")
      try trial.store.set("set", forKey: "c")
      try trial.store.set("set again", forKey: "c")
      let store = try await trial.reopened()
      trial.expect(store.keys, is: ["b", "a\u{0}\n", "c"], "The keys:")
      trial.expect(try store.value(Sample.self, forKey: "b"), is: Sample.full, "The first value:")
      trial.expect(try store.value(Int.self, forKey: "a\u{0}\n"), is: Int.min, "The second value:")
      trial.expect(try store.value(String.self, forKey: "c"), is: "set again", "The third value:")
    },
    Check("has what its transactions changed when it is opened again, and nothing of one that failed") { trial in
      for key in ["a", "b"] { try trial.store.set(1, forKey: key) }
      try trial.store.transaction { changes in
        changes.removeValue(forKey: "a")
        try changes.set(2, forKey: "b")
        try changes.set(2, forKey: "c")
      }
      trial.expectRollback {
        try $0.set(3, forKey: "b")
        try $0.set(3, forKey: "d")
      }
      let store = try await trial.reopened()
      trial.expect(store.keys, is: ["b", "c"], "The keys:")
      for key in ["b", "c"] { trial.expect(try store.value(Int.self, forKey: key), is: 2, "The value of \(key):") }
    },
    Check("has nothing when it is opened again after all was removed") { trial in
      for key in ["a", "b"] { try trial.store.set(1, forKey: key) }
      try trial.store.removeAll()
      trial.expect(try await trial.reopened().keys, is: [], "The keys:")
    },
  ]
}
