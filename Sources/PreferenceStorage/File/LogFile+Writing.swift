import Support

extension LogFile {
  /// Locks the file that the path leads to, and reads what others have appended to it.
  ///
  /// If there is no file, the method creates it. A file that can only be read isn't locked.
  ///
  /// - Returns: The time that the method has waited for other processes.
  /// - Throws: `.busy` if another process holds the lock for longer than the limit. If an earlier wait with this limit
  ///   or a longer limit has timed out (`waitInVain`), this method waits only briefly.
  mutating func lock(within limit: Duration) throws(PreferenceError) -> Duration {
    // With the full limit, a stopped process that holds the lock would delay every write.
    var patience = Patience(limit: waitInVain >= limit ? min(limit, Patience.briefLimit) : limit)
    var settling = Patience()
    var announcement: Descriptor?
    var isBusy = false
    // The permissions may have changed.
    if isReadOnly { opening = nil }
    repeat {
      guard try openForWriting(), let file = opening?.descriptor else { continue }
      let isLocked = try asking(PreferenceError.writing) { () throws(SystemError) in
        if isReadOnly { return true }
        return try system.tryLock(file.number)
      }
      isBusy = !isLocked
      if isBusy, patience.isLong, announcement == nil {
        announcement = opening.flatMap { system.announceWait(inFolder: $0.path.folder) }
      }
      var isReady = false
      defer { if isLocked, !isReady { unlock() } }
      let now = try snapshot()
      guard let now, now.identity == opening?.identity else {
        // The path now leads to another file, or to no file, so the loop tries again.
        if isLocked { unlock() }
        opening = nil
        continue
      }
      guard isLocked else { continue }
      if now.size != known.length || known.length == 0, try !readEnd(upTo: now.size) {
        try read(isLocked: !isReadOnly)
      }
      waitInVain = .zero
      isReady = true
      return patience.elapsed
    } while isBusy ? patience.wait() : settling.wait()
    guard isBusy else {
      throw PreferenceError(
        .unwritable, "is replaced over and over, so it could not be locked; find out which program does that",
        path: name)
    }
    waitInVain = max(waitInVain, patience.limit)
    throw PreferenceError(
      .busy,
      "is locked by another process, which did not release it within \(patience.limit), so the change was not made. Set"
        + " the value again when the lock is gone, or set a longer lockWaitLimit", path: name)
  }

  private mutating func openForWriting() throws(PreferenceError) -> Bool {
    if opening != nil { return true }
    do throws(PreferenceError) { return try open(making: true) } catch {
      // The store must not use the file that is now at the path, so readers get the error.
      if error.isOfAnotherFile { noteFailure(error) }
      throw error
    }
  }

  /// Releases the file's lock; does nothing in a forked child, since the lock belongs to the parent process.
  func unlock() { if let file = opening?.descriptor, !file.isForked { system.unlock(file.number) } }

  /// Makes sure that memory has the values of the locked file, unless the file is long; returns false for a long file.
  ///
  /// If the result is true, a value that is already in memory needs no new line in the file. For a long file, a new
  /// line takes less time than a comparison. The length alone proves nothing, because a program that ignores the lock
  /// may have edited the file without changing its length.
  mutating func confirm() throws(PreferenceError) -> Bool {
    guard known.isShort else { return false }
    if try !readEnd(upTo: known.length) { try read(isLocked: !isReadOnly) }
    return true
  }

  // MARK: Appending

  /// Appends the changes as one line to the locked file, and then makes them in memory.
  ///
  /// If the method throws, the values in the file and in memory are unchanged.
  mutating func append(_ changes: some Collection<PreferenceChange>) throws(PreferenceError) {
    if changes.isEmpty { return }
    try makeReady()
    buffer.removeAll(keepingCapacity: true)
    defer { if buffer.capacity > 1 << 16 { buffer = [] } }
    if known.lacksNewline { buffer.append(UInt8(ascii: "\n")) }
    Line.append(changes, to: &buffer)
    do throws(SystemError) {
      try append(buffer)
      values.apply(changes, notingIn: &news)
    } catch {
      guard error.isFull, makeShorter(by: Array(changes)) else { throw .writing(error, path: name) }
    }
    if known.length > compactionMinimum { compactIfWorthwhile() }
  }

  /// Makes changes on a full disk by a new file that is shorter; returns false if that isn't possible.
  private mutating func makeShorter(by changes: [PreferenceChange]) -> Bool {
    guard table(after: changes).fileLength < known.length else { return false }
    do throws(PreferenceError) {
      try rewrite(making: changes)
      return true
    } catch { return false }
  }

  /// Appends the bytes to the file; if the write fails, tries to remove the bytes that were already written.
  private mutating func append(_ bytes: [UInt8]) throws(SystemError) {
    guard let file = opening?.descriptor else { throw SystemError("write", ESTALE) }
    do throws(SystemError) { try system.writeAll(bytes, to: file.number) } catch {
      takeBack(bytes, from: file)
      throw error
    }
    bytes.withUnsafeBufferPointer { known.append($0) }
  }

  /// Removes the bytes that a failed write has left at the end of the file.
  ///
  /// If these bytes can't be removed, or a program that ignores the lock has appended other bytes, the next write or
  /// reload reads the whole file again.
  private mutating func takeBack(_ bytes: [UInt8], from file: Descriptor) {
    do throws(SystemError) {
      let rest = try file.read(from: known.length, to: known.length + bytes.count + 1)
      if rest.isEmpty { return }
      guard bytes.starts(with: rest) else { return known = KnownPart() }
      try system.truncate(file.number, to: known.length)
    } catch {
      known = KnownPart()
    }
  }

  /// Prepares the file for a new line: repairs damage, or writes the header of an empty file.
  ///
  /// If an earlier synchronization has failed, the file is rewritten, because some bytes may not have reached the disk.
  ///
  /// - Throws: An error if the file can only be read, if other users keep write access to it, if the header can't be
  ///   written, or if the file can't be rewritten after a failed synchronization. A failed repair is only reported.
  mutating func makeReady() throws(PreferenceError) {
    if let refusal = opening?.refusal { throw .writing(refusal, path: name) }
    try keepOthersOut()
    if !need.damage.isEmpty, known.length >= need.retryLength { rewriteOrReport() }
    if opening?.descriptor.syncFailure != nil { try rewrite() }
    if known.length == 0 { try writeHeader() }
  }

  /// Writes the first line of an empty file.
  ///
  /// The line and the folder are synchronized, so that the file is recognized as a preferences file after a power
  /// failure. A failed synchronization is only reported, because no value depends on the line yet. If synchronizing the
  /// file failed, the next write or synchronization rewrites the file. If synchronizing the folder failed, the next
  /// synchronization includes the folder.
  private mutating func writeHeader() throws(PreferenceError) {
    do throws(SystemError) { try append(Line.header) } catch { throw .writing(error, path: name) }
    do throws(SystemError) { try opening?.descriptor.synchronize() } catch {
      return values.hub.report(.synchronizing(error, path: name))
    }
    synchronizeFolderOrReport()
  }

  // MARK: Synchronizing

  /// Synchronizes the folder; if this fails, the next synchronization includes the folder.
  mutating func synchronizeFolderOrReport() {
    do throws(PreferenceError) { try synchronizeFolder() } catch { values.hub.report(error) }
  }

  mutating func synchronizeFolder() throws(PreferenceError) {
    guard let folder = opening?.path.folder else { return }
    try asking(PreferenceError.synchronizing) { () throws(SystemError) in try system.synchronizeFolder(folder) }
    folderNeedsSync = false
  }

  /// The synchronization that makes all changes so far survive a power failure; nil if there is no file.
  var pendingSync: PendingSync? {
    opening.map { PendingSync(descriptor: $0.descriptor, folder: folderNeedsSync ? $0.path.folder : nil) }
  }
}

/// A synchronization to make after the file's lock has been released.
///
/// Synchronizing doesn't need the lock. Releasing the lock first saves other processes the wait for the disk.
struct PendingSync: Sendable {
  let descriptor: Descriptor
  /// The folder, if its entry for the file has to be synchronized too; otherwise nil.
  let folder: FilePath?
}
