extension LockedFile {
  /// The open file, made where there is none and it is to be written to.
  func openIfNeeded(_ purpose: Purpose) throws(PreferenceError) -> Descriptor? {
    if let descriptor { return descriptor }
    guard try location.prepare(makingFolder: purpose == .writing, in: system) else { return nil }
    do {
      for _ in 0..<1000 {
        switch try kindOfFile() {
        case .file: return try openFile()
        case nil where purpose == .reading: return nil
        case nil:
          if let made = try makeFile() { return made }
        case .link, .folder, .other:
          throw PreferenceError(
            .notAPreferencesFile,
            "is not a file but a folder, a link or a device; it was not touched."
              + " Move it away or choose another path", path: name)
        }
      }
    } catch let error as PreferenceError {
      throw error
    } catch {
      throw failure(purpose, error)
    }
    throw neverSettled
  }

  var neverSettled: PreferenceError {
    PreferenceError(
      .unwritable, "is replaced over and over, so it could not be locked; find out which program does that",
      path: name)
  }

  func failure(_ purpose: Purpose, _ error: any Error) -> PreferenceError {
    guard let error = error as? SystemError else {
      return PreferenceError(.unreadable, "could not be read", path: name, underlying: error)
    }
    return purpose == .writing ? .writing(error, path: name) : .reading(error, path: name)
  }

  /// There is no file, so there are no values.
  func forgetEverything() {
    end = nil
    stamp = nil
    isDamaged = false
    lostTable = nil
    note(contents.replace(with: ValueTable()))
  }

  private func kindOfFile() throws(SystemError) -> FileStatus.Kind? {
    do {
      return try system.status(atPath: path).kind
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  private func openFile() throws -> Descriptor? {
    readOnly = nil
    do {
      return try adopt(system.open(path, for: .appending))
    } catch let error as SystemError {
      if error.isMissing { return nil }
      guard error.isRefusal else { throw error }
      let descriptor = try adopt(system.open(path, for: .reading))
      readOnly = error
      return descriptor
    }
  }

  /// Nil where another process has made it in the meantime.
  private func makeFile() throws -> Descriptor? {
    do {
      readOnly = nil
      let descriptor = Descriptor(try system.open(path, for: .creating), of: system)
      // What the superuser makes for another user is to be that user's.
      if let owner = try FileLocation.owner(in: location.folder, of: system) {
        try system.setOwner(owner, of: descriptor.number)
      }
      return try adopt(descriptor)
    } catch let error as SystemError {
      guard error.isTaken else { throw error }
      return nil
    }
  }

  private func adopt(_ number: Int32) throws -> Descriptor { try adopt(Descriptor(number, of: system)) }

  private func adopt(_ descriptor: Descriptor) throws -> Descriptor {
    let status = try system.status(of: descriptor.number)
    try keepOthersOut(of: descriptor, status)
    identity = status.snapshot.identity
    self.descriptor = descriptor
    OpenFileTable.note(identity, of: self)
    end = nil
    stamp = nil
    syncFailure = nil
    folderNeedsSync = true
    compactionThreshold = 0
    repairFailed = false
    sizeLimit = system.sizeLimit
    return descriptor
  }

  /// Refuses a file that another user could change, or takes the right from them.
  private func keepOthersOut(of descriptor: Descriptor, _ status: FileStatus) throws {
    guard system.hasOtherUsers else { return }
    let user = system.user
    if status.owner.user != user, status.owner.user != 0, user != 0, !system.isUnknown(status.owner.user) {
      throw PreferenceError(
        .insecureFile,
        "the file belongs to another user, who could change it; it was not read. Remove it or choose another path",
        path: name)
    }
    guard status.mode & 0o022 != 0 else { return }
    do throws(SystemError) {
      try system.setMode(status.mode & 0o755, of: descriptor.number)
    } catch {
      throw PreferenceError(
        .insecureFile,
        "others can write the file, and that right could not be taken from them; it was not read. Allow its owner only"
          + " (chmod go-w) or choose another path", path: name, underlying: error)
    }
  }
}
