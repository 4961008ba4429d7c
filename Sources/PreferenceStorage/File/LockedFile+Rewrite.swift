extension LockedFile {
  /// Compacts a file that is three times as large as it has to be.
  ///
  /// A failure is reported and changes nothing.
  func compactIfWorthwhile() {
    guard let length = end?.length, length > 3 * contents.liveBytes else { return }
    do throws(PreferenceError) {
      try rewrite()
    } catch {
      compactionThreshold = 2 * length
      contents.errors.report(error)
    }
  }

  /// Compacts a file, however large it is.
  ///
  /// A copy is kept of one that is damaged.
  func compact() throws(PreferenceError) {
    try makeReady()
    try rewrite()
  }

  /// Puts a new file, with one line for each key, in the place of this one, which is locked for writing, and
  /// keeps a copy of what it drops.
  ///
  /// The lock then is the new file's.
  ///
  /// Until the new file has its name, the old one is as it was; so it may be interrupted at any instant.
  func rewrite() throws(PreferenceError) {
    guard let old = descriptor else { return }
    removeLeftovers()
    do throws(SystemError) {
      let copy = isDamaged || end?.tornBytes ?? 0 > 0 ? try copyAside() : nil
      do throws(SystemError) {
        try replace(old)
      } catch {
        // Nothing was dropped, so there is nothing to keep a copy of.
        if let copy { discard(copy) }
        throw error
      }
      if let copy { noteCopy(copy) }
    } catch {
      throw .compacting(error, path: name)
    }
    folderNeedsSync = true
    do throws(PreferenceError) {
      try synchronizeFolder()
    } catch {
      // The new name is synchronized with the next value that has to be.
    }
  }

  private func replace(_ old: Descriptor) throws(SystemError) {
    let status = try system.status(of: old.number)
    // A file of another user's would become ours, and a file with two names would become two.
    guard status.owner.user == system.user, status.links == 1, let end else {
      throw SystemError.notPermitted("compact")
    }
    let newPath = location.companion("new-\(processIdentifier)-\(UInt32.random(in: 0 ... .max))")
    let new = Descriptor(try system.open(newPath, for: .creating), of: system)
    do throws(SystemError) {
      guard try system.tryLock(new.number, exclusively: true) else { throw SystemError.replaced("flock") }
      if status.mode & 0o777 != 0o600 { try system.setMode(status.mode & 0o777, of: new.number) }
      let newEnd = try writeAll(contents.table, to: new)
      try system.synchronize(new.number)
      let newIdentity = try system.status(of: new.number).snapshot.identity
      // A program that appends by hand knows no lock.
      let now = try system.snapshot(atPath: path)
      guard now.identity == identity, now.size == end.size else {
        throw SystemError.replaced("rename")
      }
      try system.rename(newPath, to: path)
      system.unlock(old.number)
      descriptor = new
      identity = newIdentity
      OpenFileTable.note(newIdentity, of: self)
      noteRewritten(newEnd)
    } catch {
      discard(newPath)
      throw error
    }
  }

  /// Removes a file that is of no use, if that can be done; if not, it is in no one's way.
  func discard(_ path: FilePath) {
    do throws(SystemError) {
      try system.remove(path)
    } catch {}
  }

  /// Sees to it that the file's name would survive a power cut.
  func synchronizeFolder() throws(PreferenceError) {
    do throws(SystemError) {
      try system.synchronizeFolder(location.folder)
    } catch {
      throw .writing(error, path: name)
    }
    folderNeedsSync = false
  }

  private func noteRewritten(_ newEnd: FileEnd) {
    end = newEnd
    stamp = nil
    isDamaged = false
    repairFailed = false
    syncFailure = nil
    compactionThreshold = 0
  }

  /// Writes a whole file, and returns where it ends.
  func writeAll(_ table: ValueTable, to new: Descriptor) throws(SystemError) -> FileEnd {
    var bytes = Line.header
    var end = FileEnd()
    bytes.withUnsafeBufferPointer { end.append($0, lineStart: 0) }
    for change in table.changes {
      let start = bytes.count
      Line.append(CollectionOfOne(change), to: &bytes)
      bytes.withUnsafeBufferPointer { end.append(UnsafeBufferPointer(rebasing: $0[start...]), lineStart: 0) }
      if bytes.count >= 1 << 18 {
        try checkLimit(end.length)
        try new.append(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try checkLimit(end.length)
    try new.append(bytes)
    return end
  }

  /// Throws where a file of that length is beyond the process's limit, instead of letting the system end the process
  /// with a signal.
  ///
  /// The limit is asked for again before a write is refused.
  func checkLimit(_ length: Int) throws(SystemError) {
    guard let limit = sizeLimit, length > limit else { return }
    sizeLimit = system.sizeLimit
    if let limit = sizeLimit, length > limit { throw SystemError.tooLarge("write") }
  }

  /// Removes what compactions have left whose process died.
  ///
  /// One that is alive holds its new file's lock.
  private func removeLeftovers() {
    do throws(SystemError) {
      for name in try system.names(inFolder: location.folder) where location.isLeftover(name) {
        removeLeftover(location.folder.appending(name))
      }
    } catch {
      // They are in no one's way.
    }
  }

  private func removeLeftover(_ leftover: FilePath) {
    do throws(SystemError) {
      let descriptor = Descriptor(try system.open(leftover, for: .appending), of: system)
      if try system.tryLock(descriptor.number, exclusively: true) { try system.remove(leftover) }
    } catch {
      // It is another user's, or a folder.
    }
  }
}
