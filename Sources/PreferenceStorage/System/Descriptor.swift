import Support

/// An open file, closed with the last reference to it, except in a forked child, which may have closed it already.
final class Descriptor: Sendable {
  let number: Int32
  private let system: FileSystem
  private let forkCount = Fork.count

  init(_ number: Int32, of system: FileSystem) { (self.number, self.system) = (number, system) }

  deinit { if forkCount == Fork.count { system.close(number) } }

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
