/// Where a preferences file really is, and whether it is safe there.
struct FileLocation: Sendable, Hashable {
  /// Absolute, without a symbolic link in it.
  let path: String
  /// False while it isn't known where the path leads.
  let isResolved: Bool

  var folder: String { FileLocation.folder(of: path) }

  /// A place that is to be resolved later, when that can be done.
  init(unresolved path: String) {
    self.path = path
    isResolved = false
  }

  /// Follows symbolic links, once and for all, and makes the folders that are missing, for their owner only.
  ///
  /// A link that leads nowhere is where the file is going to be made.
  init(resolving path: String, in system: any FileSystem) throws(PreferenceError) {
    var path = path
    do {
      for _ in 0..<40 {
        let folder = FileLocation.folder(of: path)
        try FileLocation.makeFolder(folder, in: system)
        let resolved = try system.resolve(folder)
        try FileLocation.check(resolved, in: system)
        path = FileLocation.join(resolved, FileLocation.name(of: path))
        guard try FileLocation.isLink(path, in: system) else {
          self.path = path
          isResolved = true
          return
        }
        let target = try system.target(ofLink: path)
        path = target.hasPrefix("/") ? target : FileLocation.join(resolved, target)
      }
    } catch let error as SystemError {
      throw .reading(error, path: path)
    } catch let error as PreferenceError {
      throw error
    } catch {
      throw PreferenceError(.unreadable, "could not be found", path: path, underlying: error)
    }
    throw .reading(SystemError.circle, path: path)
  }

  private static func isLink(_ path: String, in system: any FileSystem) throws(SystemError) -> Bool {
    do {
      return try system.status(atPath: path).kind == .link
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }

  private static func makeFolder(_ path: String, in system: any FileSystem) throws(SystemError) {
    do {
      try system.makeFolder(path)
      try system.synchronizeFolder(folder(of: path))
    } catch {
      if error.isTaken { return }
      if error.isMissing {
        try makeFolder(folder(of: path), in: system)
        do {
          try system.makeFolder(path)
        } catch {
          guard error.isTaken else { throw error }
        }
        return
      }
      // A folder that is there need not be one that we may make another in.
      do {
        _ = try system.status(atPath: path)
      } catch let statusError {
        throw statusError.isMissing ? error : statusError
      }
    }
  }

  /// A folder that others can write is one in which they can put a file of theirs in the place of ours.
  private static func check(_ folder: String, in system: any FileSystem) throws(any Error) {
    let status = try system.status(atPath: folder)
    if status.mode & 0o022 != 0 {
      throw PreferenceError(
        .insecureFolder,
        "others can write the folder, and so replace the file; allow its owner only (chmod go-w) or choose another",
        path: folder)
    }
    let user = system.user
    if status.owner != user, status.owner != 0, user != 0 {
      throw PreferenceError(
        .insecureFolder,
        "the folder belongs to another user, who could replace the file; choose a folder of yours",
        path: folder)
    }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.index(after: slash)...])
  }

  static func join(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : folder + "/" + name
  }
}
