#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Loads `Decodable` values from JSON files and property lists.
///
/// For the resource "Theme" it looks for `Theme.json`, then for `Theme.plist`, in a folder or in a bundle; a name that ends in
/// `.json` or `.plist` is looked for as it is. The first file that exists is read and decoded, at each load. Dates and data are
/// decoded as `JSONDecoder` and `PropertyListDecoder` do by default. A name that leads out of the folder, such as
/// `../secret`, is an error.
public struct DecodablePartialLoader: PartialLoader {
  /// Returns the location of a file, whether or not it exists.
  private let locate: @Sendable (_ file: String) -> URL

  init(locate: @escaping @Sendable (_ file: String) -> URL) { self.locate = locate }

  /// Creates a loader of the files of a folder.
  ///
  /// A name with a slash reaches folders within it.
  public init(folder: URL) {
    self.init { folder.appending(path: $0) }
  }

  /// Loads and decodes the resource's file.
  ///
  /// - Throws: ``PartialError`` with the searched paths: `.unsupportedType` if the type isn't `Decodable`, `.loaderFailed` if
  ///   the name leads out of the folder, `.notFound`, `.unreadable` and `.undecodable`.
  public func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
    guard let decodable = Value.self as? any Decodable.Type else {
      throw PartialError(.unsupportedType, of: Value.self, resource: resource)
    }
    if Self.leadsOut(resource) {
      throw PartialError(.loaderFailed, of: Value.self, resource: resource, underlying: OutsideFolder(name: resource))
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

  /// Whether a name has more steps up than steps down before them.
  private static func leadsOut(_ resource: String) -> Bool {
    var depth = 0
    for component in resource.split(separator: "/") where component != "." {
      depth += component == ".." ? -1 : 1
      if depth < 0 { return true }
    }
    return false
  }

  /// The error of a name that leads out of the loader's folder.
  private struct OutsideFolder: Error, CustomStringConvertible {
    let name: String
    var description: String {
      "The name \(name.debugDescription) leads out of the loader's folder. Name a file within it, without \"..\"."
    }
  }

  /// The file's bytes; nil if there is no file.
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
  /// The format of a file, after its name.
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
