#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import Synchronization

/// The result of an import: the imported keys, and the errors of the keys that were skipped.
public struct PreferenceImport: Sendable {
  /// The imported keys, each once, including those that a JSON `null` removed.
  ///
  /// The keys of a JSON object are in the order of the file. The keys of a property list are sorted.
  public internal(set) var keys: [String] = []
  /// The errors of the skipped keys and values; empty unless the import was told to skip invalid keys and values.
  public internal(set) var errors: [PreferenceError] = []
  /// The number of imported keys.
  public var count: Int { keys.count }
}

extension PreferenceStore {
  /// Imports the values from a file that contains a JSON object or a property list, in one transaction.
  ///
  /// Keys that aren't in the file keep their values. A JSON `null` removes its key. JSON numbers are stored digit for
  /// digit. Dates and data of a property list can be read as `Date` and `Data`. An empty key is imported as well:
  /// a person can add such a key to a store's file, and an export of that file contains the key.
  ///
  /// A property list is refused if it is nested more than 511 levels deep, for instance because it contains itself, or if
  /// its values are very much larger than the file.
  ///
  /// - Parameters:
  ///   - url: The file's URL.
  ///   - keys: The keys to import; nil for all keys.
  ///   - skipsInvalid: Whether to skip keys and values that can't be stored, and to list their errors in the result.
  /// - Returns: The imported keys, and the errors of the keys that were skipped.
  /// - Throws: `.unreadable` if the file can't be read or has neither format; `.invalidKey` or `.invalidValue`, unless
  ///   invalid keys and values are skipped; or an error of the transaction. After an error, nothing is changed, unless
  ///   only synchronizing the store failed.
  @discardableResult
  public func `import`(
    from url: URL, keys: Set<String>? = nil, skippingInvalid skipsInvalid: Bool = false
  ) throws -> PreferenceImport {
    let values = try ImportedValues(at: url)
    return try transaction { try $0.stage(values, keys: keys, skippingInvalid: skipsInvalid) }
  }

  /// Replaces all values of the store with the values from a JSON or property-list file, in one transaction.
  ///
  /// Unlike ``import(from:keys:skippingInvalid:)``, this method also removes the keys that aren't in the file.
  ///
  /// - Throws: The errors of ``import(from:keys:skippingInvalid:)``.
  @discardableResult
  public func `import`(replacing url: URL) throws -> PreferenceImport {
    let values = try ImportedValues(at: url)
    return try transaction { transaction in
      transaction.removeAll()
      return try transaction.stage(values, keys: nil, skippingInvalid: false)
    }
  }

  /// Imports the values from the bytes of a JSON or property-list file, in one transaction.
  ///
  /// If `replacing` is true, keys that aren't in the file are removed. Error messages contain `name` in place of the
  /// file's path.
  package func importValues(
    _ bytes: [UInt8], from name: String, replacing: Bool = false
  ) throws -> PreferenceImport {
    let values = try ImportedValues(bytes, path: name)
    return try transaction { transaction in
      if replacing { transaction.removeAll() }
      return try transaction.stage(values, keys: nil, skippingInvalid: false)
    }
  }
}

extension PreferenceTransaction {
  /// Imports the values from a file that contains a JSON object or a property list.
  ///
  /// See ``PreferenceStore/import(from:keys:skippingInvalid:)`` for the parameters and the result.
  ///
  /// ```swift
  /// try store.migrate(to: 1) { _, changes in
  ///   try changes.import(from: oldFile, keys: ["volume", "theme"], skippingInvalid: true)
  /// }
  /// ```
  ///
  /// - Throws: `.unreadable`, `.invalidKey` or `.invalidValue`. After an error, the transaction is unchanged.
  @discardableResult
  public mutating func `import`(
    from url: URL, keys: Set<String>? = nil, skippingInvalid skipsInvalid: Bool = false
  ) throws -> PreferenceImport {
    try stage(try ImportedValues(at: url), keys: keys, skippingInvalid: skipsInvalid)
  }

  fileprivate mutating func stage(
    _ values: ImportedValues, keys: Set<String>?, skippingInvalid: Bool
  ) throws(PreferenceError) -> PreferenceImport {
    var result = PreferenceImport()
    var changes: [PreferenceChange] = []
    for value in values.changes {
      do throws(PreferenceError) {
        let change = try value.get()
        if let keys, !keys.contains(change.key) { continue }
        // A person can add an empty key to a store's file, and an export of that file must be importable.
        if !change.key.isEmpty { try ValueTable.check(change.key) }
        changes.append(change)
      } catch {
        if let keys, let key = error.key, !keys.contains(key) { continue }
        guard skippingInvalid else { throw error }
        result.errors.append(error)
      }
    }
    for change in changes { stage(change.text, forKey: change.key) }
    // If a JSON object has several values for a key, the last value is imported, and the key is listed once.
    var known: Set<String> = []
    result.keys = changes.map(\.key).filter { known.insert($0).inserted }
    return result
  }
}

/// The values to import from a JSON object or a property list.
private struct ImportedValues {
  let changes: [Result<PreferenceChange, PreferenceError>]

  init(at url: URL) throws(PreferenceError) {
    let path = try FilePath(url)
    try self.init(try path.contents(), path: path.description)
  }

  init(_ bytes: [UInt8], path: String) throws(PreferenceError) {
    // Some editors put a byte-order mark before the text.
    let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
    if let changes = text.withUnsafeBufferPointer(JSONText.members) {
      self.changes = changes.map { .success($0) }
      return
    }
    do {
      // Foundation would read a blank file as an empty dictionary, in the old text format of property lists.
      let isXML = text.first { $0 > 0x20 } == UInt8(ascii: "<")
      guard isXML || text.starts(with: "bplist".utf8) else { throw CocoaError(.propertyListReadCorrupt) }
      if isXML, !ImportLimit.allowsXML(text[...]) { throw ImportLimit.Excess() }
      let decoder = PropertyListDecoder()
      decoder.userInfo[ImportLimit.key] = ImportLimit(forFileOfLength: text.count)
      let list = try decoder.decode([String: ImportedValue].self, from: Data(text))
      changes = list.sorted { $0.key < $1.key }.map { key, value in value.change(forKey: key, path: path) }
    } catch is ImportLimit.Excess {
      throw PreferenceError(
        .unreadable,
        "is nested more than 511 levels deep, has a document type of its own, or has values that are many times as large as"
          + " the file; nothing was imported", path: path)
    } catch {
      throw PreferenceError(
        .unreadable, "is neither a JSON object nor a property list with a dictionary; nothing was imported",
        path: path, underlying: error)
    }
  }
}

/// A limit on the depth and the size of a property list, so that it can't overflow the stack or exhaust the memory.
///
/// A binary property list can contain itself, or refer to one value so often that a few bytes expand to gigabytes.
private final class ImportLimit: Sendable {
  struct Excess: Error {}

  static let key = CodingUserInfoKey(rawValue: "limit")!
  /// The largest number of arrays and dictionaries in one another, within the dictionary that is the list itself.
  private static let maximumDepth = 511
  /// The number of bytes that further values may have.
  private let rest: Atomic<Int>
  /// The number of arrays and dictionaries around the value that is being decoded.
  private let depth = Atomic(0)

  init(forFileOfLength length: Int) { rest = Atomic(64 * length + 1 << 20) }

  /// Counts a value with so many bytes of its own; throws if the values exceed the limit.
  ///
  /// The square of the depth counts too, because Foundation's decoder takes that much time.
  func count(bytes: Int) throws(Excess) {
    let depth = depth.load(ordering: .relaxed)
    let cost = 64 + bytes + depth * depth / 64
    if rest.subtract(cost, ordering: .relaxed).newValue < 0 { throw Excess() }
  }

  /// Runs `body`, which decodes an array or a dictionary; throws if it is nested too deeply.
  func nesting<Result>(_ body: () throws -> Result) throws -> Result {
    let depth = depth.add(1, ordering: .relaxed).newValue
    defer { self.depth.subtract(1, ordering: .relaxed) }
    if depth > ImportLimit.maximumDepth { throw Excess() }
    return try body()
  }

  /// Returns whether the elements of an XML text aren't nested too deeply for Foundation's recursion.
  ///
  /// Tags within a comment, a CDATA section, a declaration or a processing instruction don't count.
  static func allowsXML(_ text: ArraySlice<UInt8>) -> Bool {
    let passages = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!DOCTYPE", ">")]
    var (depth, rest) = (0, text)
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[start...]
      let passage = passages.first { rest.starts(with: $0.0.utf8) }
      let last = (passage?.1 ?? ">").utf8
      guard let end = rest.indices.first(where: { rest[$0...].starts(with: last) }) else { return true }
      if passage == nil {
        let isClosing = rest.starts(with: "</".utf8)
        let isEmpty = rest[end - 1] == UInt8(ascii: "/")
        depth = isClosing ? max(0, depth - 1) : isEmpty ? depth : depth + 1
        // The other three elements are `plist`, the list itself, and a value such as a string.
        if depth > maximumDepth + 3 { return false }
      } else if passage?.0 == "<!DOCTYPE", rest[..<end].contains(UInt8(ascii: "[")) {
        // A definition in the document type could hide the beginning of a comment.
        return false
      }
      rest = rest[(end + last.count)...]
    }
    return true
  }
}

/// A property-list value as JSON text, or the error that says why the value can't be stored.
private struct ImportedValue: Decodable {
  let text: Result<JSONText, any Error>

  init(from decoder: any Decoder) throws {
    let limit = decoder.userInfo[ImportLimit.key] as! ImportLimit
    do { text = .success(try ImportedValue.text(from: decoder, limit)) } catch {
      if error is ImportLimit.Excess { throw error }
      text = .failure(error)
    }
  }

  private static func text(from decoder: any Decoder, _ limit: ImportLimit) throws -> JSONText {
    let container = try decoder.singleValueContainer()
    // The decoder doesn't reveal the type of a value, so each type is tried. A failed attempt isn't an error.
    let types: [any Codable.Type] =
      [Bool.self, Int64.self, UInt64.self, Double.self, String.self, Date.self, Data.self]
    for type in types {
      guard let value = try? container.decode(type) else { continue }
      // The real number -0.0 can be decoded as the integer 0, which would lose the sign.
      let real = value as? Int64 == 0 ? try? container.decode(Double.self) : nil
      let text = try real?.sign == .minus ? JSONText(encoding: real) : JSONText(encoding: value)
      try limit.count(bytes: text.string.utf8.count)
      return text
    }
    try limit.count(bytes: 0)
    return try limit.nesting { try containerText(from: container) }
  }

  private static func containerText(from container: any SingleValueDecodingContainer) throws -> JSONText {
    var values: [ImportedValue]?
    do { values = try container.decode([ImportedValue].self) } catch {
      if error is ImportLimit.Excess { throw error }
    }
    if let values {
      return JSONText("[" + (try values.map { try $0.text.get().string }).joined(separator: ",") + "]")
    }
    let members = try container.decode([String: ImportedValue].self).sorted { $0.key < $1.key }
    let texts = try members.map { try JSONText(string: $0.key).string + ":" + $0.value.text.get().string }
    return JSONText("{" + texts.joined(separator: ",") + "}")
  }

  func change(forKey key: String, path: String) -> Result<PreferenceChange, PreferenceError> {
    text.map { PreferenceChange(key: key, text: $0) }.mapError {
      PreferenceError(.invalidValue, "the value is of a kind that can't be kept", key: key, path: path, underlying: $0)
    }
  }
}
