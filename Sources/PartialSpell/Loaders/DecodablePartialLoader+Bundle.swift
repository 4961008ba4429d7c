#if canImport(Foundation)
  public import Foundation

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
