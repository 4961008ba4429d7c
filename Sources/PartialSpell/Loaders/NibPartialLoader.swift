#if canImport(UIKit) && !os(watchOS)
  internal import UIKit
#elseif canImport(AppKit)
  internal import AppKit
#endif

#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
  public import Foundation

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
    /// - Throws: ``PartialError`` with the path searched: `.wrongIsolation`, `.notFound`, `.undecodable` where the nib has
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

  /// What a nib has outside any other object.
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
