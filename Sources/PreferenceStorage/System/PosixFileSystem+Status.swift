internal import Support

extension PosixFileSystem {
  package func status(atPath path: FilePath) throws(SystemError) -> FileStatus {
    var status = stat()
    while path.withCString({ lstat($0, &status) }) != 0 {
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

  package func snapshot(atPath path: FilePath) throws(SystemError) -> FileSnapshot {
    #if os(Linux)
      if let statx = ExtendedStatus.call { return try ExtendedStatus.snapshot(atPath: path, statx) }
    #endif
    return try status(atPath: path).snapshot
  }
}

extension FileStatus {
  fileprivate init(_ status: stat) {
    #if canImport(Darwin)
      let time = status.st_ctimespec
    #else
      let time = status.st_ctim
    #endif
    let kind: Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    self.init(
      snapshot: FileSnapshot(
        identity: FileIdentity(
          device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino)),
        size: Int(clamping: status.st_size),
        changed: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)),
      kind: kind, mode: UInt32(status.st_mode) & 0o7777, owner: FileOwner(user: status.st_uid, group: status.st_gid),
      links: Int(status.st_nlink))
  }
}

extension PosixFileSystem {
  package var time: Int64 {
    var time = timespec()
    #if os(Linux)
      clock_gettime(CLOCK_REALTIME_COARSE, &time)
    #else
      clock_gettime(CLOCK_REALTIME, &time)
    #endif
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// In a user namespace every owner from outside has the number of a user that stands for all of them, the superuser
  /// included.
  package func isUnknown(_ owner: UInt32) -> Bool { owner == 65_534 && PosixFileSystem.isInUserNamespace }

  private static let isInUserNamespace: Bool = {
    guard let map = readSmallFile("/proc/self/uid_map") else { return false }
    return map.split(separator: " ") != ["0", "0", "4294967295\n"]
  }()
}

#if os(Linux)
  /// Linux's `statx`, which says what was asked for and no more.
  ///
  /// A plain `stat` asks for the time of the last change too, and the kernel then gives the next write a time of its own,
  /// exact to the nanosecond, which costs that write half as much again (benchmark "Set an Int, written"). The module map of the C library doesn't
  /// offer `statx`, so it is looked up by name; where there is none, `stat` does.
  private enum ExtendedStatus {
    typealias Call =
      @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32

    static let call: Call? = dlsym(nil, "statx").map { unsafeBitCast($0, to: Call.self) }

    private static let noFollow: Int32 = 0x100
    private static let inodeSizeAndChange: UInt32 = 0x380

    static func snapshot(atPath path: FilePath, _ statx: Call) throws(SystemError) -> FileSnapshot {
      var snapshot = FileSnapshot(identity: FileIdentity(device: 0, inode: 0), size: 0, changed: 0)
      while true {
        let number = fill(&snapshot, atPath: path, statx)
        if number == 0 { return snapshot }
        if number != EINTR { throw SystemError("statx", number) }
      }
    }

    /// Returns the error's number, or 0.
    private static func fill(_ snapshot: inout FileSnapshot, atPath path: FilePath, _ statx: Call) -> Int32 {
      // struct statx: 256 bytes; the inode at 32, the size at 40, the last change's seconds at 96 and nanoseconds at 104,
      // the device's two numbers at 136 and 140.
      withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer in
        let answer = path.withCString { statx(AT_FDCWD, $0, noFollow, inodeSizeAndChange, buffer.baseAddress!) }
        guard answer == 0 else { return errno }
        snapshot.identity.device = FileIdentity.device(
          UInt64(buffer.load(fromByteOffset: 136, as: UInt32.self)),
          UInt64(buffer.load(fromByteOffset: 140, as: UInt32.self)))
        snapshot.identity.inode = buffer.load(fromByteOffset: 32, as: UInt64.self)
        snapshot.size = Int(buffer.load(fromByteOffset: 40, as: UInt64.self))
        snapshot.changed =
          buffer.load(fromByteOffset: 96, as: Int64.self) &* 1_000_000_000
          &+ Int64(buffer.load(fromByteOffset: 104, as: UInt32.self))
        return 0
      }
    }
  }
#endif
