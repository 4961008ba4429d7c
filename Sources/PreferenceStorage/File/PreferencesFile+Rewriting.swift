import Support

extension PreferencesFile {
  private static var copyLimit: Int { 3 }

  /// Writes the first line of an empty file.
  ///
  /// The line and the folder are synchronized, so that the file is recognized as a preferences file after a power
  /// failure. A failed synchronization is only reported, because no value depends on the line yet. If synchronizing the
  /// file failed, the next write or synchronization rewrites the file. If synchronizing the folder failed, the next
  /// synchronization includes the folder.
  func writeHeader() throws(PreferenceError) {
    guard let descriptor else { return }
    try asking(PreferenceError.writing) { () throws(SystemError) in try append(Line.header) }
    do throws(SystemError) { try descriptor.synchronize() } catch {
      return ownHub.report(.writing(error, path: name))
    }
    reporting { () throws(PreferenceError) in try synchronizeFolder() }
  }

  func synchronizeFolder() throws(PreferenceError) {
    try asking(PreferenceError.writing) { () throws(SystemError) in try system.synchronizeFolder(location.folder) }
    folderNeedsSync = false
  }

  /// Replaces the damaged file with an intact file, if possible, and reports a failure.
  ///
  /// After a failure, writes don't try again until the file is more than twice as long. They try again earlier if
  /// another program has changed existing lines, and this process notices the change before its next write.
  func repair() {
    guard let length = known?.length else { return }
    if !reporting({ () throws(PreferenceError) in try rewrite() }) { repairThreshold = 2 * length }
  }

  /// Compacts a file that is more than three times as long as necessary, if possible, and reports a failure.
  func compactIfWorthwhile() {
    guard let length = known?.length, length > 3 * memory.withLock({ $0.table.fileLength }) else { return }
    if !reporting({ () throws(PreferenceError) in try rewrite() }) { compactionThreshold = 2 * length }
  }

  /// Runs `body` and returns whether it succeeded.
  ///
  /// An error is only reported, since the caller's request doesn't depend on the success of `body`.
  @discardableResult
  private func reporting(_ body: () throws(PreferenceError) -> Void) -> Bool {
    do throws(PreferenceError) { try body() } catch {
      ownHub.report(error)
      return false
    }
    return true
  }

  // MARK: A new file

  /// Replaces the locked file with a new file that has a line for each key.
  ///
  /// The method first reads the file again. Then a damaged file is copied, because the new file lacks damaged lines.
  ///
  /// The old file keeps all values until the new file is at the path, so no value is lost if the process ends early. At
  /// the end, this process holds the lock of the new file. A file that can't be replaced is rewritten in place.
  ///
  /// - Parameter changes: Changes to make in the new file, if the disk has no space to append them to the old file.
  func rewrite(making changes: [PreferenceChange] = []) throws(PreferenceError) {
    guard let old = descriptor else { return }
    var left: KnownPart?
    var copied = PreferenceRecovery()
    var tries = 0
    repeat {
      tries += 1
      try look(isLocked: true)
      do throws(SystemError) {
        // The file is copied even if its lines were only edited, because a wrong checksum can't distinguish an edit
        // from damage. If damage has turned the key of a line into another key, the new file lacks the earlier value of
        // that other key, but the copy has it.
        if !damage.isEmpty, damage != copied {
          let copy = try copyAside(old).url
          memory.withLock { $0.recovery?.copy = copy }
        }
        copied = damage
        do throws(SystemError) { left = try replace(old, making: changes) } catch {
          guard error.isOfFixedFile else { throw error }
          try rewriteInPlace(with: table(after: changes))
        }
        tries = .max
      } catch {
        // The error `.outdated` means that another program has written to the file during the rewrite.
        guard error == .outdated, tries < 5 else { throw .compacting(error, path: name) }
      }
    } while tries < .max
    apply(changes)
    if descriptor === old { return }
    folderNeedsSync = true
    // If the folder can't be synchronized now, the next synchronization includes it.
    reporting { () throws(PreferenceError) in try synchronizeFolder() }
    if let left { try takeOver(from: old, beyond: left, except: changes) }
  }

  /// Returns a copy of the table in memory, with the changes applied.
  func table(after changes: some Collection<PreferenceChange>) -> ValueTable {
    var table = memory.withLock(\.table)
    for change in changes { table.apply(change) }
    return table
  }

  /// Replaces the old file with a compacted one that includes the changes.
  ///
  /// - Returns: The part of the old file that was read; nil if the old file couldn't be marked as replaced.
  private func replace(_ old: Descriptor, making changes: [PreferenceChange]) throws(SystemError) -> KnownPart? {
    let status = try system.status(of: old.number)
    // A file of another user, or with several hard links, is rewritten in place. A new file would belong to this user,
    // and the other hard links would still lead to the old file.
    guard status.user == system.user, status.links == 1 else { throw SystemError("compact", EPERM) }
    let folder = try lockFolder()
    defer { if let folder { system.unlock(folder.number) } }
    let newPath = location.companion("rewriting")
    // A file at this path was left by a process that ended during a rewrite. No other process is rewriting the file
    // now, because this process holds the lock.
    discard(newPath)
    try clearTrade(beside: old)
    let new = Descriptor(try system.open(newPath, for: .creating), of: system)
    var isMarked = false
    do throws(SystemError) {
      guard try system.tryLock(new.number) else { throw SystemError("flock", ESTALE) }
      if status.mode & 0o777 != 0o600 { try system.setMode(status.mode & 0o777, of: new.number) }
      var newKnown = KnownPart()
      try append(PreferencesFile.compacted(table(after: changes)), to: new, &newKnown)
      try new.synchronize()
      let newIdentity = try system.status(of: new.number).identity
      repeat {
        while try !repeatAppended(to: old, in: new, &newKnown, except: changes) {}
        isMarked = leave(Line.mark)
      } while try !repeatAppended(to: old, in: new, &newKnown, except: changes)
      try takePath(from: newPath, newIdentity, isTrade: folder != nil)
      system.unlock(old.number)
      let left = isMarked ? known : nil
      replace(with: new, identity: newIdentity, known: newKnown)
      return left
    } catch {
      // `Line.mark` claims that the file at the path has all values. An empty line after the mark revokes the claim.
      if isMarked { _ = leave([UInt8(ascii: "\n")]) }
      system.unlock(new.number)
      for path in [newPath, tradePath] { discard(path) }
      throw error
    }
  }

  // MARK: The path

  /// The path of the new file just before the new and the old file exchange names, and of the old file afterward.
  private var tradePath: FilePath { location.companion("replaced") }

  /// Locks the folder and returns its descriptor; returns nil if the system refuses to open or to lock the folder.
  ///
  /// Stores hold this lock while they rename files, so that only one store at a time renames files in the folder.
  ///
  /// - Throws: `EWOULDBLOCK` if another store holds the folder's lock for more than a second.
  private func lockFolder() throws(SystemError) -> Descriptor? {
    guard let number = try? system.open(location.folder, for: .reading) else { return nil }
    let folder = Descriptor(number, of: system)
    var patience = Patience(limit: PreferencesFile.readingLimit)
    repeat {
      guard let isLocked = try? system.tryLock(folder.number) else { return nil }
      if isLocked { return folder }
    } while patience.wait()
    throw SystemError("flock", EWOULDBLOCK)
  }

  /// Moves the new file to the path of the old file, unless another program has put a third file there.
  ///
  /// The new file and the file at the path exchange names, so that the store can then check which file was at the path.
  /// If it was a third file, the store moves that file back to the path. If programs put more files at the path during
  /// this check, the latest of these files stays at the path. If `isTrade` is false, or the file system can't exchange
  /// names, the new file is renamed without this check.
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
      // The file that had the path before the last exchange stays at `tradePath`, where the next rewrite finds it.
      return
    }
    guard placed == new else { throw SystemError("rename", ESTALE) }
    discard(tradePath)
  }

  /// Removes a file that an earlier rewrite has left at `tradePath`, for example because its process ended early.
  ///
  /// If the file may be another program's, the store first makes a copy of it and reports an error.
  private func clearTrade(beside old: Descriptor) throws(SystemError) {
    let found = try system.ifPresent { () throws(SystemError) in try system.open(tradePath, for: .reading) }
    guard let found = found.map({ Descriptor($0, of: system) }) else { return }
    // If the process ended after the exchange, the old file is at `tradePath`, and ends with `Line.mark` unless the
    // disk was full. If the process ended before the exchange, the old file is at the path, and contains the mark. In
    // any other case, the file at `tradePath` may be another program's.
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

  /// Appends a line to the old file, and returns whether this succeeded.
  ///
  /// The line is either `Line.mark` or an empty line. The mark tells other processes that the new file has all values
  /// of the old file, and the empty line revokes the mark.
  private func leave(_ line: [UInt8]) -> Bool {
    guard let known, known.length > 0 else { return false }
    // On a full disk, the line can't be appended, but the rewrite continues, because it frees space.
    return (try? append(known.lacksNewline ? [UInt8(ascii: "\n")] + line : line)) != nil
  }

  /// Writes to the new file the changes that another program made to the old file while it was being replaced.
  private func takeOver(
    from old: Descriptor, beyond left: KnownPart, except changes: [PreferenceChange]
  ) throws(PreferenceError) {
    let bytes = try asking { () throws(SystemError) in try old.readAll() }
    if left.isAll(of: bytes) { return }
    var parser = LineParser()
    guard [.whole, .damaged].contains(parser.parseFile(bytes)) else { return }
    let others = parser.table.changes(since: memory.withLock(\.table))
    try write(others.filter { other in !changes.contains { $0.key == other.key } })
  }

  /// Appends to the new file the changes that another program has just appended to the old file, despite the lock.
  ///
  /// - Returns: True if the old file is unchanged since it was last read, and nothing was appended to the new file;
  ///   otherwise, false.
  /// - Throws: `.outdated` if the old file was changed otherwise than by appending, or if an appended line is damaged
  ///   or has a wrong checksum.
  private func repeatAppended(
    to old: Descriptor, in new: Descriptor, _ newKnown: inout KnownPart, except changes: [PreferenceChange]
  ) throws(SystemError) -> Bool {
    let bytes = try old.readAll()
    if known?.isAll(of: bytes) == true { return true }
    guard let others = takeOverAppended(bytes) else { throw .outdated }
    var line: [UInt8] = []
    Line.append(others.filter { other in !changes.contains { $0.key == other.key } }, to: &line)
    try append(line, to: new, &newKnown)
    return false
  }

  private func append(_ bytes: [UInt8], to new: Descriptor, _ newKnown: inout KnownPart) throws(SystemError) {
    try system.writeAll(bytes, to: new.number)
    bytes.withUnsafeBufferPointer { newKnown.append($0) }
    newKnown.noteCompared()
  }

  /// Returns the contents of a new file, with a line for each key of the table.
  static func compacted(_ table: ValueTable, startingWith start: [UInt8] = Line.header) -> [UInt8] {
    var bytes = start
    for change in table.allEntries { Line.append(CollectionOfOne(change), to: &bytes) }
    return bytes
  }

  // MARK: Copies of damaged files

  /// Copies the file to `….damaged-<milliseconds>`, removes all but the last three copies, and returns the new path.
  ///
  /// The copy's number is greater than the number of any earlier copy, even if the clock was set back.
  @discardableResult
  private func copyAside(_ file: Descriptor) throws(SystemError) -> FilePath {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let earlier = try system.names(inFolder: location.folder)
      .compactMap { name in location.companionNumber(of: name, "damaged-").map { (name: name, number: $0) } }
      .sorted { $0.number < $1.number }
    let stamp = max(1000 * Int(now.tv_sec) + Int(now.tv_nsec) / 1_000_000, (earlier.last?.number ?? 0) + 1)
    let path = location.companion("damaged-\(stamp)")
    let copy = Descriptor(try system.open(path, for: .creating), of: system)
    do throws(SystemError) {
      let bytes = try file.readAll()
      try system.writeAll(bytes, to: copy.number)
      try system.synchronize(copy.number)
      try system.synchronizeFolder(location.folder)
      for old in earlier.dropLast(PreferencesFile.copyLimit - 1) { discard(location.folder.appending(old.name)) }
    } catch {
      discard(path)
      throw error
    }
    return path
  }

  /// Removes a file that isn't needed anymore, and ignores errors, because a leftover file does no harm.
  private func discard(_ path: FilePath) { try? system.remove(path) }
}
