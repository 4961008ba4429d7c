internal import Support

/// The location of a preferences file, with the check that no other user can replace the file.
struct FileLocation: Sendable {
  /// The path of the file, which is absolute and without symbolic links once it is resolved.
  private(set) var path: FilePath
  /// Whether the path is resolved, which is possible only if the folder exists.
  private var isResolved = false

  var folder: FilePath { path.folder }

  init(_ path: FilePath) { self.path = path }

  /// Resolves the path before the file is opened, checks the folders, and if `making` is true, creates missing ones.
  ///
  /// Symbolic links are resolved the first time only. If one leads to a missing file, the file will be created there.
  ///
  /// - Returns: False if the folder doesn't exist and isn't to be created.
  mutating func prepare(making: Bool, in system: FileSystem) throws(PreferenceError) -> Bool {
    do {
      return try resolve(making: making, in: system)
    } catch {
      if let error = error as? PreferenceError { throw error }
      let error = error as? SystemError ?? .cycle
      let translate = making && error != .cycle ? PreferenceError.writing : PreferenceError.reading
      throw translate(error, path.description)
    }
  }

  private mutating func resolve(making: Bool, in system: FileSystem) throws -> Bool {
    guard path.isValid else { throw SystemError("open", EINVAL) }
    var found = path
    for _ in 0..<40 {
      guard let folder = try system.ifPresent({ () throws(SystemError) in try system.resolve(found.folder) }) else {
        guard making else { return false }
        try FileLocation.makeFolder(found.folder, in: system)
        continue
      }
      try FileLocation.check(folder, in: system)
      if isResolved { return true }
      found = folder.appending(found.name)
      guard try system.find(found)?.kind == .link else {
        (path, isResolved) = (found, true)
        return true
      }
      found = folder.appending(try system.target(ofLink: found))
    }
    // The links form a cycle or a very long chain, or the folder is a link to a folder that doesn't exist.
    throw SystemError.cycle
  }
}

// MARK: Folders

extension FileLocation {
  /// Creates a folder and its missing ancestors, and synchronizes each folder in which a new one was created.
  private static func makeFolder(_ path: FilePath, in system: FileSystem) throws(SystemError) {
    for folder in path.ancestors + [path] {
      // Creating a folder that exists can fail for lack of permission, so each folder is looked up first.
      if try system.find(folder) != nil { continue }
      do throws(SystemError) { try system.makeFolder(folder) } catch {
        if error.isTaken { continue }
        throw error
      }
      try system.synchronizeFolder(folder.folder)
    }
  }

  /// Throws `.insecureFolder` if another user could replace the file.
  ///
  /// No other user may be able to write to the folder or to one above it, as `sshd` demands for its keys: a user who
  /// can rename one of them decides where the path leads. A folder above with the sticky bit, like `/tmp`, is safe. So
  /// is a folder that its owner's private group can write to, the group whose ID is, by convention, the user ID.
  private static func check(_ folder: FilePath, in system: FileSystem) throws {
    guard system.hasOtherUsers else { return }
    for path in (folder.ancestors + [folder]).reversed() {
      let status = try system.status(atPath: path)
      let isPrivate = status.mode & 0o002 == 0 && (status.mode & 0o020 == 0 || status.group == status.user)
      if !isPrivate, path == folder || status.mode & 0o1000 == 0 {
        throw PreferenceError(
          .insecureFolder,
          "others can write the folder, and so put another file in the place of this one; allow its owner only"
            + " (chmod go-w \(path.description.debugDescription)) or choose another", path: path.description)
      }
      if status.isForeign(to: system.user) {
        throw PreferenceError(
          .insecureFolder, "the folder belongs to another user, who could replace the file; choose a folder of yours",
          path: path.description)
      }
    }
  }
}

// MARK: Companion files

extension FileLocation {
  /// Returns the path of a file that belongs beside this one, such as `settings.preferences.rewriting`.
  ///
  /// File names have at most 255 bytes, so a long name is truncated and followed by the checksum of the whole name.
  func companion(_ suffix: String) -> FilePath { folder.appending(companionPrefix + suffix) }

  private var companionPrefix: FilePath {
    let name = path.name
    if name.bytes.count <= 200 { return name + "." }
    let checksum = Array(name.bytes).withUnsafeBytes { Line.checksum($0) }
    return FilePath(bytes: name.bytes.prefix(180)) + "-\(String(checksum, radix: 16))."
  }

  /// Returns whether the name is one that `companion` returns, followed by a number; only such files may be removed.
  func isCompanion(_ name: FilePath, _ suffix: String) -> Bool {
    let prefix = (companionPrefix + suffix).bytes
    let number = name.bytes.dropFirst(prefix.count)
    return name.bytes.starts(with: prefix) && !number.isEmpty
      && number.allSatisfy { UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") }
  }
}
