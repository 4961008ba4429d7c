internal import Support

/// The system calls that a preferences file needs.
///
/// An interrupted call is repeated. A call may write or read less than requested. No descriptor is 0, 1 or 2, the
/// numbers of the standard streams, even if these streams are closed. In tests, subclasses make calls fail or simulate
/// a disk.
///
/// `@unchecked Sendable`: The class has no state, but the compiler can't check a class that isn't final.
package class FileSystem: @unchecked Sendable {
  package init() {}

  package func open(_ path: FilePath, for access: FileAccess) throws(SystemError) -> Int32 {
    _ = FileSystem.writesWithoutSignal
    // With these flags, the call doesn't take over a terminal, wait for the other end of a FIFO, or follow a symbolic
    // link that has just been put at the path.
    let common = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW
    switch access {
    case .reading: return try openDescriptor(path, common | O_RDONLY)
    case .appending: return try openDescriptor(path, common | O_RDWR | O_APPEND)
    case .creating:
      let file = try openDescriptor(path, common | O_RDWR | O_APPEND | O_CREAT | O_EXCL)
      handOver(file, in: path.folder)
      return file
    }
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

  /// Truncates the file to the length, or extends a shorter file with zeros.
  package func truncate(_ file: Int32, to length: Int) throws(SystemError) {
    _ = try retrying("ftruncate") { ftruncate(file, off_t(length)) }
  }

  package func setMode(_ mode: UInt32, of file: Int32) throws(SystemError) {
    _ = try retrying("fchmod") { fchmod(file, mode_t(mode)) }
  }

  /// Takes the file's lock if it is free, and returns whether it was free.
  ///
  /// The system releases the lock when the file is closed or the process ends.
  package func tryLock(_ file: Int32) throws(SystemError) -> Bool {
    guard try tryLock(file, LOCK_EX) else { return false }
    Fork.note(file, isLocked: true)
    return true
  }

  /// Takes a shared lock of the file, which many may have, unless one has the lock alone; returns whether it was taken.
  package func tryShare(_ file: Int32) throws(SystemError) -> Bool { try tryLock(file, LOCK_SH) }

  private func tryLock(_ file: Int32, _ kind: Int32) throws(SystemError) -> Bool {
    do {
      _ = try retrying("flock") { flock(file, kind | LOCK_NB) }
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

  /// Waits until the bytes and the length of the file would survive a power failure.
  package func synchronize(_ file: Int32) throws(SystemError) {
    #if canImport(Darwin)
      // On Apple platforms, `fsync` leaves the data in the disk's cache, so it is used only if the file system doesn't
      // support `F_FULLFSYNC`. If `F_FULLFSYNC` fails for another reason, its error is thrown, because a successful
      // `fsync` would hide the error.
      do throws(SystemError) {
        _ = try retrying("F_FULLFSYNC") { fcntl(file, F_FULLFSYNC) }
      } catch {
        guard [ENOTSUP, EINVAL, ENOTTY].contains(error.number) else { throw error }
        _ = try retrying("fsync") { fsync(file) }
      }
    #else
      _ = try retrying("fdatasync") { fdatasync(file) }
    #endif
  }

  /// Waits until the names of the files in the folder would survive a power failure.
  package func synchronizeFolder(_ path: FilePath) throws(SystemError) {
    let folder = try openDescriptor(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    defer { _ = systemClose(folder) }
    do {
      #if canImport(Darwin)
        try synchronize(folder)
      #else
        _ = try retrying("fsync") { () -> Int32 in fsync(folder) }
      #endif
    } catch {
      // Some file systems don't support synchronizing a folder.
      guard error.number == EINVAL else { throw error }
    }
  }

  package func rename(_ path: FilePath, to newPath: FilePath) throws(SystemError) {
    _ = try retrying("rename") { path.withCString { old in newPath.withCString { systemRename(old, $0) } } }
  }

  package func remove(_ path: FilePath) throws(SystemError) {
    _ = try retrying("unlink") { path.withCString { unlink($0) } }
  }

  /// Creates a folder that only its owner can access.
  package func makeFolder(_ path: FilePath) throws(SystemError) {
    _ = try retrying("mkdir") { path.withCString { mkdir($0, 0o700) } }
    if user != 0 { return }
    // The owner is set through a descriptor, since a symbolic link may have taken the path of the folder by now.
    let folder = try openDescriptor(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
    handOver(folder, in: path.folder)
    _ = systemClose(folder)
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
      names.append(withUnsafeBytes(of: &entry.pointee.d_name) { FilePath(bytes: $0.prefix { $0 != 0 }) })
    }
    return names.filter { $0 != "." && $0 != ".." }
  }

  package func target(ofLink path: FilePath) throws(SystemError) -> FilePath {
    try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer throws(SystemError) -> FilePath in
      let count = try retrying("readlink") { path.withCString { readlink($0, buffer.baseAddress!, buffer.count) } }
      return FilePath(bytes: UnsafeRawBufferPointer(buffer).prefix(count))
    }
  }

  /// Returns the absolute form of the path, which contains no symbolic link, `.` or `..`.
  package func resolve(_ path: FilePath) throws(SystemError) -> FilePath {
    guard let resolved = path.withCString({ realpath($0, nil) }) else { throw SystemError("realpath", errno) }
    defer { free(resolved) }
    return FilePath(bytes: UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
  }

  // MARK: Status

  /// Returns the status of the file at the path, without following a symbolic link.
  package func status(atPath path: FilePath) throws(SystemError) -> FileStatus {
    var status = stat()
    _ = try retrying("lstat") { path.withCString { lstat($0, &status) } }
    return FileStatus(status)
  }

  /// Returns the status of the file that the path leads to, and follows symbolic links.
  func targetStatus(atPath path: FilePath) throws(SystemError) -> FileStatus {
    var status = stat()
    _ = try retrying("fstatat") { path.withCString { fstatat(AT_FDCWD, $0, &status, 0) } }
    return FileStatus(status)
  }

  package func status(of file: Int32) throws(SystemError) -> FileStatus {
    var status = stat()
    _ = try retrying("fstat") { fstat(file, &status) }
    return FileStatus(status)
  }

  /// Returns the identity and the size of the file that the path leads to; the other values of the status may be missing.
  ///
  /// Symbolic links are followed. Linux is asked only for the inode and the size. After a plain `stat`, the kernel
  /// records the time of the next write to the nanosecond, which makes that write 50% slower
  /// (benchmark "Set an Int, written").
  package func snapshot(atPath path: FilePath) throws(SystemError) -> FileStatus {
    #if os(Linux)
      if let statx {
        let inodeAndSize: UInt32 = 0x300
        // `struct statx` has 256 bytes, with the inode at offset 32, the size at 40, and the two device numbers at 136
        // and 140.
        return try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer throws(SystemError) in
          let answer = buffer.baseAddress!
          _ = try retrying("statx") { path.withCString { statx(AT_FDCWD, $0, 0, inodeAndSize, answer) } }
          let major = UInt64(buffer.load(fromByteOffset: 136, as: UInt32.self))
          let minor = UInt64(buffer.load(fromByteOffset: 140, as: UInt32.self))
          var status = FileStatus()
          // The device's two numbers are combined as in the `st_dev` of `stat`.
          status.identity.device =
            (major & 0xfff) << 8 | (major & ~0xfff) << 32 | (minor & 0xff) | (minor & ~0xff) << 12
          status.identity.inode = buffer.load(fromByteOffset: 32, as: UInt64.self)
          status.size = Int(buffer.load(fromByteOffset: 40, as: UInt64.self))
          return status
        }
      }
    #endif
    return try targetStatus(atPath: path)
  }

  // MARK: Watching

  /// Returns a watch that calls the handler after the file was changed, replaced or removed.
  ///
  /// If the handler returns false, the watch calls it again about a second later. If the watch can't be set up, or the
  /// file's folder is removed, the watch tries to set itself up again every second.
  ///
  /// - Returns: Nil if files can't be watched at all, as on a simulated disk.
  package func watch(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) -> FileWatch? {
    FileWatch(path, onEvent: onEvent)
  }

  // MARK: The process

  package var user: UInt32 { geteuid() }

  /// Whether other users may own or change a file or the folders above it.
  ///
  /// False on systems such as Android and iOS, on which each app has its own part of the disk.
  package var hasOtherUsers: Bool {
    #if os(Linux) || os(macOS)
      true
    #else
      false
    #endif
  }

  /// Makes a write beyond the process's limit on the length of files (`ulimit -f`) fail, instead of ending the process.
  ///
  /// The system sends the signal SIGXFSZ before the write fails, and the default action of the signal ends the process.
  /// This property installs a handler that does nothing. Programs that the process starts don't inherit the handler. If
  /// the process already ignored or handled the signal, that behavior is restored. Blocking the signal or checking the
  /// limit would slow every write by a tenth. The limit may also be lowered between a check and the write.
  private static let writesWithoutSignal: Void = {
    var former = sigaction()
    _ = sigaction(SIGXFSZ, nil, &former)
    if signal(SIGXFSZ, { _ in }) != nil { _ = sigaction(SIGXFSZ, &former, nil) }
  }()
}

extension FileSystem {
  /// Appends all of the bytes, in as many calls as necessary.
  package func writeAll(_ bytes: [UInt8], to file: Int32) throws(SystemError) {
    var start = 0
    while start < bytes.count {
      let count = try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
        try append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[start...])), to: file)
      }
      // If a call writes nothing, its repetitions might also write nothing, without end. So an error is thrown instead.
      guard count > 0 else { throw SystemError("write", EFBIG) }
      start += count
    }
  }

  /// Returns the result of a call on a file, or nil if the file doesn't exist.
  func ifPresent<Answer>(_ body: () throws(SystemError) -> Answer) throws(SystemError) -> Answer? {
    do throws(SystemError) { return try body() } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  /// Returns the status of the file at the path, or nil if there is no file.
  package func find(_ path: FilePath) throws(SystemError) -> FileStatus? {
    try ifPresent { () throws(SystemError) in try status(atPath: path) }
  }

  /// Returns the folder with a shared lock, by which other processes learn that this one waits for a lock of a file.
  ///
  /// The wait ends when the descriptor is closed. The result is nil if the folder can't be locked.
  func announceWait(inFolder folder: FilePath) -> Descriptor? {
    guard let number = try? open(folder, for: .reading) else { return nil }
    let descriptor = Descriptor(number, of: self)
    return (try? tryShare(number)) == true ? descriptor : nil
  }

  /// Returns whether another process has announced that it waits for a lock of a file in the folder.
  func isLockAwaited(inFolder folder: FilePath) -> Bool {
    guard let number = try? open(folder, for: .reading) else { return false }
    let descriptor = Descriptor(number, of: self)
    guard let isFree = try? tryLock(number) else { return false }
    if isFree { unlock(number) }
    return withExtendedLifetime(descriptor) { !isFree }
  }

  /// Changes the owner of a file or folder that the superuser has just created, if possible.
  ///
  /// The new owner is the owner of the enclosing folder.
  private func handOver(_ file: Int32, in folder: FilePath) {
    guard user == 0 else { return }
    do throws(SystemError) {
      let folder = try status(atPath: folder)
      if folder.user != 0, !folder.isOwnerUnknown { _ = fchown(file, folder.user, folder.group) }
    } catch {}
  }
}

/// The purpose for which a file is opened.
package enum FileAccess: Sendable {
  case reading
  case appending
  /// Creates a new file that only its owner can access, and opens it like `appending`.
  ///
  /// If a file exists at the path, the call fails with `EEXIST`.
  case creating
}

// MARK: Calls

/// Opens the file with a descriptor above 2, since a program may print to descriptors 1 and 2 even after closing them.
package func openDescriptor(_ path: FilePath, _ flags: Int32) throws(SystemError) -> Int32 {
  try aboveStandardStreams(try retrying("open") { path.withCString { systemOpen($0, flags, 0o600) } })
}

/// Returns the descriptor if it is above 2; otherwise, closes it and returns another descriptor of the same file.
func aboveStandardStreams(_ descriptor: Int32) throws(SystemError) -> Int32 {
  if descriptor > 2 { return descriptor }
  defer { _ = systemClose(descriptor) }
  return try retrying("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
}

// Within `FileSystem`, the names `open`, `close` and `rename` mean methods. These functions call the C functions
// instead.
private func systemOpen(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}
private func systemClose(_ file: Int32) -> Int32 { close(file) }
private func systemRename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 { rename(old, new) }

#if os(Linux)
  /// The C function `statx`, which the C library's module map lacks; nil if the C library itself lacks the function.
  private let statx = dlsym(nil, "statx").map { unsafeBitCast($0, to: ExtendedStatusCall.self) }
  private typealias ExtendedStatusCall =
    @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32
#endif

/// Makes a system call, and repeats it as long as signals interrupt it.
///
/// - Throws: The error of a call that failed for another reason.
func retrying<Answer: SignedInteger>(_ call: String, _ body: () -> Answer) throws(SystemError) -> Answer {
  while true {
    let answer = body()
    if answer >= 0 { return answer }
    let number = errno
    if number != EINTR { throw SystemError(call, number) }
  }
}
