/// Where a preferences file really is, and whether it is safe there.
struct FileLocation: Sendable {
  /// The path; absolute and without a symbolic link once it is resolved.
  private(set) var path: FilePath
  /// False while there is no folder.
  private var isResolved = false
  /// The folders were found to be safe, and nothing was opened since.
  private var isChecked = false

  var folder: FilePath { path.folder }

  /// A place that is to be resolved when the file is opened.
  init(_ path: FilePath) { self.path = path }

  /// Finds out before a file is opened where that is and whether it is safe, and makes its folder if it is to be written to.
  ///
  /// Symbolic links are followed once and for all. A link that leads nowhere is where the file is going to be made.
  ///
  /// - Returns: False if there is no folder.
  mutating func prepare(making: Bool, in system: any FileSystem) throws(PreferenceError) -> Bool {
    do {
      if isResolved, !isChecked {
        if making { try FileLocation.makeFolder(folder, in: system) }
        guard let resolved = try FileLocation.resolve(folder, in: system) else { return false }
        try FileLocation.check(resolved, in: system)
        return true
      }
      if !isResolved { try resolve(making: making, in: system) }
      isChecked = false
      return isResolved
    } catch let error as SystemError {
      let isWriting = making && error != SystemError.cycle
      throw isWriting ? .writing(error, path: path.description) : .reading(error, path: path.description)
    } catch let error as PreferenceError {
      throw error
    } catch {
      throw PreferenceError(.unreadable, "could not be found", path: path.description, underlying: error)
    }
  }

  private mutating func resolve(making: Bool, in system: any FileSystem) throws {
    guard path.isValid else { throw SystemError("open", SystemError.invalid) }
    var found = path
    for _ in 0..<40 {
      guard let folder = try FileLocation.resolve(found.folder, in: system) else {
        guard making else { return }
        try FileLocation.makeFolder(found.folder, in: system)
        continue
      }
      try FileLocation.check(folder, in: system)
      found = folder.appending(found.name)
      guard try FileLocation.isLink(found, in: system) else {
        (path, isResolved, isChecked) = (found, true, true)
        return
      }
      found = folder.appending(try system.target(ofLink: found))
    }
    // A folder's link leads to itself, or to nothing that could be made.
    throw SystemError.cycle
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

// MARK: Folders

extension FileLocation {
  /// Makes a folder and those above it, and sees to it that the names of the new ones would survive a power cut.
  private static func makeFolder(_ path: FilePath, in system: any FileSystem) throws(SystemError) {
    for folder in path.ancestors + [path] {
      do throws(SystemError) {
        // A folder that is there need not be one that we may make another in.
        _ = try system.status(atPath: folder)
      } catch {
        guard error.isMissing else { throw error }
        do throws(SystemError) {
          try system.makeFolder(folder, owner: try owner(in: folder.folder, of: system))
        } catch {
          if error.isTaken { continue }
          throw error
        }
        try system.synchronizeFolder(folder.folder)
      }
    }
  }

  /// To whom what the superuser makes in the folder is to belong; nil if that is the process's user.
  static func owner(in folder: FilePath, of system: any FileSystem) throws(SystemError) -> FileOwner? {
    guard system.user == 0 else { return nil }
    let owner = try system.status(atPath: folder).owner
    return owner.user == 0 || system.isUnknown(owner.user) ? nil : owner
  }

  /// Throws if another user could put a file of theirs in the place of ours.
  ///
  /// In the folder itself and in those above it no other user may write, as `sshd` demands it for its keys: who can rename
  /// one of them decides what the path leads to. Those above it that have the sticky bit, like `/tmp`, are safe, as only the
  /// owner of what is in them can rename it; so are those that the group can write which has the owner alone in it, by the
  /// convention that its number is the owner's.
  private static func check(_ folder: FilePath, in system: any FileSystem) throws {
    guard system.hasOtherUsers else { return }
    for path in (folder.ancestors + [folder]).reversed() {
      let status = try system.status(atPath: path)
      let (mode, owner, user) = (status.mode, status.owner, system.user)
      let isPrivate = mode & 0o002 == 0 && (mode & 0o020 == 0 || owner.group == owner.user)
      if !isPrivate, path == folder || mode & 0o1000 == 0 {
        throw PreferenceError(
          .insecureFolder,
          "others can write the folder, and so put another file in the place of this one; allow its owner only"
            + " (chmod go-w \(path)) or choose another", path: path.description)
      }
      if owner.user == user || owner.user == 0 || user == 0 || system.isUnknown(owner.user) { continue }
      throw PreferenceError(
        .insecureFolder,
        "the folder belongs to another user, who could replace the file; choose a folder of yours",
        path: path.description)
    }
  }
}

// MARK: Files beside it

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

  /// Whether it is a name that `companion` gives, with so many numbers after the suffix: nothing else may be removed.
  func isCompanion(_ name: FilePath, _ suffix: String, numbers: Int) -> Bool {
    let prefix = companionPrefix + suffix
    guard name.bytes.starts(with: prefix.bytes) else { return false }
    let parts = name.bytes.dropFirst(prefix.bytes.count).split(
      separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.count == numbers
      && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") } }
  }
}
