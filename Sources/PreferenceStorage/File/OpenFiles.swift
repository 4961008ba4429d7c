import Support

/// The files that are open in this process, so that stores on one path share one.
///
/// They are known by their resolved path, byte for byte, and not by their inode, which changes with every compaction. Two
/// names of a file are two files here, which keep out of each other's way as two processes do.
final class OpenFiles: Sendable {
  private struct Reference: Sendable { weak var file: PreferencesFile? }

  private static let process = PerProcess<OpenFiles>()
  private let files = Lock<[FilePath: Reference]>([:])

  static var current: OpenFiles { process.object { OpenFiles() } }

  /// The file at the place, open already or to be opened.
  func file(at location: FileLocation) -> PreferencesFile {
    files.withLock { files in
      if let file = files[location.path]?.file { return file }
      let file = PreferencesFile(at: location, in: FileSystem())
      files[location.path] = Reference(file: file)
      return file
    }
  }

  /// Removes the entry of a file that was closed, unless the file was opened again in the meantime.
  func remove(_ path: FilePath) {
    let successor = files.withLock { files -> PreferencesFile? in
      let successor = files[path]?.file
      if successor == nil { files[path] = nil }
      return successor
    }
    // This may now be the last reference to the successor, whose deinitializer takes the lock.
    withExtendedLifetime(successor) {}
  }
}
