#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import Support

extension PreferencesFile {
  /// How many copies of damaged files are kept.
  private static var copyLimit: Int { 3 }

  /// Writes the first line of a file that has none, so that it is known for what it is, also to those who append by
  /// hand.
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
      return errors.report(.writing(error, path: name))
    }
    do throws(PreferenceError) {
      try synchronizeFolder()
    } catch {
      errors.report(error)
    }
  }

  /// Sees to it that the file's name would survive a power cut.
  func synchronizeFolder() throws(PreferenceError) {
    try asking(PreferenceError.writing) { try system.synchronizeFolder(location.folder) }
    folderNeedsSync = false
  }

  /// Puts a new file without the damage in the place of this one, which is locked.
  ///
  /// If that can't be done, the damage stays, and is skipped.
  func repair() {
    do throws(PreferenceError) {
      try rewrite()
    } catch {
      rewritingFailed = true
      errors.report(error)
    }
  }

  /// Cuts off the bytes of a write that broke off, once there is a copy of them.
  ///
  /// If there is no room for a copy they stay: a newline makes them a line of their own, which readers skip.
  func cutTornBytes() throws(PreferenceError) {
    guard let descriptor, let known else { return }
    do throws(SystemError) {
      try copyAside()
      try system.truncate(descriptor.number, to: known.length)
    } catch {
      let end = known.length + damage.tornBytes
      let bytes = try asking { try descriptor.read(from: known.length, to: end) }
      bytes.withUnsafeBufferPointer { self.known?.append($0) }
      (needsRewriting, rewritingFailed) = (true, true)
      damage.skippedBytes += damage.tornBytes
    }
    damage.tornBytes = 0
  }

  /// Compacts a file that is three times as large as it has to be.
  ///
  /// A failure is reported and changes nothing.
  func compactIfWorthwhile() {
    guard let length = known?.length else { return }
    compactionThreshold = 3 * memory.withLock { $0.table.fileLength }
    if length <= compactionThreshold { return }
    do throws(PreferenceError) {
      try rewrite()
    } catch {
      compactionThreshold = 2 * length
      errors.report(error)
    }
  }

  // MARK: A new file

  /// Puts a new file, with one line for each key, in the place of this one, which is locked, and keeps a copy of what it
  /// drops.
  ///
  /// The file is read again before, as others may have written in it. The lock then is the new file's. Until the new file has
  /// its name, the old one is as it was; so it may be interrupted at any instant.
  func rewrite() throws(PreferenceError) {
    guard let old = descriptor else { return }
    try look(isLocked: true)
    removeLeftovers()
    let isDropping = damage.skippedBytes > 0 || damage.tornBytes > 0 || damage.headerWasDamaged
    let left: KnownPart?
    do throws(SystemError) {
      if isDropping { try copyAside() }
      left = try replace(old)
    } catch {
      throw .compacting(error, path: name)
    }
    folderNeedsSync = true
    do throws(PreferenceError) {
      try synchronizeFolder()
    } catch {
      // The new name is synchronized with the next value that has to be.
    }
    if let left { try takeOver(from: old, beyond: left) }
  }

  /// Returns what memory knew of the old file when the new one took its name; nil if that had a damaged end.
  private func replace(_ old: Descriptor) throws(SystemError) -> KnownPart? {
    let status = try system.status(of: old.number)
    // A file of another user's would become ours, and a file with two names would become two.
    guard status.owner.user == system.user, status.links == 1 else { throw SystemError.notPermitted("compact") }
    let newPath = location.companion("new-\(processIdentifier)-\(UInt32.random(in: 0 ... .max))")
    let new = Descriptor(try system.open(newPath, for: .creating), of: system)
    do throws(SystemError) {
      guard try system.tryLock(new.number) else { throw SystemError.replaced("flock") }
      if status.mode & 0o777 != 0o600 { try system.setMode(status.mode & 0o777, of: new.number) }
      let table = memory.withLock(\.table)
      let newKnown = try writeAll(table, to: new)
      try system.synchronize(new.number)
      let newIdentity = try system.status(of: new.number).snapshot.identity
      let isMarked = leaveMark()
      let now = try system.snapshot(atPath: location.path)
      let isUnchanged = try isAsKnown(old)
      guard now.identity == identity, isUnchanged else { throw SystemError.replaced("rename") }
      try system.rename(newPath, to: location.path)
      let left = isMarked ? known : nil
      system.unlock(old.number)
      (descriptor, identity) = (new, newIdentity)
      reset(to: newKnown)
      return left
    } catch {
      system.unlock(new.number)
      discard(newPath)
      throw error
    }
  }

  /// Ends the old file with an empty change, by which other processes that have it open see that the new one has everything
  /// that was in it.
  private func leaveMark() -> Bool {
    guard damage.tornBytes == 0, known?.lacksNewline == false, known?.length ?? 0 > 0 else { return false }
    var bytes: [UInt8] = []
    Line.append([], to: &bytes)
    do throws(PreferenceError) {
      try append(bytes)
      known?.endsWithMark = true
      return true
    } catch {
      // There is no room, which the new file makes.
      return false
    }
  }

  /// Whether the file is what memory knows: a program that edits by hand knows no lock.
  private func isAsKnown(_ file: Descriptor) throws(SystemError) -> Bool {
    guard let known else { return false }
    let size = try system.status(of: file.number).snapshot.size
    let bytes = try file.read(from: 0, to: size)
    return size == known.length + damage.tornBytes && known.isBeginning(of: bytes)
  }

  /// Makes the changes that another program has made to the old file while the new one took its name.
  private func takeOver(from old: Descriptor, beyond left: KnownPart) throws(PreferenceError) {
    let bytes = try asking { try old.read(from: 0, to: system.status(of: old.number).snapshot.size) }
    if bytes.count == left.length, left.isBeginning(of: bytes) { return }
    var parser = LineParser()
    guard parser.parseFile(bytes) == .whole else { return }
    let changes = parser.table.changes(since: memory.withLock(\.table))
    if !changes.isEmpty { try write(changes) }
  }

  /// Writes a whole file, and returns what is known of it.
  private func writeAll(_ table: ValueTable, to new: Descriptor) throws(SystemError) -> KnownPart {
    var bytes = Line.header
    var known = KnownPart()
    func flush() throws(SystemError) {
      bytes.withUnsafeBufferPointer { known.append($0) }
      try checkLimit(known.length)
      try new.append(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    for change in table.allEntries {
      Line.append(CollectionOfOne(change), to: &bytes)
      if bytes.count >= 1 << 18 { try flush() }
    }
    try flush()
    return known
  }

  // MARK: Other files beside it

  /// Copies the file as it is to `….damaged-<time>`, reports where that is, and removes all but the last copies.
  private func copyAside() throws(SystemError) {
    guard let descriptor else { return }
    var time = system.time / 1_000_000
    var path = location.companion("damaged-\(time)")
    while try exists(path) {
      time += 1
      path = location.companion("damaged-\(time)")
    }
    let copy = Descriptor(try system.open(path, for: .creating), of: system)
    do throws(SystemError) {
      var offset = 0
      while case let bytes = try descriptor.read(from: offset, to: offset + 1 << 18), !bytes.isEmpty {
        offset += bytes.count
        try checkLimit(offset)
        try copy.append(bytes)
      }
      try system.synchronize(copy.number)
      try system.synchronizeFolder(location.folder)
      for old in try companions("damaged-", numbers: 1).dropLast(PreferencesFile.copyLimit) { discard(old) }
    } catch {
      discard(path)
      throw error
    }
    memory.withLock { $0.recovery?.copy = URL(filePath: path.description) }
  }

  private func exists(_ path: FilePath) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try system.status(atPath: path)
      return true
    } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }

  /// Removes what compactions have left whose process died.
  ///
  /// One that is alive holds its new file's lock.
  private func removeLeftovers() {
    do throws(SystemError) {
      for leftover in try companions("new-", numbers: 2) {
        let descriptor = Descriptor(try system.open(leftover, for: .appending), of: system)
        if try system.tryLock(descriptor.number) {
          discard(leftover)
          system.unlock(descriptor.number)
        }
      }
    } catch {
      // They are in no one's way.
    }
  }

  /// The files that this one has beside it, by name.
  private func companions(_ suffix: String, numbers: Int) throws(SystemError) -> [FilePath] {
    let names = try system.names(inFolder: location.folder).filter {
      location.isCompanion($0, suffix, numbers: numbers)
    }
    return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.map { location.folder.appending($0) }
  }

  /// Removes a file that is of no use, if that can be done; if not, it is in no one's way.
  private func discard(_ path: FilePath) {
    do throws(SystemError) {
      try system.remove(path)
    } catch {}
  }
}
