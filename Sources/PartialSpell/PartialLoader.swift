#if canImport(Foundation)
  public import Foundation
#else
  public import FoundationEssentials
#endif

#if canImport(UIKit) && !os(watchOS)
  internal import UIKit
#elseif canImport(AppKit)
  internal import AppKit
#endif

/// A type that loads the values of `@Partial` properties from resources.
///
/// Register one for all properties, for those of one class, or for those of one name:
///
/// ```swift
/// registry.register((any PartialLoader).self) {
///   DecodablePartialLoader(folder: folder)
/// }
/// registry.register((any PartialLoader).self, in: Editor.self) { _ in
///   TemplateLoader()
/// }
/// registry.register((any PartialLoader).self, named: "theme") {
///   ThemeLoader()
/// }
/// ```
///
/// Each property resolves its loader at its first read. Use the scope `.singleton` to keep one loader.
public protocol PartialLoader: Sendable {
  /// Returns the value of the resource with this name.
  ///
  /// Called on the thread that reads the property, with no lock held. If the property is an Optional, the type is the
  /// one that it wraps.
  ///
  /// - Throws: A ``PartialError`` with the places that were searched, or another error, which the property wraps in
  ///   one. If the code is `.notFound`, an Optional property reads nil.
  func load<Value>(_ type: Value.Type, named resource: String) throws -> Value
}

// MARK: Files

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

#if canImport(Foundation)
  extension DecodablePartialLoader {
    /// Creates a loader of a bundle's resources, those of the user's language first.
    public init(bundle: Bundle) {
      self.init { file in
        bundle.url(forResource: file, withExtension: nil)
          ?? (bundle.resourceURL ?? bundle.bundleURL).appending(path: file)
      }
    }
  }
#endif

// MARK: Nibs

#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
  /// Loads views and other objects from the nibs of a bundle.
  ///
  /// ```swift
  /// registry.register((any PartialLoader).self) {
  ///   NibPartialLoader(bundle: .main)
  /// }
  ///
  /// @MainActor final class Screen {
  ///   @Partial var header: HeaderView     // in HeaderView.nib
  /// }
  /// ```
  ///
  /// The value is the first top-level object of its type. Nibs belong to the main actor, so the first read has to be
  /// there; elsewhere it is an error, not a wait.
  public struct NibPartialLoader: PartialLoader {
    private let bundle: Bundle

    /// Loads from the nibs of a bundle.
    public init(bundle: Bundle = .main) { self.bundle = bundle }

    /// Loads the first top-level object of a type from the nib of this name.
    ///
    /// - Throws: ``PartialError`` with the path searched: `.wrongIsolation`, `.notFound`, `.undecodable` if the nib has
    ///   no such object.
    public func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
      guard Thread.isMainThread else { throw PartialError(.wrongIsolation, of: type, resource: resource) }
      guard let path = bundle.path(forResource: resource, ofType: "nib") else {
        let folder = bundle.resourcePath ?? bundle.bundlePath
        throw PartialError(.notFound, of: type, resource: resource, places: ["\(folder)/\(resource).nib"])
      }
      let objects = MainActor.assumeIsolated { TopLevelObjects(of: resource, in: bundle) }.content
      guard let value = objects.lazy.compactMap({ $0 as? Value }).first else {
        throw PartialError(.undecodable, of: type, resource: resource, places: [path])
      }
      return value
    }
  }

  /// The objects of a nib that are outside any other.
  ///
  /// `@unchecked Sendable`: the main actor stands for the lock. It is made there, read within the same call, which has the
  /// main thread, and never changed.
  private struct TopLevelObjects: @unchecked Sendable {
    let content: [Any]

    @MainActor init(of nib: String, in bundle: Bundle) {
      #if canImport(UIKit) && !os(watchOS)
        content = UINib(nibName: nib, bundle: bundle).instantiate(withOwner: nil)
      #else
        var objects: NSArray?
        _ = NSNib(nibNamed: nib, bundle: bundle)?.instantiate(withOwner: nil, topLevelObjects: &objects)
        content = objects.map(Array.init) ?? []
      #endif
    }
  }
#endif
