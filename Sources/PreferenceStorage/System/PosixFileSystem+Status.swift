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
        changeTime: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)),
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
  /// Linux's `statx`, which says what was asked for and no more: not when the file was changed.
  ///
  /// A plain `stat` asks for the time of the last change too, and the kernel then gives the next write a time of its own,
  /// exact to the nanosecond, which costs that write half as much again (benchmark "Set an Int, written"). The module map of the C library doesn't
  /// offer `statx`, so it is looked up by name; if there is none, `stat` does.
  private enum ExtendedStatus {
    typealias Call =
      @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32

    static let call: Call? = dlsym(nil, "statx").map { unsafeBitCast($0, to: Call.self) }

    private static let noFollow: Int32 = 0x100
    private static let inodeAndSize: UInt32 = 0x300

    static func snapshot(atPath path: FilePath, _ statx: Call) throws(SystemError) -> FileSnapshot {
      var snapshot = FileSnapshot(identity: FileIdentity(device: 0, inode: 0), size: 0, changeTime: 0)
      while true {
        let number = fill(&snapshot, atPath: path, statx)
        if number == 0 { return snapshot }
        if number != EINTR { throw SystemError("statx", number) }
      }
    }

    /// Returns the error's number, or 0.
    private static func fill(_ snapshot: inout FileSnapshot, atPath path: FilePath, _ statx: Call) -> Int32 {
      // struct statx: 256 bytes; the inode at 32, the size at 40, the device's two numbers at 136 and 140.
      withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer in
        let answer = path.withCString { statx(AT_FDCWD, $0, noFollow, inodeAndSize, buffer.baseAddress!) }
        guard answer == 0 else { return errno }
        snapshot.identity.device = FileIdentity.device(
          UInt64(buffer.load(fromByteOffset: 136, as: UInt32.self)),
          UInt64(buffer.load(fromByteOffset: 140, as: UInt32.self)))
        snapshot.identity.inode = buffer.load(fromByteOffset: 32, as: UInt64.self)
        snapshot.size = Int(buffer.load(fromByteOffset: 40, as: UInt64.self))
        return 0
      }
    }
  }
#endif

// MARK: Holders of locks

/// Linux's table of locks, `/proc/locks`, a line for each: `1: FLOCK  ADVISORY  WRITE 4242 08:01:131073 0 EOF`.
private enum LockTable {
  /// The processes that hold a lock of the file, not those that wait for one, whose lines have an arrow.
  static func holders(of file: FileIdentity, in table: String) -> [Int32] {
    table.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count >= 6, fields[1] == "FLOCK" else { return nil }
      let place = fields[5].split(separator: ":")
      guard place.count == 3, UInt64(place[2]) == file.inode, let major = UInt64(place[0], radix: 16),
        let minor = UInt64(place[1], radix: 16), FileIdentity.device(major, minor) == file.device
      else { return nil }
      return Int32(fields[4])
    }
  }
}

extension FileIdentity {
  /// The number of a device as `stat` gives it on Linux.
  fileprivate static func device(_ major: UInt64, _ minor: UInt64) -> UInt64 {
    (major & 0xfff) << 8 | (major & ~0xfff) << 32 | (minor & 0xff) | (minor & ~0xff) << 12
  }
}

extension PosixFileSystem {
  package func lockHolder(of file: FileIdentity) -> String? {
    guard let table = readSmallFile("/proc/locks"),
      let process = LockTable.holders(of: file, in: table).first(where: { $0 > 0 })
    else { return nil }
    if process == getpid() { return "this process" }
    let name = readSmallFile(FilePath("/proc/\(process)/comm"))?.split(separator: "\n").first ?? "?"
    // The state follows the name, which is in parentheses and may have some of its own.
    let state = readSmallFile(FilePath("/proc/\(process)/stat"))?.split(separator: ")").last?.split(separator: " ")
      .first
    return "process \(process) (\(name))"
      + (state == "T" ? ", which is stopped: continue it with kill -CONT \(process), or end it" : "")
  }
}

/// What is in a file of the system's that has no size; nil if there is none.
private func readSmallFile(_ path: FilePath) -> String? {
  do throws(SystemError) {
    let system = PosixFileSystem()
    let file = Descriptor(try system.open(path, for: .reading), of: system)
    var bytes: [UInt8] = []
    while true {
      let more = try file.read(from: bytes.count, to: bytes.count + 1 << 16)
      if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += more
    }
  } catch {
    return nil
  }
}
