import Support

/// An open file, which is closed when the last reference to this object is released.
///
/// A forked child doesn't close the file, because the child may have closed the descriptor already.
final class Descriptor: Sendable {
  let number: Int32
  private let system: FileSystem
  private let forkCount = Fork.count
  /// The lock that a thread holds while it synchronizes the file, so that only one thread does this at a time.
  ///
  /// Threads that write to the file don't take this lock.
  private let syncTurn = Lock(())
  private let failure = Lock<SystemError?>(nil)

  init(_ number: Int32, of system: FileSystem) { (self.number, self.system) = (number, system) }

  deinit { if !isForked { system.close(number) } }

  /// Whether this process is a forked child of the process that opened the file.
  var isForked: Bool { forkCount != Fork.count }

  /// The error of a failed synchronization of the file or its folder.
  ///
  /// It is nil if no synchronization has failed since the file was opened.
  ///
  /// After a failure, all values have to be written again.
  var syncFailure: SystemError? { failure.withLock(\.self) }

  /// Synchronizes the file and optionally its folder, for one thread at a time.
  ///
  /// After a failure, the file isn't synchronized again, and each later call throws the recorded error. The system
  /// reports lost data only to the first caller, so a later success in any thread proves nothing.
  func synchronize(withFolder folder: FilePath? = nil) throws(SystemError) {
    syncTurn.withLock { _ in
      if syncFailure != nil { return }
      do throws(SystemError) {
        try system.synchronize(number)
        if let folder { try system.synchronizeFolder(folder) }
      } catch { failure.withLock { $0 = error } }
    }
    if let syncFailure { throw syncFailure }
  }

  /// Returns all bytes of the file.
  func readAll() throws(SystemError) -> [UInt8] { try read(from: 0, to: system.status(of: number).size) }

  /// Returns the bytes from one offset to another, or up to the end of the file if the file is shorter.
  ///
  /// - Throws: The error of the failed call, or `EFBIG` for 4 GiB or more.
  func read(from start: Int, to end: Int) throws(SystemError) -> [UInt8] {
    guard end - start < 1 << 32 else { throw SystemError("read", EFBIG) }
    var bytes = [UInt8](repeating: 0, count: max(0, end - start))
    var count = 0
    while count < bytes.count {
      let read = try bytes.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
        try system.read(
          number, into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...])),
          at: start + count)
      }
      if read == 0 { return Array(bytes[..<count]) }
      count += read
    }
    return bytes
  }
}
