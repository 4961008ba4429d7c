internal import Support

/// The error of a system call that failed.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The call that failed, for instance `open`.
  package let call: String
  /// The error number, for instance `ENOSPC`.
  package let number: Int32

  package init(_ call: String, _ number: Int32) { (self.call, self.number) = (call, number) }

  package var description: String {
    // The result of `strerror` is Optional in some C libraries.
    let message: UnsafeMutablePointer<CChar>? = strerror(number)
    return "\(call): " + (message.map { String(cString: $0) + " (error \(number))" } ?? "error \(number)")
  }
}

// MARK: Meanings

extension PreferenceError {
  /// Returns the store's error for a system call that failed during a write.
  static func writing(_ error: SystemError, path: String) -> PreferenceError {
    let reason =
      switch error.number {
      case ENOSPC, EDQUOT: "no space is left for the change, which was not made; free some"
      case EFBIG: "the file may not grow further (ulimit -f), and the change was not made; raise the limit"
      case EACCES, EPERM, EROFS:
        "may not be written, and the change was not made; check the owner and the permissions of the file and its folder"
      default: "could not be written, and nothing was changed; try again"
      }
    return PreferenceError(error.isFull ? .noSpace : .unwritable, reason, path: path, underlying: error)
  }

  /// Returns the store's error for a system call that failed during a compaction or a repair.
  ///
  /// A failed compaction or repair loses no change.
  static func compacting(_ error: SystemError, path: String) -> PreferenceError {
    let reason =
      switch true {
      case error.number == ESTALE:
        "Another program wrote to it at the same time, or put another file in its place: try again"
      case error.isOfFixedFile:
        "No other file can take its place, for instance because it is mounted by itself, has a second name, is another"
          + " user's, or its folder may not be written. So it only grows"
      default: "That takes space for a second copy"
      }
    return PreferenceError(
      error.isFull ? .noSpace : .unwritable,
      "could not be rewritten without what is outdated or damaged; all changes are kept in the file as it is. \(reason)",
      path: path, underlying: error)
  }

  /// Returns the store's error for a synchronization that failed.
  static func synchronizing(_ error: SystemError, path: String) -> PreferenceError {
    PreferenceError(
      error.isFull ? .noSpace : .unwritable,
      "could not be synchronized, so the last changes may not survive a power failure; look after the disk, then"
        + " synchronize() again", path: path, underlying: error)
  }

  /// Returns the store's error for a system call that failed during a read.
  static func reading(_ error: SystemError, path: String) -> PreferenceError {
    let advice =
      switch error.number {
      case EACCES, EPERM: "may not be read; check the owner and the permissions of the file and its folder"
      case ELOOP: "is, or is below, a symbolic link that leads nowhere; make what it leads to, or remove it"
      case ENOTDIR: "has a file where a folder should be; choose another place"
      case ENAMETOOLONG: "is too long for a path; choose a shorter one"
      default: "could not be read, and nothing was changed; try again"
      }
    return PreferenceError(.unreadable, advice, path: path, underlying: error)
  }
}

extension SystemError {
  package var isMissing: Bool { number == ENOENT }
  var isTaken: Bool { number == EEXIST }
  /// Whether the disk, the quota or the process's file-size limit is exhausted.
  var isFull: Bool { number == ENOSPC || number == EDQUOT || number == EFBIG }
  /// Whether the error means that the file can't be replaced by another file.
  ///
  /// The file may be a mount point of its own (`EBUSY`), or the process may lack the permission to replace the file.
  var isOfFixedFile: Bool { number == EBUSY || isRefusal }
  /// Whether access was denied, perhaps only for writing.
  var isRefusal: Bool { number == EACCES || number == EPERM || number == EROFS }

  /// The error of an attempt to rewrite the file while another program changes the file.
  static var outdated: SystemError { SystemError("read", ESTALE) }
  static var cycle: SystemError { SystemError("readlink", ELOOP) }
}
