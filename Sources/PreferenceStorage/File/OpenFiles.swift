import Locking

/// The files that are open in this process, so that stores on one path share one.
///
/// They are known by their resolved path and not by their inode, which changes with every compaction: two hard links
/// are two files here, which keep out of each other's way as two processes do.
enum OpenFiles {
  private struct Reference: Sendable {
    weak var file: SharedFile?
  }

  private static let files = Lock<[FileLocation: Reference]>([:])

  /// The file at the place, open already or to be opened.
  static func file(at location: FileLocation, in system: any FileSystem) -> SharedFile {
    files.withLock { files in
      if let file = files[location]?.file { return file }
      files = files.filter { $0.value.file != nil }
      let file = SharedFile(at: location, in: system)
      files[location] = Reference(file: file)
      return file
    }
  }
}
