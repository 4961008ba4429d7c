import Support

extension PreferencesFile {
  /// How many copies of damaged files are kept.
  private static var copyLimit: Int { 3 }

  /// Writes the first line of a file that has none.
  ///
  /// It is synchronized, with the folder, so that after a power cut the file is recognized as a preferences file. Nothing was
  /// promised yet, so a failure is reported, and remembered for the next synchronization.
  func writeHeader() throws(PreferenceError) {
    guard let descriptor else { return }
    try append(Line.header)
    do throws(SystemError) {
      try system.synchronize(descriptor.number)
    } catch {
      syncFailure = error
      return ownHub.report(.writing(error, path: name))
    }
    reporting { () throws(PreferenceError) in try synchronizeFolder() }
  }

  /// Makes the file's name survive a power cut.
  func synchronizeFolder() throws(PreferenceError) {
    try asking(PreferenceError.writing) { () throws(SystemError) in try system.synchronizeFolder(location.folder) }
    folderNeedsSync = false
  }

  /// Puts a new file without the damage in the place of this one, if that can be done.
  func repair() {
    repairFailed = !reporting { () throws(PreferenceError) in try rewrite() }
  }

  /// Compacts a file that is three times as large as it has to be, if that can be done.
  func compactIfWorthwhile() {
    guard let length = known?.length else { return }
    compactionThreshold = 3 * memory.withLock { $0.table.fileLength }
    if length <= compactionThreshold { return }
    if !reporting({ () throws(PreferenceError) in try rewrite() }) { compactionThreshold = 2 * length }
  }

  /// Reports an error that isn't the caller's, and returns whether there was none.
  @discardableResult
  private func reporting(_ body: () throws(PreferenceError) -> Void) -> Bool {
    do throws(PreferenceError) {
      try body()
      return true
    } catch {
      ownHub.report(error)
      return false
    }
  }

  // MARK: A new file

  /// Puts a new file, with one line for each key, in the place of this one, which is locked, and keeps a copy of what it
  /// drops.
  ///
  /// The file is read again before. The lock then is the new file's. Until the new file has its name, the old one is as it was,
  /// so the process may end at any instant.
  func rewrite() throws(PreferenceError) {
    guard let old = descriptor else { return }
    try look(isLocked: true)
    let left: KnownPart?
    do throws(SystemError) {
      if damage.dropsBytes { try copyAside(old) }
      left = try replace(old)
    } catch {
      throw .compacting(error, path: name)
    }
    folderNeedsSync = true
    // If it fails, it is tried again with the next value that is to be synchronized.
    reporting { () throws(PreferenceError) in try synchronizeFolder() }
    if let left { try takeOver(from: old, beyond: left) }
  }

  /// Returns what memory knew of the old file when the new one took its name; nil if that wasn't marked.
  private func replace(_ old: Descriptor) throws(SystemError) -> KnownPart? {
    let status = try system.status(of: old.number)
    // A file of another user's would become ours, and a file with two names would become two.
    guard status.user == system.user, status.links == 1 else { throw SystemError("compact", EPERM) }
    let newPath = location.companion("rewriting")
    // What a process left that ended at this point. One that is alive would have the lock.
    discard(newPath)
    let new = Descriptor(try system.open(newPath, for: .creating), of: system)
    do throws(SystemError) {
      guard try system.tryLock(new.number) else { throw SystemError("flock", ESTALE) }
      if status.mode & 0o777 != 0o600 { try system.setMode(status.mode & 0o777, of: new.number) }
      let newKnown = try writeAll(memory.withLock(\.table), to: new)
      try system.synchronize(new.number)
      let newIdentity = try system.status(of: new.number).identity
      let isMarked = leaveMark()
      let now = try system.snapshot(atPath: location.path)
      // A program that edits by hand knows no lock.
      let bytes = try old.readAll()
      guard now.identity == identity, let known, bytes.count == known.length, known.isBeginning(of: bytes) else {
        throw SystemError("rename", ESTALE)
      }
      try system.rename(newPath, to: location.path)
      system.unlock(old.number)
      replace(with: new, identity: newIdentity, known: newKnown)
      return isMarked ? known : nil
    } catch {
      system.unlock(new.number)
      discard(newPath)
      throw error
    }
  }

  /// Ends the old file with an empty change, by which other processes that have it open see that the new one has everything
  /// that was in it.
  private func leaveMark() -> Bool {
    guard let known, known.length > 0 else { return false }
    do throws(PreferenceError) {
      try append(known.lacksNewline ? [UInt8(ascii: "\n")] + Line.mark : Line.mark)
      return true
    } catch {
      // There is no room, which the new file makes.
      return false
    }
  }

  /// Makes the changes that another program has made to the old file while the new one took its name.
  private func takeOver(from old: Descriptor, beyond left: KnownPart) throws(PreferenceError) {
    let bytes = try asking { () throws(SystemError) in try old.readAll() }
    if bytes.count == left.length, left.isBeginning(of: bytes) { return }
    var parser = LineParser()
    guard [.whole, .damaged].contains(parser.parseFile(bytes)) else { return }
    try write(parser.table.changes(since: memory.withLock(\.table)))
  }

  /// Writes a whole file, and returns what is known of it.
  private func writeAll(_ table: ValueTable, to new: Descriptor) throws(SystemError) -> KnownPart {
    var bytes = Line.header
    var known = KnownPart()
    func flush() throws(SystemError) {
      bytes.withUnsafeBufferPointer { known.append($0) }
      try checkLimit(known.length)
      try system.appendAll(bytes, to: new.number)
      bytes.removeAll(keepingCapacity: true)
    }
    for change in table.allEntries {
      Line.append(CollectionOfOne(change), to: &bytes)
      if bytes.count >= 1 << 18 { try flush() }
    }
    try flush()
    return known
  }

  // MARK: Copies of damaged files

  /// Copies the file as it is to `….damaged-<time>`, reports where that is, and removes all but the last copies.
  private func copyAside(_ file: Descriptor) throws(SystemError) {
    var stamp = 1000 * Int(time(nil))
    var path = location.companion("damaged-\(stamp)")
    while try system.ifPresent({ () throws(SystemError) in try system.status(atPath: path) }) != nil {
      stamp += 1
      path = location.companion("damaged-\(stamp)")
    }
    let copy = Descriptor(try system.open(path, for: .creating), of: system)
    do throws(SystemError) {
      let bytes = try file.readAll()
      try checkLimit(bytes.count)
      try system.appendAll(bytes, to: copy.number)
      try system.synchronize(copy.number)
      try system.synchronizeFolder(location.folder)
      let copies = try system.names(inFolder: location.folder).filter { location.isCompanion($0, "damaged-") }
        .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      for old in copies.dropLast(PreferencesFile.copyLimit) { discard(location.folder.appending(old)) }
    } catch {
      discard(path)
      throw error
    }
    memory.withLock { $0.recovery?.noteCopy(at: path.description) }
  }

  /// Removes a file that is of no use, if that can be done; if not, it is in no one's way.
  private func discard(_ path: FilePath) {
    do throws(SystemError) {
      try system.remove(path)
    } catch {}
  }
}
