import Locking

/// What is to be synchronised once the file's lock was given back, which a synchronisation doesn't need.
struct PendingSync: Sendable {
  let descriptor: Descriptor
  /// The folder whose names are to be synchronised, too.
  let folder: String?
  let earlierFailure: SystemError?

  /// Nil where there is no file.
  init?(of file: borrowing PreferenceFile) {
    guard let descriptor = file.descriptor else { return nil }
    self.descriptor = descriptor
    folder = file.folderNeedsSync ? file.location.folder : nil
    earlierFailure = file.syncFailure
  }
}

extension SharedFile {
  /// Returns when what was written would survive a power cut.
  func finish(_ pending: PendingSync) throws(PreferenceError) {
    do throws(SystemError) {
      if let failure = pending.earlierFailure { throw failure }
      try system.synchronize(pending.descriptor.number)
      if let folder = pending.folder { try system.synchronizeFolder(folder) }
    } catch {
      return try writeAnew(insteadOf: pending.descriptor, error)
    }
    if pending.folder != nil {
      file.withLock { if $0.descriptor === pending.descriptor { $0.folderNeedsSync = false } }
    }
  }

  /// What a failed synchronisation leaves may be anything, so everything is written again, to a new file.
  private func writeAnew(insteadOf descriptor: Descriptor, _ cause: SystemError) throws(PreferenceError) {
    do throws(PreferenceError) {
      try file.withLock { file throws(PreferenceError) in
        if file.descriptor === descriptor { file.syncFailure = cause }
        try file.begin(.writing)
        defer { file.end() }
        if file.syncFailure != nil { try file.rewrite() }
        if file.folderNeedsSync { try file.synchronizeFolder() }
      }
    } catch {
      throw PreferenceError(
        error.code == .noSpace ? .noSpace : .unwritable,
        "could not be synchronised, so the last changes may not survive a power cut, and no new file could be"
          + " written; look after the disk, then synchronize() again",
        path: path, underlying: error.underlying ?? cause)
    }
  }
}
