#if os(Linux) || os(Android)
  internal import Support
#elseif canImport(Darwin) && _pointerBitWidth(_64)
  internal import MachO
  internal import Support
#endif

#if os(Linux) || os(Android)
  /// The images of the process that have Swift code, as the runtime and the kernel tell them.
  enum LoadedImages {
    static let isSupported = true

    private typealias Visitor = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool

    /// Exported by the runtime for tools; `stdlib/public/runtime/ImageInspectionCommon.cpp`.
    @_silgen_name("swift_enumerateAllMetadataSections")
    private static func enumerateSections(_ visitor: Visitor, _ context: UnsafeMutableRawPointer?)

    /// Where the images have their metadata.
    ///
    /// A list of sections has its version, three words of the runtime's own, then address and size of each section:
    /// protocols, conformances, types, names of types and others. So do the versions 4 and 5; another one may not.
    static func sections(in memory: ReadableMemory) -> [MetadataSections] {
      var lists: [UInt] = []
      withUnsafeMutablePointer(to: &lists) { lists in
        enumerateSections(
          { list, context in
            context?.assumingMemoryBound(to: [UInt].self).pointee.append(UInt(bitPattern: list))
            return true
          }, UnsafeMutableRawPointer(lists))
      }
      return lists.compactMap { list in
        func word(_ index: UInt) -> UInt? { memory.pointer(at: list + index * UInt(MemoryLayout<UInt>.size)) }
        func section(_ index: UInt) -> Range<UInt>? {
          guard let start = word(4 + 2 * index), let size = word(5 + 2 * index) else { return nil }
          let (end, isTooLong) = start.addingReportingOverflow(size)
          return isTooLong ? nil : start..<end
        }
        guard let version = word(0), (4...5).contains(version), let conformances = section(1),
          let types = section(2), let typeNames = section(3)
        else { return nil }
        return MetadataSections(types: types, conformances: conformances, typeNames: typeNames)
      }
    }

    /// What of the process can be read: the lines of `/proc/self/maps`, `start-end rights …`, that have the right to read.
    static func readableMemory() -> ReadableMemory {
      let lines = contents(of: "/proc/self/maps").split(separator: UInt8(ascii: "\n"))
      return ReadableMemory(
        lines.compactMap { line in
          let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
          guard words.count > 1, words[1].first == UInt8(ascii: "r") else { return nil }
          let bounds = words[0].split(separator: UInt8(ascii: "-")).map {
            UInt(String(decoding: $0, as: UTF8.self), radix: 16)
          }
          guard bounds.count == 2, let start = bounds[0], let end = bounds[1], start < end else { return nil }
          // The pages of the kernel's clock can't all be read.
          return line.suffix(6).elementsEqual("[vvar]".utf8) ? nil : start..<end
        })
    }

    private static func contents(of path: String) -> [UInt8] {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return [] }
      defer { close(file) }
      var contents: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = read(file, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return contents }
        contents += buffer[..<count]
      }
    }
  }
#elseif canImport(Darwin) && _pointerBitWidth(_64)
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
#else
  /// No image if it isn't known how to find one.
  enum LoadedImages {
    static let isSupported = false
    static func sections(in memory: ReadableMemory) -> [MetadataSections] { [] }
    static func readableMemory() -> ReadableMemory { ReadableMemory([]) }
  }
#endif
