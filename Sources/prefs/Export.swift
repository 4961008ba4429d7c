import PreferenceStorage

/// A file that everything is exported to, readable by its owner only.
struct Export {
  private let target: FilePath
  private let isReplaced: Bool
  private let system = PosixFileSystem()

  /// - Throws: `UsageError` where the target is the store's own file.
  init(_ target: FilePath, insteadOf store: FilePath) throws {
    var status: FileStatus?
    var path = target
    do throws(SystemError) {
      // Through symbolic links, as every other program writes.
      path = try system.resolve(target)
      status = try system.status(atPath: path)
    } catch {
      guard error.isMissing else { throw Export.failure(error, target) }
    }
    let identity: FileIdentity
    do throws(SystemError) {
      identity = try system.status(atPath: try system.resolve(store)).snapshot.identity
    } catch {
      throw Export.failure(error, store)
    }
    if status?.snapshot.identity == identity {
      throw UsageError(message: "\(target) is the file that is exported; choose another target")
    }
    self.target = path
    isReplaced = status == nil || status?.kind == .file
  }

  /// Writes a new file and gives it the target's name, so that a reader of an older one sees all of one or of the other.
  ///
  /// What is no file, such as a device, is written to as it is.
  func write(_ text: String) throws {
    let path = isReplaced ? target + ".new-\(UInt32.random(in: 0 ... .max))" : target
    do throws(SystemError) {
      let file = try system.open(path, for: isReplaced ? .creating : .appending)
      defer { system.close(file) }
      do throws(SystemError) {
        try system.write(text, to: file)
        guard isReplaced else { return }
        try system.synchronize(file)
        try system.rename(path, to: target)
      } catch {
        if isReplaced { try system.remove(path) }
        throw error
      }
    } catch {
      throw Export.failure(error, target)
    }
  }

  private static func failure(_ error: SystemError, _ path: FilePath) -> any Error {
    PreferenceError(
      .unwritable, "nothing was exported; check that there is room, and the right to write", path: path.description,
      underlying: error)
  }
}

extension PosixFileSystem {
  /// Writes all of the text at the end of the file.
  func write(_ text: String, to file: Int32) throws(SystemError) {
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
      start += try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
        try append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[start...])), to: file)
      }
    }
  }
}
