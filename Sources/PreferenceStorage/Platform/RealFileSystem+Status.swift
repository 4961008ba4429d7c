#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension RealFileSystem {
  package func status(atPath path: String) throws(SystemError) -> FileStatus {
    var status = stat()
    while lstat(path, &status) != 0 {
      let number = errno
      if number != EINTR { throw SystemError("lstat", number) }
    }
    return FileStatus(status)
  }

  package func status(of file: Int32) throws(SystemError) -> FileStatus {
    var status = stat()
    while fstat(file, &status) != 0 {
      let number = errno
      if number != EINTR { throw SystemError("fstat", number) }
    }
    return FileStatus(status)
  }

  package func extent(atPath path: String) throws(SystemError) -> FileExtent {
    #if os(Linux)
      if let statx = ExtendedStatus.call { return try ExtendedStatus.extent(atPath: path, statx) }
    #endif
    return try status(atPath: path).extent
  }
}

extension FileStatus {
  fileprivate init(_ status: stat) {
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    let kind: Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    self.init(
      extent: FileExtent(
        identity: FileIdentity(
          device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino)),
        size: Int(status.st_size)),
      kind: kind, mode: UInt32(status.st_mode) & 0o7777, owner: status.st_uid,
      modified: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }
}

#if os(Linux)
  /// Linux's `statx`, which says what was asked for and no more.
  ///
  /// A plain `stat` asks for the time of the last change, too, and the kernel then gives the next write a time of its
  /// own, exact to the nanosecond, which costs that write half as much again. The module map of the C library doesn't
  /// offer `statx`, so it is looked up by name; where there is none, `stat` does.
  private enum ExtendedStatus {
    typealias Call =
      @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32

    static let call: Call? = dlsym(nil, "statx").map { unsafeBitCast($0, to: Call.self) }

    private static let noFollow: Int32 = 0x100
    private static let inodeAndSize: UInt32 = 0x300

    static func extent(atPath path: String, _ statx: Call) throws(SystemError) -> FileExtent {
      var extent = FileExtent(identity: FileIdentity(device: 0, inode: 0), size: 0)
      while true {
        let number = fill(&extent, atPath: path, statx)
        if number == 0 { return extent }
        if number != EINTR { throw SystemError("statx", number) }
      }
    }

    /// Returns the error's number, or 0.
    private static func fill(_ extent: inout FileExtent, atPath path: String, _ statx: Call) -> Int32 {
      // struct statx: 256 bytes; the inode at 32, the size at 40, the device's two numbers at 136 and 140.
      withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer in
        // Passed as it is, a string would be copied.
        let answer = path.withCString { statx(AT_FDCWD, $0, noFollow, inodeAndSize, buffer.baseAddress!) }
        guard answer == 0 else { return errno }
        let major = UInt64(buffer.load(fromByteOffset: 136, as: UInt32.self))
        let minor = UInt64(buffer.load(fromByteOffset: 140, as: UInt32.self))
        // The same number as `stat` has.
        extent.identity.device =
          (major & 0xfff) << 8 | (major & ~0xfff) << 32 | (minor & 0xff) | (minor & ~0xff) << 12
        extent.identity.inode = buffer.load(fromByteOffset: 32, as: UInt64.self)
        extent.size = Int(buffer.load(fromByteOffset: 40, as: UInt64.self))
        return 0
      }
    }
  }
#endif
