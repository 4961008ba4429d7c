import Foundation

/// A text file to which one process appends whole lines.
///
/// If a write fails or the process is killed during one, the file may end with a part of a line. The part is removed
/// before the next write, so that no line is appended to it.
struct JournalFile {
  /// The file, with its links followed.
  private let url: URL
  private var handle: FileHandle
  /// The total length in bytes of the lines that were written completely.
  private var length: UInt64
  /// Whether the file ends with a part of a line.
  private var endsWithPart: Bool
  /// The lines at the time when the file was opened.
  let lines: Data
  /// The part of a line after the last whole line; empty unless a write was cut off.
  let remainder: Data

  /// Whether the file has no lines.
  var isEmpty: Bool { length == 0 }

  /// Opens a file, which is created if it doesn't exist, and changes nothing in it.
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

  /// Appends lines: when this returns, the system has all of them; if it throws, none.
  ///
  /// - Throws: ``JournalError/changed(_:)``, and errors of the file system.
  mutating func append(_ lines: Data) throws {
    if endsWithPart { try removePart() }
    try checkFile()
    do { try handle.write(contentsOf: lines) } catch {
      endsWithPart = true
      // If this fails as well, the next call tries again.
      do { try removePart() } catch {}
      throw error
    }
    length += UInt64(lines.count)
  }

  private mutating func removePart() throws {
    // This is also where the next write begins.
    try handle.truncate(atOffset: length)
    endsWithPart = false
  }

  /// Replaces all lines: if the process is killed meanwhile, the file has either the former lines or the new ones.
  ///
  /// - Parameter keepsFormer: Whether the former file is kept beside the new one.
  /// - Returns: The former file, if it is kept.
  /// - Throws: Errors of the file system; the file then is as it was.
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

  /// Gives the file a second name, `NAME.damaged-1` or the next one that is free, which takes no space.
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
    // Some file systems don't support this, and don't need it.
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
      // The process that had the lock may have replaced the file in the meantime.
      if isFile(at: path, of: handle) { return handle }
    }
  }

  /// Locks an open file, or throws an error if another process has kept it locked for a second.
  ///
  /// A process that this one has just started has a copy of each open file, and of its lock, until its program begins.
  private static func lock(_ descriptor: Int32, of url: URL) throws {
    for _ in 1...200 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      guard errno == EWOULDBLOCK || errno == EINTR else { throw JournalError.unusableFile(of: url) }
      usleep(5_000)
    }
    throw JournalError.inUse(url.path(percentEncoded: false))
  }

  /// Whether the path still leads to an open file.
  private static func isFile(at path: String, of handle: FileHandle) -> Bool {
    var (named, opened) = (stat(), stat())
    return stat(path, &named) == 0 && fstat(handle.fileDescriptor, &opened) == 0
      && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev
  }

  /// Throws an error if another program has removed, replaced or changed the file without the lock.
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
  /// The file can't be opened, read or replaced, for a reason that the system names.
  case unusableFile(String, String)
  /// The journal was closed.
  case closed

  /// Returns an error about a file, with the reason from `errno`.
  static func unusableFile(of url: URL) -> JournalError {
    .unusableFile(url.path(percentEncoded: false), String(cString: strerror(errno)))
  }

  /// A sentence on what happened, and one on what to do.
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
