/// The JSON text of one value, byte for byte as it is in the file.
///
/// Texts of up to 15 bytes, which most preferences have, need no allocation.
struct JSONText: Sendable {
  var string: String

  init(_ string: String) { self.string = string }

  static let null = JSONText("null")
  var isNull: Bool { self == .null }
}

extension JSONText: Equatable {
  /// Equal byte for byte; two spellings of `é` are equal strings and different texts.
  static func == (one: JSONText, other: JSONText) -> Bool {
    let count = one.string.utf8.count
    guard count == other.string.utf8.count else { return false }
    return one.withBytes { these in
      other.withBytes { those in
        guard let these = these.baseAddress, let those = those.baseAddress else { return true }
        return compareBytes(these, those, count)
      }
    }
  }

  /// The bytes, in place where the string has them in a row, which it has unless it came from Objective-C.
  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = string.utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = string
    return copy.withUTF8(body)
  }
}

private func compareBytes(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
  for index in 0..<count where one[index] != other[index] { return false }
  return true
}
