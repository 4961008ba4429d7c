/// What a system call answered when it failed.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The call that failed, for instance `open`.
  package let call: String
  /// The error number, for instance `ENOSPC`.
  package let number: Int32

  package init(_ call: String, _ number: Int32) {
    self.call = call
    self.number = number
  }

  package var description: String { "\(call): \(PosixFileSystem.message(for: number))" }
}
