internal import SpellRegistry

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
/// Register a loader for all properties, for the properties of one class, or for the properties with a given name:
///
/// ```swift
/// registry.register((any PartialLoader).self) { DecodablePartialLoader(folder: folder) }
/// registry.register((any PartialLoader).self, .in(Editor.self) { _ in TemplateLoader() })
/// registry.register((any PartialLoader).self, named: "theme") { ThemeLoader() }
/// ```
///
/// Each property asks the registry for a loader at its first read. Use the scope `.singleton` to share one loader.
public protocol PartialLoader: Sendable {
  /// Returns a value that is loaded from the resource with the given name.
  ///
  /// The property calls this method on the thread that first reads the property, with no lock held. If the property's
  /// type is an Optional, `type` is the wrapped type.
  ///
  /// - Throws: A ``PartialError`` with the locations that were searched, or another error, which the property wraps in
  ///   a ``PartialError``. If the code is `.notFound`, a property of an Optional type reads nil.
  func load<Value>(_ type: Value.Type, named resource: String) throws -> Value
}

// MARK: Files

/// A loader of `Decodable` values from JSON files and property lists.
///
/// For the resource "Theme", the loader looks for `Theme.json` and then for `Theme.plist`, in a folder or in a bundle.
/// A resource name that ends in `.json` or `.plist` is the name of the file. Each load reads and decodes the first file
/// that exists. Dates and data are decoded with the default strategies of `JSONDecoder` and `PropertyListDecoder`. A
/// name that leads out of the folder, such as `../secret`, is an error.
public struct DecodablePartialLoader: PartialLoader {
  /// A function that returns the location of a file, whether or not the file exists.
  private let locate: @Sendable (_ file: String) -> URL

  /// Creates a loader of the files in a folder.
  ///
  /// The name of a resource can contain slashes, to reach a file in a subfolder.
  public init(folder: URL) { locate = { folder.appending(path: $0) } }

  /// Loads and decodes the resource's file.
  ///
  /// - Throws: A ``PartialError`` with the code `.unsupportedType` if the type isn't `Decodable`, or is `Decodable`
  ///   only on an actor other than the caller's. The code is `.loaderFailed` if the name leads out of the folder. An
  ///   error with the code `.notFound` has all searched paths. An error with the code `.unreadable` or `.undecodable`
  ///   has only the path of the file.
  public func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
    guard let decoding = decoding(Decoding<Value>()) else {
      throw PartialError(.unsupportedType, of: type, resource: resource)
    }
    if Self.leadsOut(resource) {
      let error = OutsideFolder(
        description: "The name \(resource.debugDescription) leads out of the loader's folder. Name a file within it, "
          + "without \"..\".")
      throw PartialError(.loaderFailed, of: type, resource: resource, underlying: error)
    }
    let suffixes = [".json", ".plist"]
    let files = suffixes.contains(where: resource.hasSuffix) ? [resource] : suffixes.map { resource + $0 }
    let urls = files.map(locate)
    for (file, url) in zip(files, urls) {
      let data: Data
      do {
        data = try Data(contentsOf: url)
      } catch let error as CocoaError where Self.isMissing(error) {
        continue
      } catch {
        throw PartialError(.unreadable, of: type, resource: resource, places: [url.path], underlying: error)
      }
      do {
        if let value = try decoding.decode(data, of: file) as? Value { return value }
      } catch {
        throw PartialError(.undecodable, of: type, resource: resource, places: [url.path], underlying: error)
      }
    }
    throw PartialError(.notFound, of: type, resource: resource, places: urls.map(\.path))
  }

  /// Returns whether any `..` in a resource's name leads above the folder, even if a later component leads back.
  private static func leadsOut(_ resource: String) -> Bool {
    var depth = 0
    for component in resource.split(separator: "/") where component != "." {
      depth += component == ".." ? -1 : 1
      if depth < 0 { return true }
    }
    return false
  }

  /// Returns whether an error says that a file doesn't exist, or that a component of the path isn't a folder.
  private static func isMissing(_ error: CocoaError) -> Bool {
    [.fileReadNoSuchFile, .fileNoSuchFile].contains(error.code) || (error.underlying as? POSIXError)?.code == .ENOTDIR
  }

  /// The error for a name that leads out of the loader's folder.
  private struct OutsideFolder: Error, CustomStringConvertible { let description: String }
}

/// A decoder of files; the decoder conforms to `FileDecoding` if the type `Value` is `Decodable`.
///
/// The conformance of `Value` to `Decodable` may be isolated to an actor. A cast of a metatype ignores the isolation,
/// but a cast of a value respects it. The loader therefore casts a value of this struct.
private struct Decoding<Value> {}

private protocol FileDecoding { func decode(_ data: Data, of file: String) throws -> Any }

extension Decoding: FileDecoding where Value: Decodable {
  func decode(_ data: Data, of file: String) throws -> Any {
    if file.hasSuffix(".json") { return try JSONDecoder().decode(Value.self, from: data) }
    return try PropertyListDecoder().decode(Value.self, from: data)
  }
}

/// Casts a value to `FileDecoding` in the caller's isolation.
///
/// Never inlined, because the optimizer would ignore the isolation in an inlined cast.
@inline(never) private func decoding(_ value: Any) -> (any FileDecoding)? { value as? any FileDecoding }

#if canImport(Foundation)
  extension DecodablePartialLoader {
    /// Creates a loader of a bundle's resources, which prefers resources in the user's language.
    public init(bundle: Bundle) {
      locate = { file in
        bundle.url(forResource: file, withExtension: nil)
          ?? (bundle.resourceURL ?? bundle.bundleURL).appending(path: file)
      }
    }
  }
#endif

// MARK: Nibs

#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
  /// A loader of views and other objects from the nibs of a bundle.
  ///
  /// ```swift
  /// registry.register((any PartialLoader).self) { NibPartialLoader(bundle: .main) }
  ///
  /// @MainActor final class Screen {
  ///   @Partial var header: HeaderView     // in HeaderView.nib
  /// }
  /// ```
  ///
  /// The value is the nib's first top-level object that has the property's type. Nibs belong to the main actor, so the
  /// first read has to be on the main actor. A first read on another thread fails with an error instead of waiting.
  public struct NibPartialLoader: PartialLoader {
    private let bundle: Bundle

    /// Creates a loader of the nibs in a bundle.
    public init(bundle: Bundle = .main) { self.bundle = bundle }

    /// Loads the first top-level object of a type from the nib with the given name.
    ///
    /// - Throws: A ``PartialError`` with the code `.wrongIsolation` if the caller isn't on the main thread. If the
    ///   bundle has no nib with the name, the code is `.notFound`, and the error has the path that the nib would have
    ///   in the bundle's resource folder. If the nib has no object of the type, the code is `.undecodable`, and the
    ///   error has the nib's path.
    public func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
      guard Thread.isMainThread else { throw PartialError(.wrongIsolation, of: type, resource: resource) }
      guard let path = bundle.path(forResource: resource, ofType: "nib") else {
        let folder = bundle.resourcePath ?? bundle.bundlePath
        throw PartialError(.notFound, of: type, resource: resource, places: ["\(folder)/\(resource).nib"])
      }
      let objects = callOnMainActor(bundle) { topLevelObjects(of: resource, in: $0) }
      guard let value = objects.lazy.compactMap({ $0 as? Value }).first else {
        throw PartialError(.undecodable, of: type, resource: resource, places: [path])
      }
      return value
    }
  }

  /// Loads a nib and returns its top-level objects: the objects that no other object in the nib contains.
  @MainActor private func topLevelObjects(of nib: String, in bundle: Bundle) -> [Any] {
    #if canImport(UIKit) && !os(watchOS)
      return UINib(nibName: nib, bundle: bundle).instantiate(withOwner: nil)
    #else
      var objects: NSArray?
      _ = NSNib(nibNamed: nib, bundle: bundle)?.instantiate(withOwner: nil, topLevelObjects: &objects)
      return objects.map(Array.init) ?? []
    #endif
  }
#endif
