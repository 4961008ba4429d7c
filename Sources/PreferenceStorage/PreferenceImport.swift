#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The keys that an import has taken over, and those that it has passed over.
public struct PreferenceImport: Sendable {
  /// The keys that were taken over, in the file's order, and those that had `null` and were removed.
  public internal(set) var keys: [String] = []
  /// The errors of the invalid keys that were skipped, if the import skips them.
  public internal(set) var errors: [PreferenceError] = []
  /// The number of keys that were taken over.
  public var count: Int { keys.count }
}

extension PreferenceStore {
  /// Takes over the values of a file with a JSON object or a property list, in one transaction.
  ///
  /// Keys that the file doesn't have keep their values; a JSON `null` removes its key. Numbers are taken over as they
  /// are spelled. Of a property list, dates and data become what `Date` and `Data` are kept as.
  ///
  /// - Parameters:
  ///   - url: The file's URL.
  ///   - keys: The keys to take over; all of them if it is nil.
  ///   - skipsInvalid: Whether a key or value that can't be kept is passed over and listed in the result.
  /// - Returns: The keys that were taken over.
  /// - Throws: `.unreadable` if the file can't be read or is neither. `.invalidKey` or `.invalidValue`, unless invalid ones are
  ///   skipped. What a transaction throws. Nothing is changed then.
  @discardableResult
  public func `import`(
    from url: URL, keys: Set<String>? = nil, skippingInvalid skipsInvalid: Bool = false
  ) throws -> PreferenceImport {
    let values = try ImportedValues(at: url)
    return try transaction { try $0.stage(values, keys: keys, skippingInvalid: skipsInvalid) }
  }

  /// Puts the values of a file with a JSON object or a property list in the place of all that the store has, in one
  /// transaction: the exact restoration of an export.
  ///
  /// - Throws: What ``import(from:keys:skippingInvalid:)`` throws. Nothing is changed then.
  @discardableResult
  public func `import`(replacing url: URL) throws -> PreferenceImport {
    let values = try ImportedValues(at: url)
    return try transaction { transaction in
      transaction.removeAll()
      return try transaction.stage(values, keys: nil, skippingInvalid: false)
    }
  }

  /// Takes over the values of a file's bytes.
  package func importValues(_ bytes: [UInt8], from name: String) throws -> PreferenceImport {
    let values = try ImportedValues(bytes, path: name)
    return try transaction { transaction in try transaction.stage(values, keys: nil, skippingInvalid: false) }
  }
}

extension PreferenceTransaction {
  /// Takes over the values of a file as the store's ``PreferenceStore/import(from:keys:skippingInvalid:)`` does.
  ///
  /// ```swift
  /// try store.migrate(to: 1) { _, changes in
  ///   try changes.import(from: oldFile, keys: ["volume", "theme"], skippingInvalid: true)
  /// }
  /// ```
  ///
  /// - Throws: `.unreadable`, `.invalidKey` or `.invalidValue`. The transaction is as it was then.
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
        // A file edited by hand can have an empty key, and then an export has it too.
        if !change.key.isEmpty { try ValueTable.check(change.key) }
        changes.append(change)
      } catch {
        if let keys, let key = error.key, !keys.contains(key) { continue }
        guard skippingInvalid else { throw error }
        result.errors.append(error)
      }
    }
    for change in changes {
      stage(change.text, forKey: change.key)
      result.keys.append(change.key)
    }
    return result
  }
}

/// The values in a file of another format.
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
      try PropertyListCheck.check(text)
      let list = try PropertyListDecoder().decode([String: ImportedValue].self, from: Data(text))
      changes = list.sorted { $0.key < $1.key }.map { key, value in value.change(forKey: key, path: path) }
    } catch {
      throw PreferenceError(
        .unreadable, "is neither a JSON object nor a property list with a dictionary; nothing was imported",
        path: path, underlying: error)
    }
  }
}

/// A value of a property list as JSON, or why it can't be kept.
private struct ImportedValue: Decodable {
  let text: Result<JSONText, any Error>

  init(from decoder: any Decoder) throws { text = Result { try ImportedValue.text(from: decoder) } }

  private static func text(from decoder: any Decoder) throws -> JSONText {
    let container = try decoder.singleValueContainer()
    // Only trying shows which of them it is; a wrong guess isn't a failure.
    let types: [any Codable.Type] = [
      Bool.self, Int64.self, UInt64.self, Double.self, String.self, Date.self, Data.self,
    ]
    for type in types { if let value = try? container.decode(type) { return try JSONText(encoding: value) } }
    if let values = try? container.decode([ImportedValue].self) {
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
