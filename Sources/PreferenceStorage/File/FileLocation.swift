internal import Support

/// The location of a preferences file, with the check that no other user can replace the file.
struct FileLocation: Sendable {
  /// The absolute path as the program has spelled it, with its symbolic links.
  let path: FilePath
  /// The users who may be able to replace the file.
  let trust: FilePreferenceStore.Folder
  /// Whether the file is that of the standard store, whose path the environment chooses.
  let isStandard: Bool

  init(_ path: FilePath, _ trust: FilePreferenceStore.Folder = .private, isStandard: Bool = false) {
    (self.trust, self.isStandard) = (trust, isStandard)
    // A relative path stays in the folder that is the current one now.
    let folder = path.isAbsolute ? "" : (try? FileSystem().resolve(".")) ?? "."
    let names = (folder.names + path.names).filter { $0 != "." }
    self.path = path.isValid && folder != "." ? names.reduce("/") { $0.appending($1) } : path
  }

  /// Returns whether the store must not use what other users can change.
  func excludesOthers(in system: FileSystem) -> Bool { trust == .private && system.hasOtherUsers }

  /// Returns an error of opening the file, which for the standard store says how to choose another folder.
  func explaining(_ error: PreferenceError) -> PreferenceError {
    guard isStandard, error.isOfPlace else { return error }
    return PreferenceError(
      error.code, "\(error.message). \(FilePreferenceStore.variables)", path: error.path, underlying: error.underlying)
  }

  /// Follows the symbolic links of the path, checks the folder, and creates missing folders if `making` is true.
  ///
  /// If a link leads to a missing file, the file will be created at the target of the link.
  ///
  /// - Returns: The path of the file without symbolic links, and the status of the file, if there is one; nil if its
  ///   folder doesn't exist and `making` is false.
  func target(
    making: Bool, in system: FileSystem
  ) throws(PreferenceError) -> (path: FilePath, status: FileStatus?)? {
    do { return try follow(making: making, in: system) } catch {
      if let error = error as? PreferenceError { throw error }
      let error = error as? SystemError ?? .cycle
      let translate = making && error != .cycle ? PreferenceError.writing : PreferenceError.reading
      throw translate(error, path.description)
    }
  }

  private func follow(making: Bool, in system: FileSystem) throws -> (path: FilePath, status: FileStatus?)? {
    guard path.isValid else { throw SystemError("open", EINVAL) }
    func resolve(_ folder: FilePath) throws(SystemError) -> FilePath? {
      try system.ifPresent { () throws(SystemError) in try system.resolve(folder) }
    }
    var found = path
    for _ in 0..<40 {
      guard let folder = try resolve(found.folder) else {
        guard making else { return nil }
        try FileLocation.makeFolder(found.folder, in: system)
        continue
      }
      try check(folder, in: system)
      found = folder.appending(found.name)
      let status = try system.find(found)
      guard status?.kind == .link else { return (found, status) }
      found = folder.appending(try system.target(ofLink: found))
    }
    // The links form a cycle or a very long chain, or a folder on the path is a link to a missing folder.
    throw SystemError.cycle
  }
}

// MARK: Folders

extension FileLocation {
  /// Creates a folder and its missing ancestors, and synchronizes the parent of each new folder.
  private static func makeFolder(_ path: FilePath, in system: FileSystem) throws(SystemError) {
    for folder in path.ancestors + [path] {
      // Each folder is looked up first, because `mkdir` on an existing folder can also fail for lack of permission.
      if try system.find(folder) != nil { continue }
      do throws(SystemError) { try system.makeFolder(folder) } catch {
        // If the folder above is missing, it is a link to a missing folder, or has just been removed.
        if error.isTaken || error.isMissing { continue }
        throw error
      }
      try system.synchronizeFolder(folder.folder)
    }
  }

  /// Throws `.insecureFolder` if another user could replace the file.
  ///
  /// The folder and its ancestors must belong to this user, to the superuser, or to an unknown owner
  /// (`FileStatus.isOwnerUnknown`). Other users must not be able to write to them, because a user who can rename a
  /// folder on the path decides where the path leads. `sshd` has similar rules for its keys. A program that the
  /// superuser runs accepts any owner.
  ///
  /// An ancestor with the sticky bit, like `/tmp`, is safe even if all users can write to it. Write access of a group
  /// is safe if the group's ID equals the owner's user ID. By convention, only the owner is a member of this group.
  /// If the folder is trusted, nothing is checked.
  private func check(_ folder: FilePath, in system: FileSystem) throws {
    guard excludesOthers(in: system) else { return }
    let user = system.user
    for path in (folder.ancestors + [folder]).reversed() {
      let status = try system.status(atPath: path)
      let isPrivate = status.mode & 0o002 == 0 && (status.mode & 0o020 == 0 || status.group == status.user)
      if !isPrivate, path == folder || status.mode & 0o1000 == 0 {
        // A folder that all users share, such as /tmp, has to keep its permissions.
        let remedy =
          status.mode & 0o1000 != 0
          ? "choose a folder of your own in it"
          : "allow its owner only (chmod go-w \(path.description.debugDescription)), choose another, or trust those who can"
            + " write it (folder: .trusted)"
        throw PreferenceError(
          .insecureFolder, "others can write the folder, and so put another file in the place of this one; \(remedy)",
          path: path.description)
      }
      if status.isForeign(to: user) {
        throw PreferenceError(
          .insecureFolder, "the folder belongs to another user, who could replace the file; choose a folder of yours",
          path: path.description)
      }
    }
  }
}

// MARK: Companion files

extension FilePath {
  /// Returns the path of an auxiliary file in the same folder, such as `settings.preferences.rewriting`.
  ///
  /// File names have at most 255 bytes, so a long name is truncated and followed by the checksum of the whole name.
  func companion(_ suffix: String) -> FilePath { folder.appending(companionPrefix + suffix) }

  private var companionPrefix: FilePath {
    let name = self.name
    if name.bytes.count <= 200 { return name + "." }
    let checksum = Array(name.bytes).withUnsafeBytes { Line.checksum($0) }
    return FilePath(bytes: name.bytes.prefix(180)) + "-\(String(checksum, radix: 16))."
  }

  /// Returns the number at the end of a companion file's name, such as 3 for `settings.preferences.damaged-3`.
  ///
  /// The store removes an old copy of a damaged file only if this method returns a number for the name of the copy.
  ///
  /// - Returns: Nil if the name doesn't consist of the preferences file's name, the suffix, and a number, or if the
  ///   number has more than 18 digits.
  func companionNumber(of name: FilePath, _ suffix: String) -> Int? {
    let prefix = (companionPrefix + suffix).bytes
    let digits = name.bytes.dropFirst(prefix.count)
    guard name.bytes.starts(with: prefix), (1...18).contains(digits.count),
      digits.allSatisfy({ UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") })
    else { return nil }
    return digits.reduce(0) { 10 * $0 + Int($1 - UInt8(ascii: "0")) }
  }
}
