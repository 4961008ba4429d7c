import Support

/// An open file, closed with the last reference to it, except in a forked child, which may have closed it already.
final class Descriptor: Sendable {
  let number: Int32
  private let system: FileSystem
  private let forkCount = Fork.count
  /// The lock under which the file is synchronized; writers don't take it.
  private let syncTurn = Lock(())
  private let failure = Lock<SystemError?>(nil)

  init(_ number: Int32, of system: FileSystem) { (self.number, self.system) = (number, system) }

  deinit { if forkCount == Fork.count { system.close(number) } }

  /// The error of a synchronization that failed; all values have to be written again then.
  var syncFailure: SystemError? { failure.withLock(\.self) }

  /// Synchronizes the file and perhaps its folder, for one thread at a time, and never again once that has failed.
  ///
  /// The system reports lost data to the first caller only, so a later success proves nothing: neither that of another
  /// thread, nor the next one of this thread.
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

  /// Synchronizes a file that is being rewritten in place, even if an earlier synchronization has failed.
  ///
  /// A success then proves only that what was written since the failure is safe.
  func synchronizeRewriting() throws(SystemError) {
    do throws(SystemError) {
      try syncTurn.withLock { _ throws(SystemError) in try system.synchronize(number) }
    } catch {
      failure.withLock { $0 = error }
      throw error
    }
  }

  /// Forgets a failure, after the whole file was written again and synchronized.
  func noteRewritten() { failure.withLock { $0 = nil } }

  /// Returns all bytes of the file.
  func readAll() throws(SystemError) -> [UInt8] { try read(from: 0, to: system.status(of: number).size) }

  /// Returns the bytes from one offset to another, or up to the end of the file if that comes first.
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
