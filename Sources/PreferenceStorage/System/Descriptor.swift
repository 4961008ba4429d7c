/// An open file, closed when the last owner lets go of it.
///
/// In a forked child it stands for a file that is closed already.
final class Descriptor: Sendable {
  let number: Int32
  private let system: any FileSystem
  private let forkCount: Int

  init(_ number: Int32, of system: any FileSystem) {
    self.number = number
    self.system = system
    forkCount = system.forkCount
  }

  deinit { if forkCount == system.forkCount { system.close(number) } }

  /// Writes all the bytes at the end of the file.
  func append(_ bytes: [UInt8]) throws(SystemError) { try system.appendAll(bytes, to: number) }

  /// The bytes from one offset to another, or to where the file ends.
  func read(from start: Int, to end: Int) throws(SystemError) -> [UInt8] {
    // The empty array is one that all threads share, and filling it would write its count.
    guard start < end else { return [] }
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: end - start) { buffer, count in
      while count < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
        do throws(SystemError) {
          let read = try system.read(number, into: rest, at: start + count)
          if read == 0 { return }
          count += read
        } catch {
          failure = error
          return
        }
      }
    }
    if let failure { throw failure }
    return bytes
  }
}

extension FileSystem {
  /// Writes all the bytes at the end of an open file, in as many calls as that takes.
  ///
  /// - Throws: If a part of them, or nothing, could be written. A call that writes nothing is an error, not a reason to repeat it.
  package func appendAll(_ bytes: [UInt8], to file: Int32) throws(SystemError) {
    var start = 0
    while start < bytes.count {
      let count = try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
        try append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[start...])), to: file)
      }
      guard count > 0 else { throw SystemError.tooLarge("write") }
      start += count
    }
  }
}
