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
  /// The permission bits, including the sticky bit and the bits that set the user or group ID.
  package var mode: UInt32 = 0
  /// The user ID of the owner.
  package var user: UInt32 = 0
  /// The group ID of the file.
  package var group: UInt32 = 0
  /// The number of hard links to the file.
  package var links = 1

  package init() {}

  /// The current time, in nanoseconds since 1970.
  static var now: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
  }

  /// Whether the last change is so long ago that any further change has another time, however coarse its clock is.
  var isOld: Bool { changeTime > 0 && changeTime < FileStatus.now - 50_000_000 }

  /// Whether the owner has the ID of an unknown user.
  ///
  /// In a Linux container, the system shows this ID for all users who exist only outside of the container, even for the
  /// superuser.
  var isOwnerUnknown: Bool { user == 65_534 }

  /// Returns whether the owner is known and is neither the given user nor the superuser.
  ///
  /// The result is always false if the given user is the superuser.
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
