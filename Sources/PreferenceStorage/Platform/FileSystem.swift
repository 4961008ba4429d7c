/// The system calls that a preferences file stands on, as a seam: tests put failing and simulated ones in its place.
///
/// An implementation retries interrupted calls. A call may write or read less than it was asked to.
package protocol FileSystem: Sendable {
  func open(_ path: String, for access: FileAccess) throws(SystemError) -> Int32
  func close(_ file: Int32)

  /// What is at the path; a symbolic link is not followed.
  func status(atPath path: String) throws(SystemError) -> FileStatus
  func status(of file: Int32) throws(SystemError) -> FileStatus
  /// Which file is at the path, and its size. Called before every write, so it has to be the cheapest call there is.
  func extent(atPath path: String) throws(SystemError) -> FileExtent

  func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError)
    -> Int
  func append(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SystemError) -> Int
  func truncate(_ file: Int32, to length: Int) throws(SystemError)
  func setMode(_ mode: UInt32, of file: Int32) throws(SystemError)

  /// Waits for the lock, which goes when the file is closed or the process ends.
  func lock(_ file: Int32, exclusively: Bool) throws(SystemError)
  /// Takes the exclusive lock if nobody has one.
  func tryLock(_ file: Int32) throws(SystemError) -> Bool
  func unlock(_ file: Int32)

  /// Returns when the bytes and the length of the file would survive a power cut.
  func synchronize(_ file: Int32) throws(SystemError)
  /// Returns when the names in the folder would survive a power cut.
  func synchronizeFolder(_ path: String) throws(SystemError)

  func rename(_ path: String, to newPath: String) throws(SystemError)
  func remove(_ path: String) throws(SystemError)
  func makeFolder(_ path: String) throws(SystemError)
  func names(inFolder path: String) throws(SystemError) -> [String]
  func target(ofLink path: String) throws(SystemError) -> String
  /// The path without a symbolic link, `.` or `..` in it.
  func resolve(_ path: String) throws(SystemError) -> String

  /// Calls the handler after the file at the path was written, made, replaced or removed, by whomever, and for more
  /// than that if need be, on a thread of its own.
  func watch(_ path: String, onEvent: @escaping @Sendable () -> Void) throws(SystemError) -> any FileWatch

  /// The user whose rights the process has.
  var user: UInt32 { get }
  /// The length beyond which the process may not write, where there is one.
  var sizeLimit: Int? { get }
  /// Counts up in a process that was forked off.
  var processGeneration: Int { get }
}

/// A watch that goes on until it is cancelled.
package protocol FileWatch: Sendable {
  /// False once the folder is gone, with which the watch went.
  var isAlive: Bool { get }
  /// Ends the watch. The handler may be running still, and isn't called again.
  func cancel()
}

/// What a file is opened for.
package enum FileAccess: Sendable {
  case reading
  /// Reading, and writing at the end.
  case appending
  /// As `appending`, for a new file, readable by its owner only. Fails where there is one already.
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

/// Which file it is, and its size in bytes.
package struct FileExtent: Sendable, Equatable {
  package var identity: FileIdentity
  package var size: Int

  package init(identity: FileIdentity, size: Int) {
    self.identity = identity
    self.size = size
  }
}

/// What the system knows of a file.
package struct FileStatus: Sendable, Equatable {
  package enum Kind: Sendable { case file, folder, link, other }

  package var extent: FileExtent
  package var kind: Kind
  /// The permission bits.
  package var mode: UInt32
  package var owner: UInt32
  /// When it was last written, in nanoseconds.
  package var modified: Int64

  package init(extent: FileExtent, kind: Kind, mode: UInt32, owner: UInt32, modified: Int64) {
    self.extent = extent
    self.kind = kind
    self.mode = mode
    self.owner = owner
    self.modified = modified
  }
}
