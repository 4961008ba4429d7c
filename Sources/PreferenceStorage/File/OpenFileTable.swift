import Support

/// The files that are open in this process, so that stores on one path share one.
///
/// They are known by their resolved path, byte for byte, and not by their inode, which changes with every compaction. A
/// spelling of the name that the file system doesn't distinguish, with other capitals for instance, is the same file once
/// there is one. Two hard links are two files here, which keep out of each other's way as two processes do.
final class OpenFileTable: Sendable {
  private struct Reference: Sendable {
    weak var file: ProcessFile?
  }

  private struct Files: Sendable {
    var byPath: [FilePath: Reference] = [:]
    var paths: [FileIdentity: Set<FilePath>] = [:]
    var identities: [FilePath: FileIdentity] = [:]

    mutating func note(_ identity: FileIdentity?, of path: FilePath) {
      if let old = identities[path] {
        paths[old]?.remove(path)
        if paths[old]?.isEmpty == true { paths[old] = nil }
      }
      identities[path] = identity
      if let identity { paths[identity, default: []].insert(path) }
    }
  }

  private static let table = PerProcess<OpenFileTable>()
  private let files = Lock(Files())

  private static var current: OpenFileTable { table.object { OpenFileTable() } }

  /// The file at the place, open already or to be opened.
  static func file(at location: FileLocation, in system: any FileSystem) -> ProcessFile {
    let table = current
    if let file = table.fileSpelledOtherwise(location.path, in: system) { return file }
    return table.files.withLock { files in
      if let file = files.byPath[location.path]?.file { return file }
      let file = ProcessFile(at: location, in: system)
      files.byPath[location.path] = Reference(file: file)
      return file
    }
  }

  /// The open file whose only name this path is another spelling of.
  private func fileSpelledOtherwise(_ path: FilePath, in system: any FileSystem) -> ProcessFile? {
    do throws(SystemError) {
      // A file leaves the lock before it is let go of, since its end takes the lock.
      let (known, isEmpty) = files.withLock { ($0.byPath[path]?.file, $0.paths.isEmpty) }
      if known != nil || isEmpty { return known }
      let status = try system.status(atPath: path)
      guard status.links == 1 else { return nil }
      let identity = status.snapshot.identity
      let others = files.withLock { files in (files.paths[identity] ?? []).compactMap { files.byPath[$0]?.file } }
      for other in others where other.path != path {
        // What was noted may be outdated, and a file that is mounted by itself is in two folders.
        if try system.snapshot(atPath: other.path).identity == identity,
          try system.snapshot(atPath: other.path.folder).identity == system.snapshot(atPath: path.folder).identity
        {
          return other
        }
      }
    } catch {
      // There is no file yet, or none any more.
    }
    return nil
  }

  /// Notes which file is open at the path.
  static func note(_ identity: FileIdentity, of file: LockedFile) {
    current.files.withLock { $0.note(identity, of: file.path) }
  }

  /// Forgets a file that is no longer open.
  static func forget(_ path: FilePath) {
    let successor = current.files.withLock { files in
      if let successor = files.byPath[path]?.file { return successor as ProcessFile? }
      files.byPath[path] = nil
      files.note(nil, of: path)
      return nil
    }
    // Its other owners may have let go of it since, and it forgets itself outside the lock.
    withExtendedLifetime(successor) {}
  }

  /// Another name of the file, under which the calling thread is in a transaction on it.
  static func nameInTurn(of file: LockedFile) -> String? {
    let others = current.files.withLock { files in
      (files.paths[file.identity] ?? []).compactMap { files.byPath[$0]?.file }
    }
    return others.first { $0.isInTurn(besides: file) }?.path.description
  }
}
