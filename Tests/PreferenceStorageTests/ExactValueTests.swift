import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("Values") struct ExactValueTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Sets the value in both stores, and reads it back from both and from the reopened file.
  func roundTrip<Value: Codable>(_ value: Value) throws -> [Value] {
    let memory = MemoryPreferenceStore()
    try memory.set(value, forKey: "value")
    let file = folder.file(UUID().uuidString)
    let store = try FilePreferenceStore(url: file)
    try store.set(value, forKey: "value")
    let reopened = try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
    let stores: [any PreferenceStore] = [memory, store, reopened]
    return try stores.map { store in try #require(try store.value(Value.self, forKey: "value")) }
  }

  func expectSame<Value: Codable & Equatable>(_ values: Value...) throws {
    for value in values {
      #expect(try roundTrip(value).allSatisfy { $0 == value })
      #expect(try roundTrip([value]).allSatisfy { $0 == [value] })
      #expect(try roundTrip(["key": value]).allSatisfy { $0 == ["key": value] })
      #expect(try roundTrip(Optional(value)).allSatisfy { $0 == value })
    }
  }

  @Test("every integer type is kept exactly")
  func integers() throws {
    try expectSame(Int.min, -1, 0, 7, Int.max)
    try expectSame(Int8.min, Int8.max)
    try expectSame(Int16.min, Int16.max)
    try expectSame(Int32.min, Int32.max)
    try expectSame(Int64.min, Int64.max)
    try expectSame(UInt.min, UInt.max)
    try expectSame(UInt8.max)
    try expectSame(UInt16.max)
    try expectSame(UInt32.max)
    try expectSame(UInt64.max)
    try expectSame(true, false)
  }

  @Test("every floating-point number is kept to the last bit")
  func floatingPoint() throws {
    try expectSame(
      0.1 + 0.2, 1.0, -0.0, 1e16, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .ulpOfOne,
      Double.infinity, -.infinity)
    try expectSame(Float(0.1), 16_777_216, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity)
    #expect(try roundTrip(-0.0).allSatisfy { $0.sign == .minus })
    #expect(try roundTrip(Double.nan).allSatisfy(\.isNaN))
    #expect(try roundTrip([Float.nan]).allSatisfy { $0[0].isNaN })
  }

  @Test("a value that is encoded as a stored nil is isn't read as nil")
  func likeStoredNil() throws {
    for key in ["#nil", "##nil", "###nil", "nil", "#", "#nil#"] {
      let value: [String: Int?] = [key: nil]
      #expect(try roundTrip(value).allSatisfy { $0 == value })
      #expect(try roundTrip(Optional(value)).allSatisfy { $0 == value })
      #expect(try roundTrip([value]).allSatisfy { $0 == [value] })
    }
    let store = MemoryPreferenceStore()
    let key = PreferenceKey<[String: Int?]?>("x", default: ["a": 1])
    try store.set(nil, for: key)
    #expect(try store.value(for: key) == nil)
    try store.set(["#nil": nil], for: key)
    #expect(try store.value(for: key) == ["#nil": nil])
  }

  @Test(
    "a whole number is read as a date, as JSON tools write whole seconds", arguments: ["757382400", "-3", "7573824e2"])
  func wholeNumberAsDate(number: String) throws {
    struct Visit: Codable, Equatable { let days: [Date], last: Date? }
    let store = MemoryPreferenceStore()
    try store.transaction { changes in
      try changes.set(json: number, forKey: "day")
      try changes.set(json: "{\"days\":[\(number)],\"last\":\(number)}", forKey: "visit")
    }
    let day = Date(timeIntervalSinceReferenceDate: try #require(Double(number)))
    #expect(try store.value(Date.self, forKey: "day") == day)
    #expect(try store.value(Date?.self, forKey: "day") == day)
    #expect(try store.value(Visit.self, forKey: "visit") == Visit(days: [day], last: day))
    let overriding = OverridingPreferenceStore(.arguments(["program", "-day", number]), over: MemoryPreferenceStore())
    #expect(try overriding.value(Date.self, forKey: "day") == day)
  }

  @Test("strings are kept byte for byte")
  func strings() throws {
    try expectSame("", "naïve \"quoted\"\n\r\t\u{0}\u{1f}\\/", "👩‍👩‍👧 \u{2028}\u{feff}", "\u{10ffff}")
    for string in ["e\u{301}", "\u{e9}"] {
      #expect(try roundTrip(string).allSatisfy { Array($0.utf8) == Array(string.utf8) })
    }
  }

  @Test("a string is no number and no Boolean, however it reads, and its text stays as it was written")
  func stringsThatReadAsOther() throws {
    for text in ["true", "false", "12", "-1", "1.5", "null", "[]", "{}", "", "\"", "\"\"", "\\", "a\"b", "\"quoted\""] {
      for store in [MemoryPreferenceStore(), try FilePreferenceStore(url: folder.file())] as [any PreferenceStore] {
        try store.set(text, forKey: "value")
        #expect(try store.value(String.self, forKey: "value") == text)
        #expect(throws: PreferenceError.self) { try store.value(Bool.self, forKey: "value") }
        #expect(throws: PreferenceError.self) { try store.value(Int.self, forKey: "value") }
        #expect(throws: PreferenceError.self) { try store.value(Int8.self, forKey: "value") }
        #expect(throws: PreferenceError.self) { try store.value(Double.self, forKey: "value") }
        #expect(throws: PreferenceError.self) { try store.value([String].self, forKey: "value") }
        #expect(try store.value(String?.self, forKey: "value") == text)
      }
    }
    for json in [
      #""""#, #""plain""#, #""\u00e9""#, #""\/""#, #""\"""#, #""\\""#, "\"é\u{7f}\"", "12", "-0", "true", #"["a"]"#,
    ] {
      let store = try FilePreferenceStore(url: folder.file())
      try store.transaction { try $0.set(json: json, forKey: "value") }
      #expect(try store.json(forKey: "value") == json)
      let reopened = try FilePreferenceStore(path: FilePath(folder.file().path), system: FileSystem())
      #expect(try reopened.json(forKey: "value") == json)
      #expect(reopened.json() == "{\n  \"value\": \(json)\n}\n")
      try store.removeAll()
    }
  }

  @Test("integers at the bounds of each type are read as it, and no others")
  func bounds() throws {
    func check<Integer: FixedWidthInteger & Codable>(_ type: Integer.Type) throws {
      let store = MemoryPreferenceStore()
      func read(_ json: String) throws -> Integer? {
        try store.transaction { try $0.set(json: json, forKey: "value") }
        return try? store.value(type, forKey: "value")
      }
      #expect(try read("\(Integer.max)") == .max && read("\(Integer.min)") == .min)
      #expect(try read("\(Integer.max)0") == nil && read("-\(Integer.max)0") == nil)
      for digits in ["0", "-0", "99", "123456789", "999999999", "1234567890"] {
        #expect(try read(digits) == Integer(digits), "\(digits) as \(type)")
      }
    }
    try check(Int.self)
    try check(UInt.self)
    try check(Int64.self)
    try check(UInt64.self)
    try check(Int32.self)
    try check(UInt32.self)
    try check(Int16.self)
    try check(UInt16.self)
    try check(Int8.self)
    try check(UInt8.self)
  }

  @Test("another spelling of an equal string is another value")
  func spellings() throws {
    let store = MemoryPreferenceStore()
    try store.set("e\u{301}", forKey: "a")
    try store.set("\u{e9}", forKey: "a")
    #expect(try store.value(String.self, forKey: "a")?.utf8.count == 2)
  }

  @Test("dates and data are kept exactly")
  func datesAndData() throws {
    try expectSame(
      Date(timeIntervalSinceReferenceDate: 0.123_456_789), Date(timeIntervalSinceReferenceDate: 7), .distantPast,
      .distantFuture,
      Date(timeIntervalSince1970: 1e-9))
    try expectSame(Data(), Data([0, 255, 10]), Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) }))
    try expectSame(try #require(URL(string: "https://swift.org/a?b=c")))
    try expectSame(UUID())
    try expectSame(Decimal(string: "0.1"))
  }

  @Test("raw values and structures are kept")
  func structures() throws {
    enum Language: String, Codable { case english, dutch }
    enum Level: Int, Codable { case low = 1, high }
    try expectSame(Language.dutch)
    try expectSame(Level.high)
    try expectSame(Theme(name: "dark", sizes: [1, 2]))
  }

  @Test("a number is read as any type that can hold it, and no other")
  func conversions() throws {
    let store = MemoryPreferenceStore()
    try store.set(300, forKey: "a")
    #expect(try store.value(Double.self, forKey: "a") == 300)
    #expect(try store.value(UInt16.self, forKey: "a") == 300)
    #expect(throws: PreferenceError.self) { try store.value(Int8.self, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.value(Bool.self, forKey: "a") }
    #expect(throws: PreferenceError.self) { try store.value(String.self, forKey: "a") }
    let source = folder.file("large.json")
    try source.overwrite("{\"large\":1e400}")
    try store.import(from: source)
    #expect(throws: PreferenceError.self) { try store.value(Double.self, forKey: "large") }
    try store.set(3.0, forKey: "b")
    #expect(try store.value(Int.self, forKey: "b") == 3)
    try store.set(3.5, forKey: "b")
    #expect(throws: PreferenceError.self) { try store.value(Int.self, forKey: "b") }
  }

  @Test("a string without its closing quote, which a custom store can return, isn't read", arguments: ["\"", "\"a"])
  func unclosedString(text: String) {
    #expect(JSONText(text).characters == nil)
  }

  @Test("a value of megabytes is kept")
  func largeValue() throws {
    let count = repetitions(debug: 1_000_000, release: 10_000_000)
    let large = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    #expect(try roundTrip(large).allSatisfy { $0 == large })
  }
}
