import Support

/// The open preferences files of this process, so that all stores on one path share one file.
///
/// A file is identified by the bytes of its absolute path, as it is spelled. The inode wouldn't do, because it changes
/// when a compaction replaces the file. Nor would the path without symbolic links, because a link can be led elsewhere
/// at any time. Two paths to one file count as two files, and their stores wait for each other's file lock, as two
/// processes do. So do a store that trusts the folder and one that doesn't.
final class OpenFiles: Sendable {
  private struct Key: Hashable {
    let path: FilePath
    let trust: FilePreferenceStore.Folder

    init(_ location: FileLocation) { (path, trust) = (location.path, location.trust) }
  }
  private struct Reference: Sendable { weak var file: PreferencesFile? }

  private static let process = PerProcess<OpenFiles>()
  private let files = Lock<[Key: Reference]>([:])

  static var current: OpenFiles { process.object { OpenFiles() } }

  /// Returns the shared object of the file at the location, and creates the object if there is none.
  func file(at location: FileLocation) -> PreferencesFile {
    files.withLock { files in
      if let file = files[Key(location)]?.file { return file }
      let file = PreferencesFile(at: location, in: FileSystem())
      files[Key(location)] = Reference(file: file)
      return file
    }
  }

  /// Removes the entry of a file that was closed, unless the file was opened again in the meantime.
  func remove(_ location: FileLocation) {
    let successor = files.withLock { files -> PreferencesFile? in
      let successor = files[Key(location)]?.file
      if successor == nil { files[Key(location)] = nil }
      return successor
    }
    // `successor` may be the last reference to the reopened file, whose deinitializer takes the lock of `files`. The
    // reference is therefore kept until this thread has released the lock.
    withExtendedLifetime(successor) {}
  }
}
