#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Loads `Decodable` values from JSON files and property lists.
///
/// For the resource "Theme" it looks for `Theme.json`, then for `Theme.plist`, in a folder or in a bundle; a name that
/// ends in `.json` or `.plist` is looked for as it is. The first file that is there is read and decoded, each time it is
/// asked. Dates and data are decoded as `JSONDecoder` and `PropertyListDecoder` do where nothing is set.
public struct DecodablePartialLoader: PartialLoader {
  /// Where the file of this name is, or would be.
  private let locate: @Sendable (_ file: String) -> URL

  init(locate: @escaping @Sendable (_ file: String) -> URL) { self.locate = locate }

  /// Loads from the files of a folder.
  ///
  /// A name with a slash in it reaches folders within.
  public init(folder: URL) {
    self.init { folder.appending(path: $0) }
  }

  /// Loads and decodes the resource's file.
  ///
  /// - Throws: ``PartialError`` with the paths searched: `.unsupportedType` where the type is not `Decodable`,
  ///   `.notFound`, `.unreadable` and `.undecodable`.
  public func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
    guard let decodable = Value.self as? any Decodable.Type else {
      throw PartialError(.unsupportedType, of: Value.self, resource: resource)
    }
    let candidates = Format.candidates(for: resource).map { (format: $0.format, url: locate($0.file)) }
    for (format, url) in candidates {
      guard let data = try data(at: url, of: type, named: resource) else { continue }
      do {
        if let value = try format.decode(decodable, from: data) as? Value { return value }
      } catch {
        throw PartialError(.undecodable, of: type, resource: resource, places: [url.path], underlying: error)
      }
      throw PartialError(.undecodable, of: type, resource: resource, places: [url.path])
    }
    throw PartialError(.notFound, of: type, resource: resource, places: candidates.map(\.url.path))
  }

  /// The file's bytes, or nil where there is none.
  private func data(at url: URL, of type: any Any.Type, named resource: String) throws -> Data? {
    do { return try Data(contentsOf: url) } catch {
      if let error = error as? CocoaError, error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
        return nil
      }
      throw PartialError(.unreadable, of: type, resource: resource, places: [url.path], underlying: error)
    }
  }
}

extension DecodablePartialLoader {
  /// What a file's name says of its content.
  private enum Format: String, CaseIterable {
    case json
    case propertyList = "plist"

    /// The files to look for, in order.
    static func candidates(for resource: String) -> [(format: Format, file: String)] {
      if let format = allCases.first(where: { resource.hasSuffix(".\($0.rawValue)") }) { return [(format, resource)] }
      return allCases.map { ($0, "\(resource).\($0.rawValue)") }
    }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
      switch self {
      case .json: try JSONDecoder().decode(type, from: data)
      case .propertyList: try PropertyListDecoder().decode(type, from: data)
      }
    }
  }
}
