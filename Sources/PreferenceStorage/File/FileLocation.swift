internal import Support

/// The location of a preferences file, with the check that no other user can replace the file.
struct FileLocation: Sendable {
  /// The path of the file, which is absolute and free of symbolic links after it has been resolved.
  private(set) var path: FilePath
  /// Whether `path` is completely resolved, which is possible only once its folder exists.
  private var isResolved = false
  /// A missing folder that is the target of a symbolic link on the path, or the first missing ancestor of the target.
  ///
  /// It is nil if no symbolic link to a missing folder was found.
  private var missingTarget: FilePath?

  var folder: FilePath { path.folder }

  /// The path as the program has passed it, for error messages about symbolic links.
  private let spelledPath: FilePath

  init(_ path: FilePath) { (self.path, spelledPath) = (path, path) }

  /// Resolves the path before the file is opened, checks its folders, and creates missing folders if `making` is true.
  ///
  /// Symbolic links are followed even if the folder doesn't exist yet, so that all stores on a path share one file. If
  /// a link leads to a missing file, the file will be created at the target of the link. A resolved path stays the
  /// same while its folder exists.
  ///
  /// - Returns: False if the folder doesn't exist and `making` is false; otherwise, true.
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
        try followLinks(in: system)
        guard making else { return false }
        if let missingTarget, try system.find(missingTarget) == nil {
          throw PreferenceError.reading(.cycle, path: spelledPath.description)
        }
        found = path
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
    // The links form a cycle or a very long chain.
    throw SystemError.cycle
  }

  /// Resolves the symbolic links in `path`, if it is absolute, up to the first missing folder or file.
  private mutating func followLinks(in system: FileSystem) throws(SystemError) {
    guard path.isAbsolute else { return }
    var (found, rest): (FilePath, [FilePath]) = ("/", path.names)
    var (linkCount, countAfterLink) = (0, Int.max)
    while !rest.isEmpty {
      let name = rest.removeFirst()
      if name == ".." { found = found.folder }
      if name == "." || name == ".." { continue }
      let next = found.appending(name)
      guard let status = try system.find(next) else {
        // Nothing exists below the missing `next`, so the remaining names can't be links, unless a `..` is among them.
        // If a symbolic link to a folder leads to `next` or to a folder below `next`, the link's target is missing.
        // Then `resolve` throws an error instead of creating `next`.
        if rest.count >= countAfterLink { missingTarget = next }
        path = rest.reduce(next) { $0.appending($1) }
        return
      }
      guard status.kind == .link else {
        found = next
        continue
      }
      linkCount += 1
      guard linkCount <= 40 else { throw SystemError.cycle }
      if !rest.isEmpty { countAfterLink = min(countAfterLink, rest.count) }
      let target = try system.target(ofLink: next)
      if target.isAbsolute { found = "/" }
      rest = target.names + rest
    }
    path = found
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
        if error.isTaken { continue }
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
  private static func check(_ folder: FilePath, in system: FileSystem) throws {
    guard system.hasOtherUsers else { return }
    for path in (folder.ancestors + [folder]).reversed() {
      let status = try system.status(atPath: path)
      let isPrivate = status.mode & 0o002 == 0 && (status.mode & 0o020 == 0 || status.group == status.user)
      if !isPrivate, path == folder || status.mode & 0o1000 == 0 {
        // A folder that all users share, such as /tmp, has to keep its permissions.
        let remedy =
          status.mode & 0o1000 != 0
          ? "choose a folder of your own in it"
          : "allow its owner only (chmod go-w \(path.description.debugDescription)) or choose another"
        throw PreferenceError(
          .insecureFolder, "others can write the folder, and so put another file in the place of this one; \(remedy)",
          path: path.description)
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
  /// Returns the path of an auxiliary file in the same folder, such as `settings.preferences.rewriting`.
  ///
  /// File names have at most 255 bytes, so a long name is truncated and followed by the checksum of the whole name.
  func companion(_ suffix: String) -> FilePath { folder.appending(companionPrefix + suffix) }

  private var companionPrefix: FilePath {
    let name = path.name
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
