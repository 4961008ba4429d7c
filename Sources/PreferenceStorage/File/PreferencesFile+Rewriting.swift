import Support

extension PreferencesFile {
  private static var copyLimit: Int { 3 }

  /// Writes the first line of a file that has none.
  ///
  /// It is synchronized, with the folder, so that after a power cut the file is recognized as a preferences file. Nothing was
  /// promised yet, so a failure is reported, and remembered for the next synchronization.
  func writeHeader() throws(PreferenceError) {
    guard let descriptor else { return }
    try append(Line.header)
    do throws(SystemError) { try system.synchronize(descriptor.number) } catch {
      syncFailure = error
      return ownHub.report(.writing(error, path: name))
    }
    reporting { () throws(PreferenceError) in try synchronizeFolder() }
  }

  func synchronizeFolder() throws(PreferenceError) {
    try asking(PreferenceError.writing) { () throws(SystemError) in try system.synchronizeFolder(location.folder) }
    folderNeedsSync = false
  }

  /// Puts a new file without the damage in the place of this one, if that can be done.
  func repair() { repairFailed = !reporting { () throws(PreferenceError) in try rewrite() } }

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
    do throws(PreferenceError) { try body() } catch {
      ownHub.report(error)
      return false
    }
    return true
  }

  // MARK: A new file

  /// Puts a new file, with a line for each key, in the place of this locked one, and keeps a copy of what it drops.
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
    } catch { throw .compacting(error, path: name) }
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
    let folder = try lockFolder()
    defer { if let folder { system.unlock(folder.number) } }
    let newPath = location.companion("rewriting")
    // What a process left that ended at this point. One that is alive would have the lock.
    discard(newPath)
    try clearTrade(beside: old)
    let new = Descriptor(try system.open(newPath, for: .creating), of: system)
    var isMarked = false
    do throws(SystemError) {
      guard try system.tryLock(new.number) else { throw SystemError("flock", ESTALE) }
      if status.mode & 0o777 != 0o600 { try system.setMode(status.mode & 0o777, of: new.number) }
      let newKnown = try writeAll(memory.withLock(\.table), to: new)
      try system.synchronize(new.number)
      let newIdentity = try system.status(of: new.number).identity
      isMarked = leave(Line.mark)
      // A program that edits by hand knows no lock.
      let bytes = try old.readAll()
      guard let known, known.isAll(of: bytes) else { throw SystemError("rename", ESTALE) }
      try takePath(from: newPath, newIdentity, isTrade: folder != nil)
      system.unlock(old.number)
      replace(with: new, identity: newIdentity, known: newKnown)
      return isMarked ? known : nil
    } catch {
      // Nothing was carried over to what may have the path now.
      if isMarked { _ = leave([UInt8(ascii: "\n")]) }
      system.unlock(new.number)
      for path in [newPath, tradePath] { discard(path) }
      throw error
    }
  }

  // MARK: The path

  /// The name that a new file has when it trades names with the old one, which has it then.
  private var tradePath: FilePath { location.companion("replaced") }

  /// The folder, locked so that one process at a time gives files of it another name; nil where a folder has no lock.
  private func lockFolder() throws(SystemError) -> Descriptor? {
    guard let number = try? system.open(location.folder, for: .reading) else { return nil }
    let folder = Descriptor(number, of: system)
    var patience = Patience(PreferencesFile.readingLimit)
    repeat {
      guard let isLocked = try? system.tryLock(folder.number) else { return nil }
      if isLocked { return folder }
    } while patience.wait()
    throw SystemError("flock", EWOULDBLOCK)
  }

  /// Gives the new file the path of the old one, unless another program has put a third file there.
  ///
  /// The files trade names, so that what had the path is seen after it has lost it. If that isn't the old file, it gets the
  /// path back, and so does a fourth one that came meanwhile: the last has it in the end.
  private func takePath(from newPath: FilePath, _ new: FileIdentity, isTrade: Bool) throws(SystemError) {
    guard try system.snapshot(atPath: location.path).identity == identity else { throw SystemError("rename", ESTALE) }
    guard isTrade else { return try system.rename(newPath, to: location.path) }
    try system.rename(newPath, to: tradePath)
    guard try system.exchange(tradePath, with: location.path) else {
      return try system.rename(tradePath, to: location.path)
    }
    var (placed, expected) = (new, identity)
    do throws(SystemError) {
      while true {
        let found = try system.snapshot(atPath: tradePath).identity
        if found == expected { break }
        _ = try system.exchange(tradePath, with: location.path)
        (placed, expected) = (found, placed)
      }
    } catch {
      // What had the path stays where it is, and the next rewrite keeps a copy of it.
      return
    }
    guard placed == new else { throw SystemError("rename", ESTALE) }
    discard(tradePath)
  }

  /// Removes what a process has left that ended while files traded names, and keeps a copy of it if it is another program's.
  private func clearTrade(beside old: Descriptor) throws(SystemError) {
    let found = try system.ifPresent { () throws(SystemError) in try system.open(tradePath, for: .reading) }
    guard let found = found.map({ Descriptor($0, of: system) }) else { return }
    // The old file ends with the mark. While the new one has this name, the one that has the path has the mark in it.
    if try !found.readAll().suffix(Line.mark.count).elementsEqual(Line.mark),
      try old.readAll().firstRange(of: Line.mark) == nil
    {
      try copyAside(found)
      ownHub.report(
        PreferenceError(
          .overwritten,
          "a process that was ended has put its file in the place of another program's, which is kept as the last copy",
          path: name))
    }
    discard(tradePath)
  }

  /// Ends the old file with an empty change, by which other processes that have it open see that the new one has everything
  /// that was in it, or with an empty line, by which they see that it hasn't.
  private func leave(_ line: [UInt8]) -> Bool {
    guard let known, known.length > 0 else { return false }
    // If it fails there is no room, which the new file makes.
    return (try? append(known.lacksNewline ? [UInt8(ascii: "\n")] + line : line)) != nil
  }

  /// Makes the changes that another program has made to the old file while the new one took its name.
  private func takeOver(from old: Descriptor, beyond left: KnownPart) throws(PreferenceError) {
    let bytes = try asking { () throws(SystemError) in try old.readAll() }
    if left.isAll(of: bytes) { return }
    var parser = LineParser()
    guard [.whole, .damaged].contains(parser.parseFile(bytes)) else { return }
    try write(parser.table.changes(since: memory.withLock(\.table)))
  }

  /// Writes a whole file, and returns what is known of it.
  private func writeAll(_ table: ValueTable, to new: Descriptor) throws(SystemError) -> KnownPart {
    var bytes = Line.header
    for change in table.allEntries { Line.append(CollectionOfOne(change), to: &bytes) }
    try checkLimit(bytes.count)
    try system.appendAll(bytes, to: new.number)
    var known = KnownPart()
    bytes.withUnsafeBufferPointer { known.append($0) }
    return known
  }

  // MARK: Copies of damaged files

  /// Copies the file as it is to `….damaged-<time>`, reports where that is, and removes all but the last copies.
  private func copyAside(_ file: Descriptor) throws(SystemError) {
    var stamp = 1000 * Int(time(nil))
    while try system.find(location.companion("damaged-\(stamp)")) != nil { stamp += 1 }
    let path = location.companion("damaged-\(stamp)")
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
  private func discard(_ path: FilePath) { try? system.remove(path) }
}
