#if canImport(Darwin) && _pointerBitWidth(_64)
  internal import Support
  internal import MachO

  /// The images of the process, as the dynamic linker tells them.
  enum LoadedImages {
    #if _ptrauth(_arm64e)
      // Pointers in metadata are signed there.
      static let isSupported = false
    #else
      static let isSupported = true
    #endif

    private typealias Header = UnsafePointer<mach_header_64>

    private static func headers() -> [(header: Header, slide: Int)] {
      guard isSupported else { return [] }
      return (0..<_dyld_image_count()).compactMap { index in
        guard let header = _dyld_get_image_header(index), header.pointee.magic == MH_MAGIC_64 else { return nil }
        return (
          UnsafeRawPointer(header).assumingMemoryBound(to: mach_header_64.self), _dyld_get_image_vmaddr_slide(index)
        )
      }
    }

    /// Where the images have their metadata.
    static func sections(in memory: ReadableMemory) -> [MetadataSections] {
      headers().map { image in
        func section(_ name: String) -> Range<UInt> {
          var size: UInt = 0
          guard let start = getsectiondata(image.header, "__TEXT", name, &size) else { return 0..<0 }
          return UInt(bitPattern: start)..<UInt(bitPattern: start) + size
        }
        return MetadataSections(
          types: section("__swift5_types"), conformances: section("__swift5_proto"),
          typeNames: section("__swift5_typeref"))
      }
    }

    /// What of the process can be read: the images' segments that are mapped for reading.
    static func readableMemory() -> ReadableMemory {
      ReadableMemory(
        headers().flatMap { image -> [Range<UInt>] in
          var command = UnsafeRawPointer(image.header + 1)
          return (0..<image.header.pointee.ncmds).compactMap { _ in
            let (kind, size) = (command.load(as: load_command.self).cmd, command.load(as: load_command.self).cmdsize)
            defer { command += Int(size) }
            guard kind == UInt32(LC_SEGMENT_64) else { return nil }
            let segment = command.load(as: segment_command_64.self)
            guard segment.initprot & VM_PROT_READ != 0 else { return nil }
            let start = UInt(segment.vmaddr) &+ UInt(bitPattern: image.slide)
            let (end, isTooLong) = start.addingReportingOverflow(UInt(segment.vmsize))
            return isTooLong ? nil : start..<end
          }
        })
    }
  }
#endif
