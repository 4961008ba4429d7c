extension PreferenceFile {
  /// Compacts a file that is three times as large as it has to be.
  ///
  /// A failure is told and changes nothing.
  mutating func compactIfWorthwhile() {
    guard length > 3 * values.liveBytes else { return }
    do throws(PreferenceError) {
      try rewrite()
    } catch {
      compactionThreshold = 2 * length
      values.errors.report(error)
    }
  }

  /// Compacts a file, however large it is.
  ///
  /// A copy is kept of one that is damaged.
  mutating func compact() throws(PreferenceError) {
    try makeReady()
    try rewrite()
  }

  /// Puts a new file, with one line for each key, in the place of this one, which is locked for writing, and
  /// keeps a copy of what it drops.
  ///
  /// The lock then is the new file's.
  ///
  /// Until the new file has its name, the old one is as it was; so it may be interrupted at any instant.
  mutating func rewrite() throws(PreferenceError) {
    guard let old = descriptor else { return }
    removeLeftovers()
    do throws(SystemError) {
      let copy = isDamaged || tornBytes > 0 ? try copyAside() : nil
      do throws(SystemError) {
        try replace(old)
      } catch {
        // Nothing was dropped, so there is nothing to keep a copy of.
        if let copy { discard(copy) }
        throw error
      }
      if let copy { noteCopy(copy) }
    } catch {
      throw .writing(error, path: path)
    }
    folderNeedsSync = true
    do throws(PreferenceError) {
      try synchronizeFolder()
    } catch {
      // The new name is synchronised with the next value that has to be.
    }
  }

  private mutating func replace(_ old: Descriptor) throws(SystemError) {
    let status = try system.status(of: old.number)
    // A file of another user's would become ours.
    guard status.owner == system.user else { throw SystemError.notPermitted("compact") }
    let newPath = "\(path).new-\(processIdentifier)-\(UInt32.random(in: 0 ... .max))"
    let new = Descriptor(try system.open(newPath, for: .creating), of: system)
    do throws(SystemError) {
      try system.lock(new.number, exclusively: true)
      if status.mode & 0o777 != 0o600 { try system.setMode(status.mode & 0o777, of: new.number) }
      let newLength = try writeAll(to: new)
      try system.synchronize(new.number)
      let newIdentity = try system.status(of: new.number).extent.identity
      // Who appends by hand knows no lock.
      guard try system.extent(atPath: path) == FileExtent(identity: identity, size: length + tornBytes) else {
        throw SystemError.replaced("rename")
      }
      try system.rename(newPath, to: path)
      system.unlock(old.number)
      descriptor = new
      identity = newIdentity
      noteRewritten(length: newLength)
    } catch {
      discard(newPath)
      throw error
    }
  }

  /// Removes a file that is of no use, if that can be done; if not, it is in nobody's way.
  private func discard(_ path: String) {
    do throws(SystemError) {
      try system.remove(path)
    } catch {}
  }

  /// Sees to it that the file's name would survive a power cut.
  mutating func synchronizeFolder() throws(PreferenceError) {
    do throws(SystemError) {
      try system.synchronizeFolder(location.folder)
    } catch {
      throw .writing(error, path: path)
    }
    folderNeedsSync = false
  }

  private mutating func noteRewritten(length: Int) {
    self.length = length
    verifiedLength = length
    tornBytes = 0
    endsWithoutNewline = false
    modified = nil
    isDamaged = false
    repairFailed = false
    syncFailure = nil
    compactionThreshold = 0
  }

  private mutating func writeAll(to new: Descriptor) throws(SystemError) -> Int {
    var bytes = PreferenceLine.header
    var length = 0
    for change in values.table.changes {
      PreferenceLine.append(CollectionOfOne(change), to: &bytes)
      if bytes.count >= 1 << 18 {
        length += bytes.count
        try checkLimit(length)
        try new.append(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    length += bytes.count
    try checkLimit(length)
    try new.append(bytes)
    return length
  }

  /// Throws where a file of that length is beyond the process's limit, instead of letting the system end the process
  /// with a signal.
  ///
  /// The limit is asked for again before it is held against anyone.
  mutating func checkLimit(_ length: Int) throws(SystemError) {
    guard let limit = sizeLimit, length > limit else { return }
    sizeLimit = system.sizeLimit
    if let limit = sizeLimit, length > limit { throw SystemError.tooLarge("write") }
  }

  /// Removes what compactions have left whose process died.
  ///
  /// One that is alive holds its new file's lock.
  private func removeLeftovers() {
    do throws(SystemError) {
      for name in try system.names(inFolder: location.folder) where isLeftover(name) {
        let leftover = FileLocation.join(location.folder, name)
        let descriptor = Descriptor(try system.open(leftover, for: .appending), of: system)
        if try system.tryLock(descriptor.number) { try system.remove(leftover) }
      }
    } catch {
      // They are in nobody's way.
    }
  }

  /// Whether it is a name that a compaction of this file gives: nothing else shall be removed.
  private func isLeftover(_ name: String) -> Bool {
    let prefix = FileLocation.name(of: path) + ".new-"
    guard name.hasPrefix(prefix) else { return false }
    let numbers = name.utf8.dropFirst(prefix.utf8.count).split(
      separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return numbers.count == 2
      && numbers.allSatisfy {
        !$0.isEmpty && $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }
}
