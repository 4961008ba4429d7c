extension PreferenceFile {
  /// What the file is locked for.
  enum Purpose { case reading, writing }

  /// Takes the file's lock and brings memory up to date.
  ///
  /// Where there is no file, writing makes one, and reading finds nothing and holds no lock.
  mutating func begin(_ purpose: Purpose) throws(PreferenceError) {
    try locate()
    let generation = system.processGeneration
    if generation != processGeneration {
      // The lock of an inherited descriptor is the parent's, too.
      descriptor = nil
      processGeneration = generation
    }
    if purpose == .writing, readOnly != nil { descriptor = nil }
    for _ in 0..<1000 {
      guard let descriptor = try openIfNeeded(purpose) else { return forgetEverything() }
      do {
        try system.lock(descriptor.number, exclusively: purpose == .writing && readOnly == nil)
      } catch {
        throw failure(purpose, error)
      }
      do {
        let extent = try system.extent(atPath: path)
        if extent.identity == identity {
          try catchUp(to: extent.size)
          if purpose == .writing, extent.size == 0 { try writeHeader() }
          return
        }
      } catch let error as PreferenceError {
        end()
        throw error
      } catch let error as SystemError where error.isMissing {
      } catch {
        end()
        throw failure(purpose, error)
      }
      // Another file is at the path now, or none.
      end()
      self.descriptor = nil
    }
    throw neverSettled
  }

  private var neverSettled: PreferenceError {
    PreferenceError(
      .unwritable, "is replaced over and over, so it could not be locked; find out which program does that",
      path: path)
  }

  /// Gives the lock back.
  func end() {
    if let descriptor { system.unlock(descriptor.number) }
  }

  private func failure(_ purpose: Purpose, _ error: any Error) -> PreferenceError {
    guard let error = error as? SystemError else {
      return PreferenceError(.unreadable, "could not be read", path: path, underlying: error)
    }
    return purpose == .writing ? .writing(error, path: path) : .reading(error, path: path)
  }

  /// There is no file, so there are no values.
  private mutating func forgetEverything() {
    length = -1
    tornBytes = 0
    isDamaged = false
    changedKeys.formUnion(values.replace(with: ValueTable()))
  }

  private mutating func openIfNeeded(_ purpose: Purpose) throws(PreferenceError) -> Descriptor? {
    if let descriptor { return descriptor }
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
              + " Move it away or choose another path", path: path)
        }
      }
    } catch let error as PreferenceError {
      throw error
    } catch {
      throw failure(purpose, error)
    }
    throw neverSettled
  }

  private func kindOfFile() throws(SystemError) -> FileStatus.Kind? {
    do {
      return try system.status(atPath: path).kind
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  private mutating func openFile() throws(SystemError) -> Descriptor? {
    do {
      readOnly = nil
      return try adopt(system.open(path, for: .appending))
    } catch {
      if error.isMissing { return nil }
      guard error.isRefusal else { throw error }
      readOnly = error
      return try adopt(system.open(path, for: .reading))
    }
  }

  /// Nil where someone else has made it in the meantime, and where its folder had to be made first.
  private mutating func makeFile() throws(any Error) -> Descriptor? {
    do throws(SystemError) {
      readOnly = nil
      return try adopt(system.open(path, for: .creating))
    } catch {
      if error.isMissing {
        _ = try FileLocation(resolving: path, in: system)
      } else if !error.isTaken {
        throw error
      }
      return nil
    }
  }

  private mutating func adopt(_ number: Int32) throws(SystemError) -> Descriptor {
    let descriptor = Descriptor(number, of: system)
    identity = try system.status(of: number).extent.identity
    self.descriptor = descriptor
    length = -1
    syncFailure = nil
    folderNeedsSync = true
    compactionThreshold = 0
    repairFailed = false
    sizeLimit = system.sizeLimit
    return descriptor
  }
}
