#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The operating system's files.
package struct RealFileSystem: FileSystem {
  package init() {}

  package func open(_ path: String, for access: FileAccess) throws(SystemError) -> Int32 {
    // Never a terminal, never waiting for the other end of a FIFO, never through a link put there since.
    let common = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW
    let flags =
      switch access {
      case .reading: common | O_RDONLY
      case .appending: common | O_RDWR | O_APPEND
      case .creating: common | O_RDWR | O_APPEND | O_CREAT | O_EXCL
      }
    return try retrying("open") { systemOpen(path, flags, 0o600) }
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

  package func lock(_ file: Int32, exclusively: Bool) throws(SystemError) {
    _ = try retrying("flock") { flock(file, exclusively ? LOCK_EX : LOCK_SH) }
  }

  package func tryLock(_ file: Int32) throws(SystemError) -> Bool {
    do {
      _ = try retrying("flock") { () -> Int32 in flock(file, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      guard error.number == EWOULDBLOCK else { throw error }
      return false
    }
  }

  package func unlock(_ file: Int32) { _ = flock(file, LOCK_UN) }

  package func synchronize(_ file: Int32) throws(SystemError) {
    #if canImport(Darwin)
      // Where the file system doesn't know it, fsync is all there is.
      if fcntl(file, F_FULLFSYNC) == 0 { return }
      _ = try retrying("fsync") { fsync(file) }
    #else
      _ = try retrying("fdatasync") { fdatasync(file) }
    #endif
  }

  package func synchronizeFolder(_ path: String) throws(SystemError) {
    let folder = try retrying("open") { systemOpen(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0) }
    defer { close(folder) }
    do {
      _ = try retrying("fsync") { () -> Int32 in fsync(folder) }
    } catch {
      // Some file systems have no such thing as a folder to be synchronised.
      guard error.number == EINVAL else { throw error }
    }
  }

  package func rename(_ path: String, to newPath: String) throws(SystemError) {
    _ = try retrying("rename") { systemRename(path, newPath) }
  }

  package func remove(_ path: String) throws(SystemError) {
    _ = try retrying("unlink") { unlink(path) }
  }

  package func makeFolder(_ path: String) throws(SystemError) {
    _ = try retrying("mkdir") { mkdir(path, 0o700) }
  }

  package func names(inFolder path: String) throws(SystemError) -> [String] {
    guard let folder = opendir(path) else { throw SystemError("opendir", errno) }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  package func target(ofLink path: String) throws(SystemError) -> String {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) {
      buffer throws(SystemError) -> String in
      let count = try retrying("readlink") {
        buffer.withMemoryRebound(to: CChar.self) { readlink(path, $0.baseAddress!, $0.count) }
      }
      return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
  }

  package func resolve(_ path: String) throws(SystemError) -> String {
    guard let resolved = realpath(path, nil) else { throw SystemError("realpath", errno) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  package var user: UInt32 { geteuid() }

  package var sizeLimit: Int? {
    var limit = rlimit()
    #if canImport(Glibc)
      let answer = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let answer = getrlimit(RLIMIT_FSIZE, &limit)
    #endif
    return answer == 0 && limit.rlim_cur < UInt64(Int.max) ? Int(limit.rlim_cur) : nil
  }

  package var processGeneration: Int { ProcessGeneration.current }

  package static func message(for number: Int32) -> String {
    guard let message = strerror(number) else { return "error \(number)" }
    return "\(String(cString: message)) (error \(number))"
  }
}

// The functions whose names a method has too.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func systemClose(_ file: Int32) -> Int32 { close(file) }
private func systemRename(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }

/// Calls again while a signal interrupts, and throws what else goes wrong.
private func retrying<Answer: SignedInteger>(_ call: String, _ body: () -> Answer) throws(SystemError)
  -> Answer
{
  while true {
    let answer = body()
    if answer >= 0 { return answer }
    let number = errno
    if number != EINTR { throw SystemError(call, number) }
  }
}
