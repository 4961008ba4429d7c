internal import Support

/// The operating system's files.
package struct PosixFileSystem: FileSystem {
  package init() {}

  package func open(_ path: FilePath, for access: FileAccess) throws(SystemError) -> Int32 {
    // Never a terminal, never waiting for the other end of a FIFO, never through a link put there since.
    let common = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW
    let flags =
      switch access {
      case .reading: common | O_RDONLY
      case .appending: common | O_RDWR | O_APPEND
      case .creating: common | O_RDWR | O_APPEND | O_CREAT | O_EXCL
      }
    return try openDescriptor(path, flags)
  }

  package func close(_ file: Int32) { _ = systemClose(file) }

  package func read(
    _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    try retrying("read") { pread(file, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  package func append(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SystemError) -> Int {
    try retrying("write") { write(file, bytes.baseAddress, bytes.count) }
  }

  package func truncate(_ file: Int32, to length: Int) throws(SystemError) {
    _ = try retrying("ftruncate") { ftruncate(file, off_t(length)) }
  }

  package func setMode(_ mode: UInt32, of file: Int32) throws(SystemError) {
    _ = try retrying("fchmod") { fchmod(file, mode_t(mode)) }
  }

  package func setOwner(_ owner: FileOwner, of file: Int32) throws(SystemError) {
    _ = try retrying("fchown") { fchown(file, owner.user, owner.group) }
  }

  package func tryLock(_ file: Int32) throws(SystemError) -> Bool {
    do {
      _ = try retrying("flock") { flock(file, LOCK_EX | LOCK_NB) }
      Fork.note(file, isLocked: true)
      return true
    } catch {
      guard error.number == EWOULDBLOCK else { throw error }
      return false
    }
  }

  package func unlock(_ file: Int32) {
    Fork.note(file, isLocked: false)
    _ = flock(file, LOCK_UN)
  }

  package func synchronize(_ file: Int32) throws(SystemError) {
    #if canImport(Darwin)
      try synchronizeFully(file)
    #else
      _ = try retrying("fdatasync") { fdatasync(file) }
    #endif
  }

  #if canImport(Darwin)
    /// Writes to the disk, and not only to the disk's own memory, which is all that `fsync` does there.
    ///
    /// A file system that doesn't know such a call has `fsync` at least. Any other error is one: `fsync` would hide it.
    private func synchronizeFully(_ file: Int32) throws(SystemError) {
      do throws(SystemError) {
        _ = try retrying("F_FULLFSYNC") { fcntl(file, F_FULLFSYNC) }
      } catch {
        guard [ENOTSUP, EINVAL, ENOTTY].contains(error.number) else { throw error }
        _ = try retrying("fsync") { fsync(file) }
      }
    }
  #endif

  package func synchronizeFolder(_ path: FilePath) throws(SystemError) {
    let folder = try openDescriptor(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    defer { _ = systemClose(folder) }
    do {
      #if canImport(Darwin)
        try synchronizeFully(folder)
      #else
        _ = try retrying("fsync") { () -> Int32 in fsync(folder) }
      #endif
    } catch {
      // Some file systems have no such thing as a folder to be synchronized.
      guard error.number == EINVAL else { throw error }
    }
  }

  package func rename(_ path: FilePath, to newPath: FilePath) throws(SystemError) {
    _ = try retrying("rename") { path.withCString { old in newPath.withCString { systemRename(old, $0) } } }
  }

  package func remove(_ path: FilePath) throws(SystemError) {
    _ = try retrying("unlink") { path.withCString { unlink($0) } }
  }

  package func makeFolder(_ path: FilePath, owner: FileOwner?) throws(SystemError) {
    _ = try retrying("mkdir") { path.withCString { mkdir($0, 0o700) } }
    guard let owner else { return }
    // By its descriptor, so that a link that is put there meanwhile isn't followed.
    let folder = try openDescriptor(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
    defer { _ = systemClose(folder) }
    try setOwner(owner, of: folder)
  }

  package func names(inFolder path: FilePath) throws(SystemError) -> [FilePath] {
    let descriptor = try openDescriptor(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard let folder = fdopendir(descriptor) else {
      let number = errno
      _ = systemClose(descriptor)
      throw SystemError("fdopendir", number)
    }
    defer { closedir(folder) }
    var names: [FilePath] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { FilePath(bytes: $0.prefix { $0 != 0 }) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  package func target(ofLink path: FilePath) throws(SystemError) -> FilePath {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) {
      buffer throws(SystemError) -> FilePath in
      let count = try retrying("readlink") {
        path.withCString { path in
          buffer.withMemoryRebound(to: CChar.self) { readlink(path, $0.baseAddress!, $0.count) }
        }
      }
      return FilePath(bytes: buffer.prefix(count))
    }
  }

  package func resolve(_ path: FilePath) throws(SystemError) -> FilePath {
    guard let resolved = path.withCString({ realpath($0, nil) }) else { throw SystemError("realpath", errno) }
    defer { free(resolved) }
    let bytes = UnsafeRawBufferPointer(start: resolved, count: strlen(resolved))
    return FilePath(bytes: bytes)
  }

  package var user: UInt32 { geteuid() }

  package var hasOtherUsers: Bool {
    // On Android and on Apple's phones each program has a part of the disk to itself.
    #if os(Linux) || os(macOS)
      true
    #else
      false
    #endif
  }

  package var sizeLimit: Int? {
    var limit = rlimit()
    #if canImport(Glibc)
      let answer = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let answer = getrlimit(RLIMIT_FSIZE, &limit)
    #endif
    return answer == 0 && limit.rlim_cur < UInt64(Int.max) ? Int(limit.rlim_cur) : nil
  }

  package var forkCount: Int { Fork.count }

  package static func message(for number: Int32) -> String {
    // Optional in some C libraries.
    let text: UnsafeMutablePointer<CChar>? = strerror(number)
    guard let message = text else { return "error \(number)" }
    return "\(String(cString: message)) (error \(number))"
  }
}

/// Opens the file with a number above 2.
///
/// While the program's standard output is closed the system gives its number to the next file, and what the program
/// prints would then be written there.
func openDescriptor(_ path: FilePath, _ flags: Int32) throws(SystemError) -> Int32 {
  try aboveStandardStreams(try retrying("open") { path.withCString { systemOpen($0, flags, 0o600) } })
}

/// The same file with a number above 2; the one that is given is closed if it isn't that.
func aboveStandardStreams(_ descriptor: Int32) throws(SystemError) -> Int32 {
  if descriptor > 2 { return descriptor }
  defer { _ = systemClose(descriptor) }
  return try retrying("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
}

// The functions whose names a method has too.
private func systemOpen(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}
private func systemClose(_ file: Int32) -> Int32 { close(file) }
private func systemRename(_ path: UnsafePointer<CChar>, _ newPath: UnsafePointer<CChar>) -> Int32 {
  rename(path, newPath)
}

/// Calls again while a signal interrupts, and throws what else goes wrong.
func retrying<Answer: SignedInteger>(_ call: String, _ body: () -> Answer) throws(SystemError) -> Answer {
  while true {
    let answer = body()
    if answer >= 0 { return answer }
    let number = errno
    if number != EINTR { throw SystemError(call, number) }
  }
}

// MARK: Status

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

  /// In a user namespace every owner from outside has this number, the superuser included.
  package func isUnknown(_ owner: UInt32) -> Bool { owner == 65_534 }
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

extension FileIdentity {
  /// The number of a device as `stat` gives it on Linux.
  fileprivate static func device(_ major: UInt64, _ minor: UInt64) -> UInt64 {
    (major & 0xfff) << 8 | (major & ~0xfff) << 32 | (minor & 0xff) | (minor & ~0xff) << 12
  }
}
