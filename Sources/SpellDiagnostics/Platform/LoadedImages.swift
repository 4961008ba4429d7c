#if canImport(Darwin) && _pointerBitWidth(_64)
  internal import MachO
#endif

#if os(Linux) || os(Android)
  /// The images of the process (the program and its libraries) with Swift code, as the Swift runtime lists them.
  enum LoadedImages {
    static let isSupported = true

    private typealias Visitor = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool

    /// Calls `visitor` for each image's list of sections; see `stdlib/public/runtime/ImageInspectionCommon.cpp`.
    @_silgen_name("swift_enumerateAllMetadataSections")
    private static func enumerateSections(_ visitor: Visitor, _ context: UnsafeMutableRawPointer?)

    /// The locations of the metadata in each loaded image.
    ///
    /// A list of sections consists of words: the version, three internal words, and then an address and a size for each
    /// section. The sections are, in this order, protocols, conformances, types, type names and others. Versions 4 and
    /// 5 have this layout. Lists of other versions are skipped.
    static var sections: [MetadataSections] {
      var lists: [UnsafePointer<UInt>] = []
      withUnsafeMutablePointer(to: &lists) { lists in
        enumerateSections(
          { list, context in
            context?.assumingMemoryBound(to: [UnsafePointer<UInt>].self).pointee
              .append(list.assumingMemoryBound(to: UInt.self))
            return true
          }, UnsafeMutableRawPointer(lists))
      }
      return lists.filter { (4...5).contains($0[0]) }.map { list in
        func section(_ index: Int) -> UnsafeRawBufferPointer {
          UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: list[4 + 2 * index]), count: Int(list[5 + 2 * index]))
        }
        return MetadataSections(types: section(2), conformances: section(1), typeNames: section(3))
      }
    }
  }
#elseif canImport(Darwin) && _pointerBitWidth(_64)
  /// The images of the process (the program and its libraries), as the dynamic linker lists them.
  enum LoadedImages {
    #if _ptrauth(_arm64e)
      // Pointers in metadata are signed on this architecture, so this module can't follow them.
      static let isSupported = false
    #else
      static let isSupported = true
    #endif

    /// The locations of the metadata in each loaded image.
    static var sections: [MetadataSections] {
      guard isSupported else { return [] }
      return (0..<_dyld_image_count()).compactMap { index in
        guard let header = _dyld_get_image_header(index), header.pointee.magic == MH_MAGIC_64 else { return nil }
        let image = UnsafeRawPointer(header).assumingMemoryBound(to: mach_header_64.self)
        func section(_ name: String) -> UnsafeRawBufferPointer {
          var size: UInt = 0
          let start = getsectiondata(image, "__TEXT", name, &size)
          return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(size))
        }
        return MetadataSections(
          types: section("__swift5_types"), conformances: section("__swift5_proto"),
          typeNames: section("__swift5_typeref"))
      }
    }
  }
#else
  /// An empty list of images, for platforms on which images can't be found.
  enum LoadedImages {
    static let isSupported = false
    static var sections: [MetadataSections] { [] }
  }
#endif
