/// The system calls that a preferences file needs, as a protocol: tests put failing and simulated ones in its place.
///
/// An implementation repeats interrupted calls. A call may write or read less than it was asked to. No descriptor is one
/// of 0, 1 and 2, which are the program's input and output even while they are closed.
package protocol FileSystem: Sendable {
  func open(_ path: FilePath, for access: FileAccess) throws(SystemError) -> Int32
  func close(_ file: Int32)

  /// The state of the file at the path; a symbolic link isn't followed.
  func status(atPath path: FilePath) throws(SystemError) -> FileStatus
  func status(of file: Int32) throws(SystemError) -> FileStatus
  /// Returns which file is at the path, and its size; its change time may be left out.
  ///
  /// Called before every write, so it has to be the cheapest call there is.
  func snapshot(atPath path: FilePath) throws(SystemError) -> FileSnapshot

  func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int
  func append(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SystemError) -> Int
  /// Cuts the file off, or makes it longer by a hole.
  func truncate(_ file: Int32, to length: Int) throws(SystemError)
  func setMode(_ mode: UInt32, of file: Int32) throws(SystemError)
  func setOwner(_ owner: FileOwner, of file: Int32) throws(SystemError)

  /// Takes the lock if nothing stands against it; the lock goes when the file is closed or the process ends.
  func tryLock(_ file: Int32) throws(SystemError) -> Bool
  func unlock(_ file: Int32)

  /// Returns when the bytes and the length of the file would survive a power cut.
  func synchronize(_ file: Int32) throws(SystemError)
  /// Returns when the names in the folder would survive a power cut.
  func synchronizeFolder(_ path: FilePath) throws(SystemError)

  func rename(_ path: FilePath, to newPath: FilePath) throws(SystemError)
  func remove(_ path: FilePath) throws(SystemError)
  /// Makes a folder for its owner only, who is the caller unless another one is given.
  func makeFolder(_ path: FilePath, owner: FileOwner?) throws(SystemError)
  func names(inFolder path: FilePath) throws(SystemError) -> [FilePath]
  func target(ofLink path: FilePath) throws(SystemError) -> FilePath
  /// The path without a symbolic link, `.` or `..` in it.
  func resolve(_ path: FilePath) throws(SystemError) -> FilePath

  /// Calls the handler after the file at the path was written, made, replaced or removed, and for more than that if need be,
  /// on a thread of the file's own; and again after a second if the handler returns that it could not look.
  ///
  /// A watch that can't be made, or whose folder goes, is tried again every second.
  func watch(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) -> any FileWatch

  /// The user whose rights the process has.
  var user: UInt32 { get }
  /// Whether other users may own or write the folders on the way to a file of ours: where each program has a part of the
  /// disk to itself, they are none of its business.
  var hasOtherUsers: Bool { get }
  /// Whether the number is one that stands for owners of which this process can know nothing, as in a container.
  func isUnknown(_ owner: UInt32) -> Bool
  /// The length beyond which the process may not write, if there is one.
  var sizeLimit: Int? { get }
  /// The time, in nanoseconds.
  var time: Int64 { get }
  /// Counts up in a process that was forked off.
  var forkCount: Int { get }
}

/// A watch that goes on until it is cancelled.
package protocol FileWatch: Sendable {
  /// Why the file can't be watched now; nil if it is.
  var problem: SystemError? { get }
  /// Ends the watch. The handler may still be running, and isn't called again.
  func cancel()
}

/// The purpose for which a file is opened.
package enum FileAccess: Sendable {
  case reading
  /// Reading, and writing at the end.
  case appending
  /// As `appending`, for a new file, readable by its owner only. Fails if there is one already.
  case creating
}

/// Which file it is, however it is called.
package struct FileIdentity: Sendable, Hashable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// The identity of a file, its size in bytes, and its change time.
package struct FileSnapshot: Sendable, Equatable {
  package var identity: FileIdentity
  package var size: Int
  /// When the file, its mode, owner or names were last changed, in nanoseconds (`st_ctime`).
  ///
  /// Unlike the time of the last write (`st_mtime`), no program can set it.
  package var changeTime: Int64

  package init(identity: FileIdentity, size: Int, changeTime: Int64) {
    self.identity = identity
    self.size = size
    self.changeTime = changeTime
  }
}

/// The user and the group that a file belongs to.
package struct FileOwner: Sendable, Equatable {
  package var user: UInt32
  package var group: UInt32

  package init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }
}

/// The state of a file as the system knows it.
package struct FileStatus: Sendable, Equatable {
  package enum Kind: Sendable { case file, folder, link, other }

  package var snapshot: FileSnapshot
  package var kind: Kind
  /// The permission bits.
  package var mode: UInt32
  package var owner: FileOwner
  /// How many names the file has.
  package var links: Int

  package init(snapshot: FileSnapshot, kind: Kind, mode: UInt32, owner: FileOwner, links: Int = 1) {
    self.snapshot = snapshot
    self.kind = kind
    self.mode = mode
    self.owner = owner
    self.links = links
  }
}
