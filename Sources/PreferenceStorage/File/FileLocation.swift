/// Where a preferences file really is, and whether it is safe there.
struct FileLocation: Sendable, Hashable {
  /// Absolute, without a symbolic link in it.
  private(set) var path: FilePath
  /// False while it isn't known where the path leads.
  private var isResolved: Bool
  /// The folders were found to be safe, and nothing was opened since.
  private var isChecked: Bool

  var folder: FilePath { path.folder }

  /// A place that is to be resolved later, when that can be done.
  init(unresolved path: FilePath) {
    self.path = path
    isResolved = false
    isChecked = false
  }

  /// Follows symbolic links, once and for all.
  ///
  /// A link that leads nowhere is where the file is going to be made.
  ///
  /// - Parameters:
  ///   - path: Where the file is, or is going to be.
  ///   - makesFolder: Whether folders that are missing are made, for their owner only. If not, the place is resolved when
  ///     there is a folder.
  ///   - system: The system's files.
  init(resolving path: FilePath, makingFolder makesFolder: Bool = true, in system: any FileSystem)
    throws(PreferenceError)
  {
    self.path = path
    isResolved = true
    isChecked = true
    try reading { () throws in
      guard path.isValid else { throw SystemError("open", SystemError.invalid) }
      for _ in 0..<40 {
        guard let resolved = try FileLocation.resolve(self.path.folder, in: system) else {
          guard makesFolder else { return self = FileLocation(unresolved: path) }
          try FileLocation.makeFolder(self.path.folder, in: system)
          continue
        }
        try FileLocation.check(resolved, in: system)
        self.path = resolved.appending(self.path.name)
        guard try FileLocation.isLink(self.path, in: system) else { return }
        self.path = resolved.appending(try system.target(ofLink: self.path))
      }
      throw SystemError.cycle
    }
  }

  /// Finds out before a file is opened whether that is still safe, and makes its folder again if it is to be written to.
  ///
  /// False if there is no folder.
  mutating func prepare(makingFolder: Bool, in system: any FileSystem) throws(PreferenceError) -> Bool {
    if !isResolved { self = try FileLocation(resolving: path, makingFolder: makingFolder, in: system) }
    if !isResolved { return false }
    defer { isChecked = false }
    if isChecked { return true }
    return try reading {
      if makingFolder { try FileLocation.makeFolder(folder, in: system) }
      do {
        try FileLocation.check(try system.resolve(folder), in: system)
        return true
      } catch let error as SystemError where error.isMissing {
        return false
      }
    }
  }

  private func reading<Result>(_ body: () throws -> Result) throws(PreferenceError) -> Result {
    do {
      return try body()
    } catch let error as SystemError {
      throw .reading(error, path: path.description)
    } catch let error as PreferenceError {
      throw error
    } catch {
      throw PreferenceError(.unreadable, "could not be found", path: path.description, underlying: error)
    }
  }

  /// The folder's path without links; nil if there is none.
  private static func resolve(_ folder: FilePath, in system: any FileSystem) throws(SystemError) -> FilePath? {
    do {
      return try system.resolve(folder)
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  private static func isLink(_ path: FilePath, in system: any FileSystem) throws(SystemError) -> Bool {
    do {
      return try system.status(atPath: path).kind == .link
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }
}

extension FileLocation {
  /// Makes a folder and those above it, and sees to it that the names of the new ones would survive a power cut.
  private static func makeFolder(_ path: FilePath, hasParent: Bool = false, in system: any FileSystem) throws {
    do throws(SystemError) {
      try system.makeFolder(path, owner: try owner(in: path.folder, of: system))
      try system.synchronizeFolder(path.folder)
    } catch {
      if error.isTaken { return try checkLink(path, in: system) }
      if error.isMissing, path.folder != path, !hasParent {
        try makeFolder(path.folder, in: system)
        return try makeFolder(path, hasParent: true, in: system)
      }
      // A folder that is there need not be one that we may make another in.
      do {
        _ = try system.status(atPath: path)
      } catch let statusError {
        throw statusError.isMissing ? error : statusError
      }
    }
  }

  /// Throws if what is at the path is a link that leads nowhere, in which no folder can be made.
  private static func checkLink(_ path: FilePath, in system: any FileSystem) throws {
    guard try isLink(path, in: system), try resolve(path, in: system) == nil else { return }
    throw PreferenceError(
      .unreadable,
      "is a symbolic link that leads nowhere, so nothing can be kept in it. Make the folder that it leads to, or mount what"
        + " that is on, or remove the link", path: path.description)
  }

  /// To whom what the superuser makes in the folder is to belong; nil if that is the process's user.
  static func owner(in folder: FilePath, of system: any FileSystem) throws(SystemError) -> FileOwner? {
    guard system.user == 0 else { return nil }
    let owner = try system.status(atPath: folder).owner
    return owner.user == 0 || system.isUnknown(owner.user) ? nil : owner
  }

  /// Throws if another user could put a file of theirs in the place of ours.
  ///
  /// In the folder itself no other user may write. Nor in those above it, as `sshd` demands it for its keys: who can
  /// rename one of them decides what the path leads to. Folders with the sticky bit, like `/tmp`, are safe, as only the
  /// owner of what is in them can rename it; so are those that the group can write which has the owner alone in it, by the
  /// convention that its number is the owner's.
  private static func check(_ folder: FilePath, in system: any FileSystem) throws {
    guard system.hasOtherUsers else { return }
    let status = try system.status(atPath: folder)
    if status.mode & 0o022 != 0 { throw insecure(folder, "others can write the folder, and so replace the file") }
    try checkOwner(status, of: folder, in: system)
    for ancestor in folder.ancestors where ancestor != folder {
      let status = try system.status(atPath: ancestor)
      let isPrivate = status.mode & 0o002 == 0 && (status.mode & 0o020 == 0 || status.owner.group == status.owner.user)
      if !isPrivate, status.mode & 0o1000 == 0 {
        throw insecure(ancestor, "others can write the folder, and so put another one in the place of \(folder)")
      }
      try checkOwner(status, of: ancestor, in: system)
    }
  }

  private static func checkOwner(
    _ status: FileStatus, of folder: FilePath, in system: any FileSystem
  ) throws(PreferenceError) {
    let (user, owner) = (system.user, status.owner.user)
    if owner == user || owner == 0 || user == 0 || system.isUnknown(owner) { return }
    throw PreferenceError(
      .insecureFolder,
      "the folder belongs to another user, who could replace the file; choose a folder of yours",
      path: folder.description)
  }

  private static func insecure(_ folder: FilePath, _ reason: String) -> PreferenceError {
    PreferenceError(
      .insecureFolder, "\(reason); allow its owner only (chmod go-w \(folder)) or choose another",
      path: folder.description)
  }
}

extension FileLocation {
  /// The path of a file that is kept beside this one: `settings.preferences.new-…`.
  ///
  /// A file's name has at most 255 bytes. What would be longer has a part of the name, and its checksum.
  func companion(_ suffix: String) -> FilePath { folder.appending(companionPrefix + suffix) }

  private var companionPrefix: FilePath {
    let name = path.name
    if name.bytes.count <= 200 { return name + "." }
    let checksum = Array(name.bytes).withUnsafeBytes { Line.checksum($0) }
    return FilePath(bytes: name.bytes.prefix(180)) + "-\(String(checksum, radix: 16))."
  }

  /// Whether it is a name that a compaction of this file gives: nothing else may be removed.
  func isLeftover(_ name: FilePath) -> Bool {
    let prefix = companionPrefix + "new-"
    guard name.bytes.starts(with: prefix.bytes) else { return false }
    let numbers = name.bytes.dropFirst(prefix.bytes.count).split(
      separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return numbers.count == 2
      && numbers.allSatisfy {
        !$0.isEmpty && $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }
}
