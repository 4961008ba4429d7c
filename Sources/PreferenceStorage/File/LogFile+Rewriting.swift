import Support

extension LogFile {
  /// The number of copies of damaged files that are kept.
  private static var copyLimit: Int { 3 }

  /// Compacts the file if it is more than three times as long as necessary; a failure is only reported.
  mutating func compactIfWorthwhile() {
    if known.length >= need.retryLength, known.length > 3 * values.fileLength { rewriteOrReport() }
  }

  /// Rewrites the file, and reports a failure, since the caller's request doesn't depend on the rewriting.
  ///
  /// After a failure, writes don't try again until the file is twice as long. If no file can ever be renamed over this
  /// one, they don't try again at all.
  mutating func rewriteOrReport() {
    do throws(PreferenceError) { try rewrite() } catch {
      need.noteFailure(error, atLength: known.length)
      values.hub.report(error)
    }
  }

  /// Rewrites the file, if it contains a former value that has to be erased.
  ///
  /// It contains such a value if `isReplaced` is true, or if an earlier attempt to erase a value has failed.
  mutating func eraseFormerValues(after isReplaced: Bool) throws(PreferenceError) {
    if isReplaced { need.hasValueToErase = true }
    if need.hasValueToErase { try rewrite() }
  }

  /// Replaces the locked file with a new file that has a line for each key.
  ///
  /// The method first reads the file again. A damaged file is copied, because the new file lacks damaged lines. The old
  /// file keeps all values until the new file is at the path, so no value is lost if the process ends early. At the end,
  /// this process holds the lock of the new file.
  ///
  /// - Parameter changes: Changes to make in the new file, if the disk has no space to append them to the old file.
  mutating func rewrite(making changes: [PreferenceChange] = []) throws(PreferenceError) {
    var tries = 0
    while let old = opening {
      tries += 1
      try read(isLocked: true)
      do throws(SystemError) {
        try replace(old, making: changes)
        break
      } catch {
        // Another program has written to the file, or put another file in its place.
        guard error == .outdated, tries < 5 else { throw .compacting(error, path: name) }
      }
    }
    values.apply(changes, notingIn: &news)
    synchronizeFolderOrReport()
  }

  /// Returns a copy of the table in memory, with the changes applied.
  func table(after changes: some Collection<PreferenceChange>) -> ValueTable {
    var table = values.table
    for change in changes { table.apply(change) }
    return table
  }

  /// Renames a new file to the path, once it is sure that the path leads to the old file, which memory reflects.
  private mutating func replace(_ old: Opening, making changes: [PreferenceChange]) throws(SystemError) {
    let status = try system.status(of: old.descriptor.number)
    // The other hard links would still lead to the old file.
    guard status.links <= 1 else { throw SystemError("rename", EPERM) }
    let newPath = old.path.companion("rewriting")
    // A file at this path was left by a process that ended during a rewrite. No other process is rewriting the file
    // now, because this process holds the lock.
    discard(newPath)
    let new = Descriptor(try system.open(newPath, for: .creating), of: system)
    var copy: FilePath?
    do throws(SystemError) {
      guard try system.tryLock(new.number) else { throw SystemError("flock", ESTALE) }
      let newStatus = try system.status(of: new.number)
      // A file of another user stays that user's.
      guard newStatus.user == status.user else { throw SystemError("rename", EPERM) }
      if status.mode & 0o777 != 0o600 { try system.setMode(status.mode & 0o777, of: new.number) }
      let newKnown = try write(table(after: changes), to: new)
      try new.synchronize()
      // The file is copied even if its lines were only edited, because a wrong checksum can't distinguish an edit from
      // damage. If damage has turned the key of a line into another key, the new file lacks the earlier value of that
      // other key, but the copy has it.
      if !need.damage.isEmpty { copy = try copyAside(old) }
      guard try known.isAll(of: old.descriptor.readAll()),
        try system.snapshot(atPath: location.path).identity == old.identity
      else { throw .outdated }
      try system.rename(newPath, to: old.path)
      system.unlock(old.descriptor.number)
      replaceOpening(
        with: Opening(descriptor: new, path: old.path, identity: newStatus.identity, refusal: nil), known: newKnown)
    } catch {
      system.unlock(new.number)
      discard(newPath)
      if let copy { discard(copy) }
      throw error
    }
    if let copy {
      values.noteCopy(copy)
      removeOldCopies(of: old.path)
    }
  }

  /// Writes the contents of a new file, with a line for each key of the table.
  ///
  /// If the disk has no space even for the first line, the file of an empty table stays empty.
  private func write(_ table: ValueTable, to new: Descriptor) throws(SystemError) -> KnownPart {
    var known = KnownPart()
    var bytes = Line.header
    for change in table.allEntries { Line.append(CollectionOfOne(change), to: &bytes) }
    do throws(SystemError) {
      try system.writeAll(bytes, to: new.number)
      bytes.withUnsafeBufferPointer { known.append($0) }
    } catch {
      guard error.isFull, table.isEmpty else { throw error }
      try system.truncate(new.number, to: 0)
    }
    return known
  }

  // MARK: Copies of damaged files

  /// Copies the file to `….damaged-<milliseconds>`, and returns the path of the copy.
  ///
  /// The copy's number is greater than the number of any earlier copy, even if the clock was set back.
  private func copyAside(_ file: Opening) throws(SystemError) -> FilePath {
    let last = try copies(of: file.path).last?.number ?? 0
    let path = file.path.companion("damaged-\(max(Int(FileStatus.now / 1_000_000), last + 1))")
    let copy = Descriptor(try system.open(path, for: .creating), of: system)
    do throws(SystemError) {
      try system.writeAll(file.descriptor.readAll(), to: copy.number)
      try system.synchronize(copy.number)
      try system.synchronizeFolder(path.folder)
    } catch {
      discard(path)
      throw error
    }
    return path
  }

  /// Returns the copies of damaged files, the oldest first.
  private func copies(of path: FilePath) throws(SystemError) -> [(name: FilePath, number: Int)] {
    try system.names(inFolder: path.folder)
      .compactMap { name in path.companionNumber(of: name, "damaged-").map { (name: name, number: $0) } }
      .sorted { $0.number < $1.number }
  }

  private func removeOldCopies(of path: FilePath) {
    guard let copies = try? copies(of: path) else { return }
    for old in copies.dropLast(LogFile.copyLimit) { discard(path.folder.appending(old.name)) }
  }

  /// Removes a file that isn't needed anymore, and ignores errors, because a leftover file does no harm.
  private func discard(_ path: FilePath) { try? system.remove(path) }
}
