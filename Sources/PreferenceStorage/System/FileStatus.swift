internal import Support

/// The identity of a file, independent of its path.
package struct FileIdentity: Sendable, Hashable {
  var device: UInt64 = 0
  var inode: UInt64 = 0
}

/// The status of a file, as the system reports it.
package struct FileStatus: Sendable, Equatable {
  package enum Kind: Sendable { case file, folder, link, other }

  package var identity = FileIdentity()
  /// The size in bytes.
  package var size = 0
  /// The time of the last change to the file or its status (`st_ctime`), in nanoseconds; no program can set it.
  package var changeTime: Int64 = 0
  package var kind = Kind.other
  /// The permission bits.
  package var mode: UInt32 = 0
  /// The user ID and the group ID of the owner.
  package var user: UInt32 = 0
  package var group: UInt32 = 0
  /// The number of hard links to the file.
  package var links = 1

  package init() {}

  /// Whether the owner is unknown: a container doesn't know the users outside of it, not even the superuser.
  var isOwnerUnknown: Bool { user == 65_534 }

  /// Returns whether the owner is known and is neither this user nor the superuser; always false for the superuser.
  func isForeign(to user: UInt32) -> Bool { self.user != user && self.user != 0 && user != 0 && !isOwnerUnknown }

  init(_ status: stat) {
    #if canImport(Darwin)
      let time = status.st_ctimespec
    #else
      let time = status.st_ctim
    #endif
    identity.device = UInt64(truncatingIfNeeded: status.st_dev)
    identity.inode = UInt64(status.st_ino)
    size = Int(clamping: status.st_size)
    changeTime = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .folder
    case S_IFLNK: kind = .link
    default: break
    }
    mode = UInt32(status.st_mode) & 0o7777
    (user, group, links) = (status.st_uid, status.st_gid, Int(status.st_nlink))
  }
}

#if os(Linux)
  /// Linux's `statx`, which is asked only for the inode and the size, not for the time of the last change.
  ///
  /// After a plain `stat`, the kernel records the next write's time to the nanosecond, which makes that write 50%
  /// slower (benchmark "Set an Int, written"). The C library's module map lacks `statx`, so it is looked up by name.
  enum ExtendedStatus {
    typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32

    static let call: Call? = dlsym(nil, "statx").map { unsafeBitCast($0, to: Call.self) }

    private static let noFollow: Int32 = 0x100
    private static let inodeAndSize: UInt32 = 0x300

    static func snapshot(atPath path: FilePath, _ statx: Call) throws(SystemError) -> FileStatus {
      // `struct statx` has 256 bytes: the inode at 32, the size at 40, the device's two numbers at 136 and 140.
      try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer throws(SystemError) -> FileStatus in
        let answer = buffer.baseAddress!
        _ = try retrying("statx") { path.withCString { statx(AT_FDCWD, $0, noFollow, inodeAndSize, answer) } }
        let major = UInt64(buffer.load(fromByteOffset: 136, as: UInt32.self))
        let minor = UInt64(buffer.load(fromByteOffset: 140, as: UInt32.self))
        var status = FileStatus()
        // The device's two numbers are combined as in the `st_dev` of `stat`.
        status.identity.device = (major & 0xfff) << 8 | (major & ~0xfff) << 32 | (minor & 0xff) | (minor & ~0xff) << 12
        status.identity.inode = buffer.load(fromByteOffset: 32, as: UInt64.self)
        status.size = Int(buffer.load(fromByteOffset: 40, as: UInt64.self))
        return status
      }
    }
  }
#endif
