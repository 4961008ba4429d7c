#if !os(Linux) && !os(Android) && !(canImport(Darwin) && _pointerBitWidth(_64))
  /// No image, where it isn't known how to find one.
  enum LoadedImages {
    static let isSupported = false
    static func sections(in memory: ReadableMemory) -> [MetadataSections] { [] }
    static func readableMemory() -> ReadableMemory { ReadableMemory([]) }
  }
#endif
