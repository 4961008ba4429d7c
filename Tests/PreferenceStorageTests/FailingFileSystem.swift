import Synchronization

@testable import PreferenceStorage

/// A file system on which one call fails, or all calls from that one on.
///
/// `@unchecked Sendable`: `calls`, `isOn`, `failNextWrite` and `bytes` are atomic, and nothing else changes.
final class FailingFileSystem: FileSystem, @unchecked Sendable {
  enum Failure: Sendable {
    case error(Int32)
    /// A write or a read transfers only a part; other calls succeed.
    case shortened
    /// A write transfers only a part, and the next write fails with the error.
    case shortenedThenError(Int32)
  }

  private let base: FileSystem
  private let failure: Failure
  private let first: Int
  private let isLasting: Bool
  private let calls = Atomic<Int>(0)
  private let isOn = Atomic<Bool>(true)
  private let failNextWrite = Atomic<Bool>(false)
  private let bytes = Atomic<Int>(0)

  /// Creates a file system on which the call with this number fails, counted from 0, and with `isLasting` every later
  /// call, too.
  init(_ base: FileSystem, failing first: Int, with failure: Failure, isLasting: Bool) {
    self.base = base
    self.failure = failure
    self.first = first
    self.isLasting = isLasting
  }

  var callCount: Int { calls.load(ordering: .relaxed) }

  /// The number of bytes that were read.
  var bytesRead: Int { bytes.load(ordering: .relaxed) }

  /// Lets all calls from now on succeed.
  func heal() { isOn.store(false, ordering: .relaxed) }

  /// Whether the current call fails.
  private var isFailing: Bool {
    guard isOn.load(ordering: .relaxed) else { return false }
    let number = calls.add(1, ordering: .relaxed).oldValue
    return isLasting ? number >= first : number == first
  }

  private func step(_ call: String) throws(SystemError) {
    guard isFailing else { return }
    if case .error(let number) = failure { throw SystemError(call, number) }
  }

  override func append(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SystemError) -> Int {
    try write(bytes) { bytes throws(SystemError) in try base.append(bytes, to: file) }
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, by write: (UnsafeRawBufferPointer) throws(SystemError) -> Int
  ) throws(SystemError) -> Int {
    if failNextWrite.exchange(false, ordering: .relaxed), case .shortenedThenError(let number) = failure {
      throw SystemError("write", number)
    }
    guard isFailing else { return try write(bytes) }
    if case .error(let number) = failure { throw SystemError("write", number) }
    if case .shortenedThenError = failure { failNextWrite.store(true, ordering: .relaxed) }
    return try write(UnsafeRawBufferPointer(rebasing: bytes.prefix(max(1, bytes.count / 2))))
  }

  override func read(
    _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    bytes.add(buffer.count, ordering: .relaxed)
    guard isFailing else { return try base.read(file, into: buffer, at: offset) }
    if case .error(let number) = failure { throw SystemError("read", number) }
    let half = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(max(1, buffer.count / 2)))
    return try base.read(file, into: half, at: offset)
  }

  override func open(_ path: FilePath, for access: FileAccess) throws(SystemError) -> Int32 {
    try step("open")
    return try base.open(path, for: access)
  }

  override func close(_ file: Int32) { base.close(file) }

  override func status(atPath path: FilePath) throws(SystemError) -> FileStatus {
    try step("lstat")
    return try base.status(atPath: path)
  }

  override func status(of file: Int32) throws(SystemError) -> FileStatus {
    try step("fstat")
    return try base.status(of: file)
  }

  override func snapshot(atPath path: FilePath) throws(SystemError) -> FileStatus {
    try step("statx")
    return try base.snapshot(atPath: path)
  }

  override func truncate(_ file: Int32, to length: Int) throws(SystemError) {
    try step("ftruncate")
    try base.truncate(file, to: length)
  }

  override func setMode(_ mode: UInt32, of file: Int32) throws(SystemError) {
    try step("fchmod")
    try base.setMode(mode, of: file)
  }

  override func tryLock(_ file: Int32) throws(SystemError) -> Bool {
    try step("flock")
    return try base.tryLock(file)
  }

  override func unlock(_ file: Int32) { base.unlock(file) }

  override func synchronize(_ file: Int32) throws(SystemError) {
    try step("fdatasync")
    try base.synchronize(file)
  }

  override func synchronizeFolder(_ path: FilePath) throws(SystemError) {
    try step("fsync")
    try base.synchronizeFolder(path)
  }

  override func rename(_ path: FilePath, to newPath: FilePath) throws(SystemError) {
    try step("rename")
    try base.rename(path, to: newPath)
  }

  override func remove(_ path: FilePath) throws(SystemError) {
    try step("unlink")
    try base.remove(path)
  }

  override func makeFolder(_ path: FilePath) throws(SystemError) {
    try step("mkdir")
    try base.makeFolder(path)
  }

  override func names(inFolder path: FilePath) throws(SystemError) -> [FilePath] {
    try step("opendir")
    return try base.names(inFolder: path)
  }

  override func target(ofLink path: FilePath) throws(SystemError) -> FilePath {
    try step("readlink")
    return try base.target(ofLink: path)
  }

  override func resolve(_ path: FilePath) throws(SystemError) -> FilePath {
    try step("realpath")
    return try base.resolve(path)
  }

  override func watch(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) -> FileWatch? {
    base.watch(path, onEvent: onEvent)
  }

  override var user: UInt32 { base.user }
  override var hasOtherUsers: Bool { base.hasOtherUsers }
}
