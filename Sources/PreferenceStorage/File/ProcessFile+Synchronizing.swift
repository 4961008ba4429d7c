/// What is to be synchronized once the file's lock was given back, which a synchronization doesn't need.
struct PendingSync: Sendable {
  let descriptor: Descriptor
  /// The folder whose names are to be synchronized, too.
  let folder: FilePath?
  let earlierFailure: SystemError?

  /// Nil where there is no file.
  init?(of file: LockedFile) {
    guard let descriptor = file.descriptor else { return nil }
    self.descriptor = descriptor
    folder = file.folderNeedsSync ? file.location.folder : nil
    earlierFailure = file.syncFailure
  }
}

extension ProcessFile {
  /// Returns when what was written would survive a power cut.
  func finish(_ pending: PendingSync) throws(PreferenceError) {
    do throws(SystemError) {
      if let failure = pending.earlierFailure { throw failure }
      try system.synchronize(pending.descriptor.number)
      if let folder = pending.folder { try system.synchronizeFolder(folder) }
    } catch {
      return try writeAgain(insteadOf: pending.descriptor, error)
    }
    if pending.folder != nil { noteFolderSynced(of: pending.descriptor) }
  }

  /// What a failed synchronization leaves may be anything, so everything is written again, to a new file.
  private func writeAgain(insteadOf descriptor: Descriptor, _ cause: SystemError) throws(PreferenceError) {
    do throws(PreferenceError) {
      try rewriteAfterFailedSync(of: descriptor, cause)
    } catch {
      throw PreferenceError(
        error.code == .noSpace ? .noSpace : .unwritable,
        "could not be synchronized, so the last changes may not survive a power cut, and no new file could be"
          + " written; look after the disk, then synchronize() again",
        path: path.description, underlying: error.underlying ?? cause)
    }
  }
}
