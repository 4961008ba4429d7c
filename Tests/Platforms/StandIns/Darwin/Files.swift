// The names are Apple's.
// swift-format-ignore-file

// The file functions of Darwin that Spellbook calls, with Apple's types, on top of Linux's C library.
//
// Nothing else of that library is exported. Before you add a missing name, look it up in Apple's headers.

internal import Glibc
internal import Synchronization

public typealias mode_t = UInt16
public typealias off_t = Int64
public typealias dev_t = Int32
public typealias nlink_t = UInt16
public typealias ino_t = UInt64
public typealias uid_t = UInt32
public typealias gid_t = UInt32
public typealias rlim_t = UInt64

public var errno: Int32 {
  get { Glibc.errno }
  set { Glibc.errno = newValue }
}

// MARK: Descriptors

public let O_RDONLY = Glibc.O_RDONLY
public let O_WRONLY = Glibc.O_WRONLY
public let O_RDWR = Glibc.O_RDWR
public let O_APPEND = Glibc.O_APPEND
public let O_CREAT = Glibc.O_CREAT
public let O_EXCL = Glibc.O_EXCL
public let O_CLOEXEC = Glibc.O_CLOEXEC
public let O_NOCTTY = Glibc.O_NOCTTY
public let O_NONBLOCK = Glibc.O_NONBLOCK
public let O_NOFOLLOW = Glibc.O_NOFOLLOW
public let O_DIRECTORY = Glibc.O_DIRECTORY
/// Opens a file for events only, so that its volume can be unmounted.
public let O_EVTONLY = Glibc.O_RDONLY | Glibc.O_NONBLOCK

public let F_SETFD = Glibc.F_SETFD
public let F_SETFL = Glibc.F_SETFL
public let F_GETFL = Glibc.F_GETFL
public let FD_CLOEXEC = Glibc.FD_CLOEXEC
public let F_DUPFD_CLOEXEC = Glibc.F_DUPFD_CLOEXEC
public let F_FULLFSYNC: Int32 = 51
/// Whether writes to a closed pipe raise a signal, which can't be set for a file on Linux.
public let F_SETNOSIGPIPE: Int32 = 73
public let F_GETNOSIGPIPE: Int32 = 74

public let STDIN_FILENO = Glibc.STDIN_FILENO
public let STDOUT_FILENO = Glibc.STDOUT_FILENO
public let STDERR_FILENO = Glibc.STDERR_FILENO

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
  Capitals.folding(path) { Glibc.open($0, flags) }
}
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
  Capitals.folding(path) { Glibc.open($0, flags, Glibc.mode_t(mode)) }
}
@discardableResult public func close(_ file: Int32) -> Int32 { Glibc.close(file) }
@discardableResult public func read(_ file: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int) -> Int {
  Glibc.read(file, buffer, count)
}
@discardableResult public func write(_ file: Int32, _ buffer: UnsafeRawPointer!, _ count: Int) -> Int {
  Glibc.write(file, buffer, count)
}
@discardableResult
public func pread(_ file: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int, _ offset: off_t) -> Int {
  Glibc.pread(file, buffer, count, Int(offset))
}
@discardableResult
public func pwrite(_ file: Int32, _ buffer: UnsafeRawPointer!, _ count: Int, _ offset: off_t) -> Int {
  Glibc.pwrite(file, buffer, count, Int(offset))
}
@discardableResult public func ftruncate(_ file: Int32, _ length: off_t) -> Int32 { Glibc.ftruncate(file, Int(length)) }
@discardableResult public func fchmod(_ file: Int32, _ mode: mode_t) -> Int32 { Glibc.fchmod(file, Glibc.mode_t(mode)) }
@discardableResult public func fchown(_ file: Int32, _ user: uid_t, _ group: gid_t) -> Int32 {
  Glibc.fchown(file, user, group)
}
public struct pollfd {
  public var fd: Int32
  public var events: Int16
  public var revents: Int16
  public init(fd: Int32, events: Int16, revents: Int16) { (self.fd, self.events, self.revents) = (fd, events, revents) }
}
public let POLLOUT = Int32(Glibc.POLLOUT)
public func poll(_ files: UnsafeMutablePointer<pollfd>!, _ count: UInt32, _ timeout: Int32) -> Int32 {
  precondition(count == 1, "Only what the package calls is here.")
  var file = Glibc.pollfd(fd: files.pointee.fd, events: files.pointee.events, revents: 0)
  return Glibc.poll(&file, 1, timeout)
}
@discardableResult public func pipe(_ ends: UnsafeMutablePointer<Int32>!) -> Int32 { Glibc.pipe(ends) }
@discardableResult public func isatty(_ file: Int32) -> Int32 { Glibc.isatty(file) }

public let LOCK_SH = Glibc.LOCK_SH
public let LOCK_EX = Glibc.LOCK_EX
public let LOCK_NB = Glibc.LOCK_NB
public let LOCK_UN = Glibc.LOCK_UN
@discardableResult public func flock(_ file: Int32, _ operation: Int32) -> Int32 { systemFlock(file, operation) }
/// The function is looked up, because a type has the same name.
private let systemFlock = unsafeBitCast(dlsym(nil, "flock")!, to: (@convention(c) (Int32, Int32) -> Int32).self)

// MARK: Synchronization

/// The calls for synchronization, and their results; for the driver.
public enum Synchronizations {
  private static let failure = Atomic<Int32>(0)
  private static let fullCount = Atomic<Int>(0)
  private static let plainCount = Atomic<Int>(0)

  /// The error of each `F_FULLFSYNC` from now on; 0 for none.
  public static func failFull(with error: Int32) { failure.store(error, ordering: .relaxed) }

  /// Returns the numbers of calls since the last call of this function.
  public static func counts() -> (full: Int, plain: Int) {
    (fullCount.exchange(0, ordering: .relaxed), plainCount.exchange(0, ordering: .relaxed))
  }

  fileprivate static func full(_ file: Int32) -> Int32 {
    fullCount.add(1, ordering: .relaxed)
    let error = failure.load(ordering: .relaxed)
    guard error == 0 else {
      Glibc.errno = error
      return -1
    }
    return Glibc.fsync(file)
  }

  fileprivate static func plain(_ file: Int32) -> Int32 {
    plainCount.add(1, ordering: .relaxed)
    return Glibc.fsync(file)
  }
}

public func fcntl(_ file: Int32, _ command: Int32) -> Int32 {
  command == F_FULLFSYNC ? Synchronizations.full(file) : Glibc.fcntl(file, command)
}
public func fcntl(_ file: Int32, _ command: Int32, _ value: Int32) -> Int32 { Glibc.fcntl(file, command, value) }
@discardableResult public func fsync(_ file: Int32) -> Int32 { Synchronizations.plain(file) }

// MARK: Names

/// A file system that ignores case in the names of preferences files; for the driver.
public enum Capitals {
  private static let areFolded = Atomic<Bool>(false)

  public static func fold(_ isFolding: Bool) { areFolded.store(isFolding, ordering: .relaxed) }

  /// Calls `body` with the path in lower case, if the file system ignores case.
  fileprivate static func folding<Answer>(
    _ path: UnsafePointer<CChar>, _ body: (UnsafePointer<CChar>) -> Answer
  ) -> Answer {
    guard areFolded.load(ordering: .relaxed), let slash = strrchr(path, 47), strstr(slash, ".preferences") != nil else { return body(path) }
    let folder = UnsafePointer(slash) - path
    var folded = Array(UnsafeBufferPointer(start: path, count: Int(Glibc.strlen(path)) + 1))
    for index in folded.indices where index > folder { folded[index] = CChar(tolower(Int32(folded[index]))) }
    return body(folded)
  }
}

@discardableResult public func rename(_ old: UnsafePointer<CChar>!, _ new: UnsafePointer<CChar>!) -> Int32 {
  Capitals.folding(old) { old in Capitals.folding(new) { Glibc.rename(old, $0) } }
}
public let RENAME_SWAP: Int32 = 0x2
@discardableResult
public func renamex_np(_ old: UnsafePointer<CChar>!, _ new: UnsafePointer<CChar>!, _ flags: UInt32) -> Int32 {
  Capitals.folding(old) { old in Capitals.folding(new) { exchange(Glibc.AT_FDCWD, old, Glibc.AT_FDCWD, $0, flags) } }
}
/// Linux's flag for an exchange has the same number.
private let exchange = unsafeBitCast(
  dlsym(nil, "renameat2")!,
  to: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32).self)
@discardableResult public func unlink(_ path: UnsafePointer<CChar>!) -> Int32 {
  Capitals.folding(path) { Glibc.unlink($0) }
}
@discardableResult public func mkdir(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 {
  Glibc.mkdir(path, Glibc.mode_t(mode))
}
@discardableResult
public func readlink(_ path: UnsafePointer<CChar>!, _ buffer: UnsafeMutablePointer<CChar>!, _ size: Int) -> Int {
  Glibc.readlink(path, buffer, size)
}
public func realpath(_ path: UnsafePointer<CChar>!, _ resolved: UnsafeMutablePointer<CChar>!)
  -> UnsafeMutablePointer<CChar>!
{ Glibc.realpath(path, resolved) }

/// An open folder.
public struct DIR {
  let base: OpaquePointer
  let entry: UnsafeMutablePointer<dirent>
}
public struct dirent {
  public var d_ino: ino_t = 0
  public var d_namlen: UInt16 = 0
  /// In Apple's header, this is a tuple of 1,024 elements.
  public var d_name = InlineArray<1024, CChar>(repeating: 0)
}
public func fdopendir(_ file: Int32) -> UnsafeMutablePointer<DIR>! {
  guard let base = Glibc.fdopendir(file) else { return nil }
  let entry = UnsafeMutablePointer<dirent>.allocate(capacity: 1)
  entry.initialize(to: dirent())
  let folder = UnsafeMutablePointer<DIR>.allocate(capacity: 1)
  folder.initialize(to: DIR(base: base, entry: entry))
  return folder
}
public func readdir(_ folder: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! {
  guard let found = Glibc.readdir(folder.pointee.base) else { return nil }
  let entry = folder.pointee.entry
  entry.pointee = dirent()
  withUnsafeBytes(of: &found.pointee.d_name) { name in
    for (index, byte) in name.enumerated() where index < 1024 {
      entry.pointee.d_name[index] = CChar(bitPattern: byte)
      if byte == 0 { break }
      entry.pointee.d_namlen += 1
    }
  }
  return entry
}
@discardableResult public func closedir(_ folder: UnsafeMutablePointer<DIR>!) -> Int32 {
  defer {
    folder.pointee.entry.deallocate()
    folder.deallocate()
  }
  return Glibc.closedir(folder.pointee.base)
}

// MARK: Status

public let S_IFMT: mode_t = 0o170000
public let S_IFREG: mode_t = 0o100000
public let S_IFDIR: mode_t = 0o040000
public let S_IFLNK: mode_t = 0o120000

public struct stat {
  public var st_dev: dev_t = 0
  public var st_mode: mode_t = 0
  public var st_nlink: nlink_t = 0
  public var st_ino: ino_t = 0
  public var st_uid: uid_t = 0
  public var st_gid: gid_t = 0
  public var st_mtimespec = timespec()
  public var st_ctimespec = timespec()
  public var st_size: off_t = 0
  public init() {}

  init(_ status: Glibc.stat) {
    st_dev = dev_t(truncatingIfNeeded: status.st_dev)
    st_mode = mode_t(truncatingIfNeeded: status.st_mode)
    st_nlink = nlink_t(truncatingIfNeeded: status.st_nlink)
    st_ino = ino_t(status.st_ino)
    st_uid = status.st_uid
    st_gid = status.st_gid
    st_mtimespec = timespec(tv_sec: status.st_mtim.tv_sec, tv_nsec: status.st_mtim.tv_nsec)
    st_ctimespec = timespec(tv_sec: status.st_ctim.tv_sec, tv_nsec: status.st_ctim.tv_nsec)
    st_size = off_t(status.st_size)
  }
}
public func lstat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!) -> Int32 {
  var found = Glibc.stat()
  let answer = Capitals.folding(path) { Glibc.lstat($0, &found) }
  status.pointee = stat(found)
  return answer
}
public let AT_FDCWD: Int32 = -2
public func fstatat(
  _ folder: Int32, _ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!, _ flags: Int32
) -> Int32 {
  precondition(folder == AT_FDCWD && flags == 0, "Only what the package calls is here.")
  var found = Glibc.stat()
  let answer = Capitals.folding(path) { Glibc.fstatat(Glibc.AT_FDCWD, $0, &found, 0) }
  status.pointee = stat(found)
  return answer
}
public func fstat(_ file: Int32, _ status: UnsafeMutablePointer<stat>!) -> Int32 {
  var found = Glibc.stat()
  let answer = Glibc.fstat(file, &found)
  status.pointee = stat(found)
  return answer
}
