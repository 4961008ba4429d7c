import Foundation

/// A text file to which one process appends whole lines.
///
/// If a write fails, or the process is killed during a write, the file may end with an incomplete line. The incomplete
/// line is removed before the next write, so that no new line is appended to it.
struct JournalFile {
  /// The URL of the file, with symbolic links resolved.
  private let url: URL
  private var handle: FileHandle
  /// The total length of all complete lines, in bytes.
  private var length: UInt64
  /// Whether the file ends with an incomplete line.
  private var endsWithPart: Bool
  /// The complete lines that the file had when it was opened.
  let lines: Data
  /// The incomplete line at the end of the file when it was opened, or empty if there was none.
  let remainder: Data

  /// Whether the file has no lines.
  var isEmpty: Bool { length == 0 }

  /// Opens a file without changing its contents, or creates the file if it doesn't exist.
  ///
  /// - Throws: A ``JournalError`` if the file can't be opened, or is open in another process.
  init(url: URL) throws {
    self.url = url.resolvingSymlinksInPath()
    handle = try Self.lockedHandle(of: self.url)
    do {
      let contents = try handle.readToEnd() ?? Data()
      let end = contents.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? contents.startIndex
      lines = contents[..<end]
      remainder = contents[end...]
    } catch {
      throw JournalError.unusableFile(self.url.path(percentEncoded: false), "\(error)")
    }
    length = UInt64(lines.count)
    endsWithPart = !remainder.isEmpty
  }

  /// Returns the current contents of the file.
  ///
  /// - Throws: Errors of the file system.
  func contents() throws -> Data { try Data(contentsOf: url) }

  /// Appends lines, all of which the operating system has when this method returns.
  ///
  /// - Throws: ``JournalError/changed(_:)``, and errors of the file system. After an error, the file has none of the
  ///   lines, unless a part of them was written and can't be removed. The next call then tries to remove the part.
  mutating func append(_ lines: Data) throws {
    if endsWithPart { try removePart() }
    try checkFile()
    do { try handle.write(contentsOf: lines) } catch {
      endsWithPart = true
      // If the removal fails as well, the next call of `append` repeats it.
      do { try removePart() } catch {}
      throw error
    }
    length += UInt64(lines.count)
  }

  private mutating func removePart() throws {
    // Truncating also moves the file position to the new end, at which the next write begins.
    try handle.truncate(atOffset: length)
    endsWithPart = false
  }

  /// Replaces all lines, so that even a killed process leaves either the old lines or the new lines in the file.
  ///
  /// - Parameter keepsFormer: Whether the old file is kept under another name.
  /// - Returns: The URL of the old file, or nil if the old file isn't kept.
  /// - Throws: Errors of the file system. If an error occurs before the rename, the file is unchanged.
  mutating func replaceLines(with lines: Data, keepsFormer: Bool) throws -> URL? {
    try checkFile()
    let permissions = try FileManager.default.attributesOfItem(atPath: url.path(percentEncoded: false))[
      .posixPermissions]
    let new = url.appendingPathExtension("new")
    var former: URL?
    do {
      let file = try Self.lockedHandle(of: new)
      try file.truncate(atOffset: 0)
      if let permissions {
        try FileManager.default.setAttributes(
          [.posixPermissions: permissions], ofItemAtPath: new.path(percentEncoded: false))
      }
      try file.write(contentsOf: lines)
      try file.synchronize()
      if keepsFormer { former = try linkFormer() }
      guard rename(new.path(percentEncoded: false), url.path(percentEncoded: false)) == 0 else {
        throw JournalError.unusableFile(of: url)
      }
      try handle.close()
      handle = file
    } catch {
      for file in [new, former].compactMap(\.self) { try? FileManager.default.removeItem(at: file) }
      throw error
    }
    length = UInt64(lines.count)
    endsWithPart = false
    try synchronizeFolder()
    return former
  }

  /// Adds a hard link to the file, which takes no disk space, with the first free name like `NAME.damaged-1`.
  private func linkFormer() throws -> URL {
    for number in 1... {
      let copy = url.appendingPathExtension("damaged-\(number)")
      if link(url.path(percentEncoded: false), copy.path(percentEncoded: false)) == 0 { return copy }
      if errno != EEXIST { throw JournalError.unusableFile(of: copy) }
    }
    throw JournalError.unusableFile(of: url)
  }

  private func synchronizeFolder() throws {
    let folder = open(url.deletingLastPathComponent().path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { throw JournalError.unusableFile(of: url) }
    let handle = FileHandle(fileDescriptor: folder, closeOnDealloc: true)
    // Some file systems don't support synchronizing a folder, and don't need it.
    if fsync(handle.fileDescriptor) != 0, errno != EINVAL { throw JournalError.unusableFile(of: url) }
  }

  /// Writes everything to the device, and closes the file.
  ///
  /// - Throws: Errors of the file system.
  func close() throws {
    try handle.synchronize()
    try handle.close()
  }
}

// MARK: Opening

extension JournalFile {
  /// Opens a file, and locks it until it is closed.
  private static func lockedHandle(of url: URL) throws -> FileHandle {
    let path = url.path(percentEncoded: false)
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw JournalError.unusableFile(of: url) }
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try lock(descriptor, of: url)
      // Another process may have replaced the file while it held the lock.
      if isFile(at: path, of: handle) { return handle }
    }
  }

  /// Locks an open file, or throws an error if another process has kept it locked for a second.
  ///
  /// A newly forked child process shares all open files and their locks until it executes its program. A lock may
  /// therefore appear to be taken for a moment.
  private static func lock(_ descriptor: Int32, of url: URL) throws {
    for _ in 1...200 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR else { throw JournalError.unusableFile(of: url) }
      usleep(5_000)
    }
    throw JournalError.inUse(url.path(percentEncoded: false))
  }

  /// Returns whether the path still leads to the file that a handle has open.
  private static func isFile(at path: String, of handle: FileHandle) -> Bool {
    var (named, opened) = (stat(), stat())
    return stat(path, &named) == 0 && fstat(handle.fileDescriptor, &opened) == 0
      && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev
  }

  /// Throws an error if another program has removed, replaced or changed the file without holding the lock.
  private func checkFile() throws {
    let path = url.path(percentEncoded: false)
    let end = try handle.seekToEnd()
    guard Self.isFile(at: path, of: handle), end == length || endsWithPart else { throw JournalError.changed(path) }
  }
}

/// The reason that a journal can't be used.
public enum JournalError: Error, CustomStringConvertible {
  /// The file isn't a journal.
  case notAJournal(String)
  /// A later version of the program has written the file.
  case laterVersion(Int)
  /// Another process has the file open.
  case inUse(String)
  /// The file was removed, replaced or changed while it was open.
  case changed(String)
  /// The file can't be opened, read or replaced, for the reason in the second string.
  case unusableFile(String, String)
  /// The journal was closed.
  case closed

  /// Returns an error about a file, with the reason from `errno`.
  static func unusableFile(of url: URL) -> JournalError {
    .unusableFile(url.path(percentEncoded: false), String(cString: strerror(errno)))
  }

  /// A description of the problem and, for most cases, of its solution.
  public var description: String {
    switch self {
    case .notAJournal(let path): "\(path) isn't a journal of links. Choose another file."
    case .laterVersion(let version): "The journal has version \(version). Update the program."
    case .inUse(let path): "\(path) is open in another process. Stop that one first, or choose another file."
    case .changed(let path):
      "\(path) was removed, replaced or changed while it was open. Restart the program to use it as it is."
    case .unusableFile(let path, let reason): "\(path) can't be used: \(reason). Check its permissions and the disk."
    case .closed: "The journal was closed."
    }
  }
}
