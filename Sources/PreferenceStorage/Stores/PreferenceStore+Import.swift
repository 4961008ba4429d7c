#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PreferenceStore {
  /// Takes over the values of a file with a JSON object, or of a property list, in one transaction.
  ///
  /// Keys that the file doesn't have keep their values; a JSON `null` removes its key. Numbers are taken over as they
  /// are spelled. Of a property list, dates and data become what `Date` and `Data` are kept as.
  ///
  /// - Returns: how many keys the file has.
  /// - Throws: `.unreadable` where the file can't be read or is neither; nothing is changed then. What a transaction
  ///   throws.
  @discardableResult
  public func `import`(from url: URL) throws -> Int {
    guard url.isFileURL, let path = FilePath(url) else {
      throw PreferenceError(.unreadable, "is not a file's URL; make one with URL(filePath:)", path: url.absoluteString)
    }
    return try importValues(from: path)
  }

  /// Takes over the values of a file whose name need not be text.
  package func importValues(from path: FilePath) throws -> Int {
    let bytes: [UInt8]
    do throws(SystemError) {
      let system = PosixFileSystem()
      let file = Descriptor(try system.open(try system.resolve(path), for: .reading), of: system)
      bytes = try file.read(from: 0, to: try system.status(of: file.number).snapshot.size)
    } catch {
      throw PreferenceError.reading(error, path: path.description)
    }
    let changes = try ImportedValues(Data(bytes), path: path.description).changes
    try transaction { transaction in
      for change in changes {
        try ValueTable.check(change.key)
        transaction.stage(change.text, forKey: change.key)
      }
    }
    return changes.count
  }
}

/// The values in a file of another format.
struct ImportedValues {
  let changes: [PreferenceChange]

  init(_ data: Data, path: String) throws(PreferenceError) {
    if let changes = ImportedValues.json([UInt8](data)) {
      self.changes = changes
      return
    }
    do {
      let list = try PropertyListDecoder().decode([String: PropertyListValue].self, from: data)
      changes = try list.sorted { $0.key < $1.key }
        .map { PreferenceChange(key: $0.key, text: try JSONText(encoding: $0.value)) }
    } catch {
      throw PreferenceError(
        .unreadable, "is neither a JSON object nor a property list with a dictionary; nothing was imported",
        path: path, underlying: error)
    }
  }

  private static func json(_ bytes: [UInt8]) -> [PreferenceChange]? {
    bytes.withUnsafeBufferPointer { bytes in
      var changes: [PreferenceChange] = []
      guard Line.readObject(bytes, into: &changes) else { return nil }
      return changes.map { PreferenceChange(key: $0.key, text: $0.text?.compacted) }
    }
  }
}
