import Support

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension LockedFile {
  /// What was damaged.
  ///
  /// Beside the file, so that a transaction's body can ask for it.
  var recovery: PreferenceRecovery? {
    get { contents.recovery.withLock { $0 } }
    set { contents.recovery.withLock { $0 = newValue } }
  }

  /// Whether a repair is due: not for a file that may only be read, and not again and again if it fails.
  var needsRepair: Bool { isDamaged && !repairFailed && readOnly == nil }

  /// Writes the first line of a file that has none, so that it is known for what it is, also to those who append by
  /// hand.
  func writeHeader() throws(PreferenceError) {
    if readOnly != nil { return }
    if end?.tornBytes ?? 0 > 0 { return }
    end = FileEnd()
    try append(Line.header, lineStart: 0)
    makeCreationLast()
  }

  /// Syncs the header and the folder, so that after a power cut the file is recognized as a preferences file.
  private func makeCreationLast() {
    guard let descriptor else { return }
    // Nothing was promised yet, so a failure is reported, and remembered for the next synchronization.
    do throws(SystemError) {
      try system.synchronize(descriptor.number)
    } catch {
      syncFailure = error
      return contents.errors.report(.writing(error, path: name))
    }
    do throws(PreferenceError) {
      try synchronizeFolder()
    } catch {
      contents.errors.report(error)
    }
  }

  /// Puts a new file without the damage in the place of this one, which is locked for writing.
  ///
  /// If that can't be done, the damage stays, and is skipped.
  func repair() {
    do throws(PreferenceError) {
      try rewrite()
    } catch {
      repairFailed = true
      contents.errors.report(error)
    }
  }

  /// Cuts off the bytes of a write that broke off, once there is a copy of them.
  ///
  /// If there is no room for a copy they stay: a newline makes them a line of their own, which readers skip.
  func cutTornBytes(of old: FileEnd) {
    guard let descriptor else { return }
    var new = old
    new.tornBytes = 0
    do throws(SystemError) {
      noteCopy(try copyAside())
      try system.truncate(descriptor.number, to: old.length)
    } catch {
      new.length += old.tornBytes
      new.endsWithoutNewline = true
      isDamaged = true
      repairFailed = true
    }
    end = new
  }

  /// Reports where the file is kept as it was found.
  private func noteCopy(_ path: FilePath) { recovery?.copy = URL(filePath: path.description) }

  /// Copies the file as it is to `….damaged-<time>`, its holes as holes, and returns where that is.
  private func copyAside() throws(SystemError) -> FilePath {
    guard let descriptor else { throw SystemError.replaced("copy") }
    return try makeCopy { copy throws(SystemError) in
      var offset = 0
      while true {
        let bytes = try descriptor.read(from: offset, to: offset + 1 << 18)
        if bytes.isEmpty { return }
        offset += bytes.count
        try self.checkLimit(offset)
        if bytes.allSatisfy({ $0 == 0 }) {
          try self.system.truncate(copy.number, to: offset)
        } else {
          try copy.append(bytes)
        }
      }
    }
  }

  /// Makes a new file whose name has the time, and returns its path when what is written to it would survive a power cut.
  private func makeCopy(
    _ write: (Descriptor) throws(SystemError) -> Void
  ) throws(SystemError) -> FilePath {
    let time = Date().formatted(
      .iso8601.year().month().day().dateSeparator(.dash).time(includingFractionalSeconds: false)
        .timeSeparator(.omitted))
    var path = location.companion("damaged-\(time)")
    var number = 1
    while true {
      let copy: Descriptor
      do throws(SystemError) {
        copy = Descriptor(try system.open(path, for: .creating), of: system)
      } catch {
        guard error.isTaken else { throw error }
        number += 1
        path = location.companion("damaged-\(time)-\(number)")
        continue
      }
      do throws(SystemError) {
        try write(copy)
        try system.synchronize(copy.number)
        try system.synchronizeFolder(location.folder)
        return path
      } catch {
        discard(path)
        throw error
      }
    }
  }
}

extension LockedFile {
  /// Notes what memory had if another program emptied the file, or cut it off within a line, while it was open, and
  /// returns the keys that are lost.
  ///
  /// An editor that saves in place empties the file for an instant, too, so nothing is made of it before the next write.
  func noteLoss(to parser: LineParser) -> [String] {
    guard let end else { return [] }
    let isCut = parser.end.tornBytes > 0 && parser.end.size < end.size
    let isEmptied = parser.table.isEmpty && parser.end.length < Line.header.count
    if isCut || isEmptied {
      if lostTable == nil { lostTable = contents.table }
    } else if lostTable != nil {
      // It was saved in place, and is whole again.
      lostTable = nil
      recovery = nil
    }
    let lost = lostTable?.keys.filter { parser.table.text(forKey: $0) == nil } ?? []
    if lost.isEmpty { lostTable = nil }
    return lost
  }

  /// Keeps what memory had in a file beside this one, and reports it.
  func keepLostTable() {
    guard let table = lostTable else { return }
    do throws(SystemError) {
      noteCopy(try makeCopy { copy throws(SystemError) in _ = try self.writeAll(table, to: copy) })
      lostTable = nil
    } catch {
      contents.errors.report(.writing(error, path: name))
    }
  }
}

// MARK: A new file

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
  private func discard(_ path: FilePath) {
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
  private func writeAll(_ table: ValueTable, to new: Descriptor) throws(SystemError) -> FileEnd {
    var bytes = Line.header
    var end = FileEnd()
    bytes.withUnsafeBufferPointer { end.append($0, lineStart: 0) }
    for change in table.allEntries {
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
