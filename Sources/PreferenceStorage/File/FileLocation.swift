internal import Support

/// The place of a preferences file, and whether it is safe there.
struct FileLocation: Sendable {
  /// The path; absolute and without a symbolic link once it is resolved.
  private(set) var path: FilePath
  /// Whether the path is resolved, for which the folder has to exist.
  private var isResolved = false

  var folder: FilePath { path.folder }

  init(_ path: FilePath) { self.path = path }

  /// Finds the place before the file is opened, checks that it is safe, and makes the folder if the file is to be written.
  ///
  /// Symbolic links are followed once and for all. A link that leads nowhere is where the file is going to be made.
  ///
  /// - Returns: False if the folder doesn't exist.
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
    // A folder's link leads to itself, or to nothing that could be made.
    throw SystemError.cycle
  }
}

// MARK: Folders

extension FileLocation {
  /// Makes a folder and those above it, and synchronizes the folders that have new names in them.
  private static func makeFolder(_ path: FilePath, in system: FileSystem) throws(SystemError) {
    for folder in path.ancestors + [path] {
      // Nothing may be made in some folders that exist, so each is looked for first.
      if try system.find(folder) != nil { continue }
      do throws(SystemError) { try system.makeFolder(folder) } catch {
        if error.isTaken { continue }
        throw error
      }
      try system.synchronizeFolder(folder.folder)
    }
  }

  /// Throws if another user could put a file of theirs in the place of ours.
  ///
  /// No other user may write in the folder or in one above it, as `sshd` demands for its keys: a user who can rename one of
  /// them decides what the path leads to. A folder above it that has the sticky bit, like `/tmp`, is safe, and so is one that
  /// only its owner's own group can write, which has the owner's number by convention.
  private static func check(_ folder: FilePath, in system: FileSystem) throws {
    guard system.hasOtherUsers else { return }
    for path in (folder.ancestors + [folder]).reversed() {
      let status = try system.status(atPath: path)
      let isPrivate = status.mode & 0o002 == 0 && (status.mode & 0o020 == 0 || status.group == status.user)
      if !isPrivate, path == folder || status.mode & 0o1000 == 0 {
        throw PreferenceError(
          .insecureFolder,
          "others can write the folder, and so put another file in the place of this one; allow its owner only"
            + " (chmod go-w \(path)) or choose another", path: path.description)
      }
      if status.isForeign(to: system.user) {
        throw PreferenceError(
          .insecureFolder, "the folder belongs to another user, who could replace the file; choose a folder of yours",
          path: path.description)
      }
    }
  }
}

// MARK: Files beside it

extension FileLocation {
  /// The path of a file that is kept beside this one: `settings.preferences.rewriting`.
  ///
  /// A file's name has at most 255 bytes. A longer one is cut, and has the checksum of the whole name.
  func companion(_ suffix: String) -> FilePath { folder.appending(companionPrefix + suffix) }

  private var companionPrefix: FilePath {
    let name = path.name
    if name.bytes.count <= 200 { return name + "." }
    let checksum = Array(name.bytes).withUnsafeBytes { Line.checksum($0) }
    return FilePath(bytes: name.bytes.prefix(180)) + "-\(String(checksum, radix: 16))."
  }

  /// Whether it is a name that `companion` gives, with a number after the suffix: nothing else may be removed.
  func isCompanion(_ name: FilePath, _ suffix: String) -> Bool {
    let prefix = (companionPrefix + suffix).bytes
    let number = name.bytes.dropFirst(prefix.count)
    return name.bytes.starts(with: prefix) && !number.isEmpty
      && number.allSatisfy { UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") }
  }
}
