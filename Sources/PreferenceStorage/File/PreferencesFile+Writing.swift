import Support

struct WriteTerms: Sendable {
  var durability = Durability.written
  var lockWaitLimit = Turn.defaultLimit
  /// A closure to call before a write waits for any lock.
  ///
  /// It returns another closure to call at the end of the write, after all locks are released.
  var aroundLock: (@Sendable () -> @Sendable () -> Void)?
}

extension PreferencesFile {
  /// Sets the text of the key, or removes the key if `text` is nil.
  ///
  /// If `erasing` is true and the write replaces or removes a value, the file is also rewritten, which erases that
  /// value.
  ///
  /// - Parameter known: The entry whose value the key must still have; nil to set the text in any case.
  /// - Returns: False if nothing was set, because the key no longer has the known value; otherwise, true.
  @discardableResult
  func set(
    _ text: JSONText?, forKey key: String, _ terms: WriteTerms, ifStill known: PreferenceChange? = nil,
    erasing: Bool = false
  ) throws(PreferenceError) -> Bool {
    try perform(terms) { () throws(PreferenceError) in
      var old = entry(forKey: key)
      var confirmation: SuspendingClock.Instant?
      if old?.text == text {
        // The key already has this text in memory. If the file is known to have the text too, no new line is needed.
        let start = SuspendingClock.now
        if try isConfirmed() { confirmation = start }
        old = entry(forKey: key)
      }
      if let known, old?.text != known.text { return false }
      if let confirmation, old?.text == text {
        if erasing { try eraseFormerValues(after: false) }
        leaveRoom(since: confirmation)
        return true
      }
      try write(CollectionOfOne(PreferenceChange(key: old?.key ?? key, text: text)))
      if erasing { try eraseFormerValues(after: old != nil && old?.text != text) }
      return true
    }
  }

  func transaction<Result>(
    _ terms: WriteTerms, _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try perform(terms) { () throws(PreferenceError) in
      let start = SuspendingClock.now
      try confirm()
      var transaction = PreferenceTransaction(on: self)
      do {
        let answer = try body(&transaction)
        // If `isConfirmed()` returns true, memory matches the file, and a change isn't written if its key already has
        // the new value in memory. If `isConfirmed()` returns false, all changes are written.
        let isCertain = transaction.hasEqualValues ? try isConfirmed() : true
        let (isErasing, erasesValues) = (!transaction.erasedKeys.isEmpty, transaction.erasesValues)
        try write(isCertain ? transaction.changes : transaction.stagedChanges)
        if isErasing { try eraseFormerValues(after: erasesValues) }
        result = .success(answer)
      } catch { result = .failure((error as? PreferenceError)?.at(name) ?? error) }
      leaveRoom(since: start)
    }
    return try result!.get()
  }

  /// Makes the calling thread pause before its next use of the file, after a long use.
  ///
  /// A use is long if the thread has kept the file locked for 100 microseconds or more. Other processes poll the lock.
  /// Without the pause, they might never find the lock free.
  private func leaveRoom(since start: SuspendingClock.Instant) {
    let length = .now - start
    if length < .microseconds(100) { return }
    lockPause = (currentThread, .now + min(max(length / 10, .milliseconds(2)), .milliseconds(100)))
  }

  /// Rewrites the file, if it contains a former value that has to be erased.
  ///
  /// It contains such a value if `isReplaced` is true, or if an earlier attempt to erase a value has failed.
  private func eraseFormerValues(after isReplaced: Bool) throws(PreferenceError) {
    if isReplaced { hasValueToErase = true }
    if hasValueToErase { try rewrite() }
  }

  func compact(_ terms: WriteTerms) throws(PreferenceError) {
    try perform(terms) { () throws(PreferenceError) in
      try makeReady()
      try rewrite()
    }
  }

  func synchronize() throws(PreferenceError) {
    let pending = try inTurn(within: Turn.defaultLimit) { () throws(PreferenceError) in
      try lookAround(waiting: .zero)
      return pendingSync
    }
    if let pending { try finish(pending) }
  }

  /// Runs `body` with the `Turn` lock and the file's lock, and synchronizes the file if the terms demand this.
  @inline(__always) private func perform<Result>(
    _ terms: WriteTerms, _ body: () throws(PreferenceError) -> Result
  ) throws(PreferenceError) -> Result {
    let afterLock = terms.aroundLock?()
    defer { afterLock?() }
    var pending: PendingSync?
    let result = try inTurn(within: terms.lockWaitLimit) { () throws(PreferenceError) in
      try begin(within: terms.lockWaitLimit)
      defer { unlock() }
      let result = try body()
      if terms.durability == .synced { pending = pendingSync }
      return result
    }
    if let pending { try finish(pending) }
    return result
  }

  /// Runs `body` while the calling thread holds the `Turn` lock, and notifies listeners after releasing the lock.
  ///
  /// If the thread's last use of the file was long, the thread first pauses (`lockPause`).
  func inTurn<Result>(
    within limit: Duration, _ body: () throws(PreferenceError) -> Result
  ) throws(PreferenceError) -> Result {
    try checkProcess()
    try ownHub.turn.take(within: limit)
    if let pause = lockPause, pause.thread == currentThread {
      lockPause = nil
      ownHub.turn.giveBack()
      sleep(microseconds: UInt32(max(0, (pause.end - .now) / .microseconds(1))))
      try ownHub.turn.take(within: limit)
    }
    defer {
      var keys: Set<String> = []
      swap(&keys, &changedKeys)
      if !changedRecords.isEmpty {
        ownHub.passOn(changedRecords)
        changedRecords = []
      }
      ownHub.turn.giveBack()
      if !keys.isEmpty { hub.tell(keys) }
    }
    return try body()
  }

  /// Takes the file's lock, unless the file can only be read, and reads the file if its length has changed.
  ///
  /// If there is no file, the method creates it.
  ///
  /// - Throws: `.busy` if another process holds the lock for longer than the limit. If an earlier wait with this limit
  ///   or a longer limit has timed out (`waitInVain`), this method waits at most 50 milliseconds.
  private func begin(within limit: Duration) throws(PreferenceError) {
    if readOnly != nil { descriptor = nil }
    for _ in 0..<1000 {
      let opened: Descriptor?
      do throws(PreferenceError) { opened = try openFile(making: true) } catch {
        // The store must not use the file that is now at the path, so readers get the error.
        if error.isOfAnotherFile { noteFailure(error) }
        throw error
      }
      guard let descriptor = opened else { continue }
      if readOnly == nil { try lock(descriptor, within: limit) }
      var isReady = false
      defer { if !isReady { unlock() } }
      if let now = try snapshot(), now.identity == identity {
        if now.size != known?.length, try !readTail(to: now.size) { try look(isLocked: readOnly == nil) }
        return isReady = true
      }
      // The path now leads to another file, or to no file, so the loop tries again.
      unlock()
      leave()
    }
    throw neverSettled
  }

  private func lock(_ descriptor: Descriptor, within limit: Duration) throws(PreferenceError) {
    // If an earlier wait of this length or more has timed out, this wait is shorter. Otherwise, the full limit would
    // delay every write.
    var patience = Patience(limit: waitInVain >= limit ? min(limit, .milliseconds(50)) : limit)
    do throws(SystemError) {
      repeat { if try system.tryLock(descriptor.number) { return waitInVain = .zero } } while patience.wait()
    } catch { throw .writing(error, path: name) }
    waitInVain = max(waitInVain, patience.limit)
    throw PreferenceError(
      .busy,
      "is locked by another process, which did not release it within \(patience.limit), so the change was not made. Set"
        + " the value again when the lock is gone, or set a longer lockWaitLimit", path: name)
  }

  /// Releases the file's lock; does nothing in a forked child, since the lock belongs to the parent process.
  func unlock() { if let descriptor, !isForked { system.unlock(descriptor.number) } }

  /// Appends the changes as one line to the locked file, and then makes them in memory.
  ///
  /// If the method throws, the values in the file and in memory are unchanged, unless `shrinkInPlace` failed and could
  /// not put the old lines back.
  func write(_ changes: some Collection<PreferenceChange>) throws(PreferenceError) {
    if changes.isEmpty { return }
    try checkProcess()
    try makeReady()
    // The buffer is moved out of the property to avoid a check for exclusive access at each change
    // (benchmark "Set an Int, written").
    var bytes = buffer
    buffer = []
    defer { if bytes.capacity <= 1 << 16 { buffer = bytes } }
    bytes.removeAll(keepingCapacity: true)
    if known?.lacksNewline == true { bytes.append(UInt8(ascii: "\n")) }
    Line.append(changes, to: &bytes)
    do throws(SystemError) {
      try append(bytes)
      apply(changes)
    } catch {
      guard error.isFull, makeShorter(by: Array(changes)) else { throw .writing(error, path: name) }
    }
    for change in changes { written.insert(change.key) }
    if let length = known?.length, length > compactionMinimum, length > compactionThreshold { compactIfWorthwhile() }
  }

  /// Makes changes on a full disk by making the file shorter.
  ///
  /// The file is compacted with the changes. If the disk has no space for the compacted file, the changes are made in
  /// place.
  ///
  /// - Returns: True if the changes were made; false if the file wouldn't become shorter, or if the attempts failed.
  private func makeShorter(by changes: [PreferenceChange]) -> Bool {
    guard let length = known?.length, table(after: changes).fileLength < length else { return false }
    do throws(PreferenceError) {
      try rewrite(making: changes)
      return true
    } catch { if error.code != .noSpace { return false } }
    do throws(SystemError) {
      guard try shrinkInPlace(to: table(after: changes), by: changes) else { return false }
    } catch {
      // If the old lines could not be put back, memory gets the values that the file has now.
      do throws(PreferenceError) { try look(isLocked: true) } catch { known = nil }
      return false
    }
    apply(changes)
    return true
  }

  /// Makes in memory the changes that the file already contains, and records each change of a value for listeners.
  func apply(_ changes: some Collection<PreferenceChange>) {
    memory.withLock { memory in
      memory.failure = nil
      for change in changes where memory.table.apply(change) && ownHub.isHeard { note(change) }
    }
  }

  /// Records that the value of a key in memory has changed.
  ///
  /// Listeners are notified when the thread gives back the `Turn` lock (`inTurn`).
  func note(_ change: PreferenceChange) {
    changedKeys.insert(change.key)
    if ownHub.hasRecordReaders { changedRecords.append(change) }
  }

  /// Appends the bytes to the file; if the write fails, tries to remove the bytes that were already written.
  func append(_ bytes: [UInt8]) throws(SystemError) {
    guard let descriptor, let length = known?.length else { throw SystemError("write", ESTALE) }
    do throws(SystemError) { try system.writeAll(bytes, to: descriptor.number) } catch {
      takeBack(bytes, from: descriptor, to: length)
      throw error
    }
    bytes.withUnsafeBufferPointer { known?.append($0) }
  }

  /// Prepares the file for a new line: repairs damage, or writes the header of an empty file.
  ///
  /// If an earlier synchronization has failed, the file is rewritten, because some bytes may not have reached the disk.
  ///
  /// - Throws: An error if the file can only be read (`readOnly`), if the header can't be written, or if the file can't
  ///   be rewritten after a failed synchronization. A failed repair is only reported.
  private func makeReady() throws(PreferenceError) {
    if let readOnly { throw .writing(readOnly, path: name) }
    if let length = known?.length, length > repairThreshold { repair() }
    if descriptor?.syncFailure != nil { try rewrite() }
    if known?.length == 0 { try writeHeader() }
  }

  /// Removes the bytes that a failed write has left at the end of the file.
  ///
  /// If these bytes can't be removed, or a program that ignores the lock has appended other bytes, the next write or
  /// reload reads the whole file again.
  private func takeBack(_ bytes: [UInt8], from descriptor: Descriptor, to length: Int) {
    do throws(SystemError) {
      let rest = try descriptor.read(from: length, to: length + bytes.count + 1)
      if rest.isEmpty { return }
      guard bytes.starts(with: rest) else { return known = nil }
      try system.truncate(descriptor.number, to: length)
    } catch {
      known = nil
    }
  }
}

// MARK: Synchronizing

/// A synchronization to make after the file's lock has been released.
///
/// Synchronizing doesn't need the lock. Releasing the lock first saves other processes the wait for the disk.
private struct PendingSync: Sendable {
  let descriptor: Descriptor
  /// The folder, if its entry for the file has to be synchronized too; otherwise nil.
  let folder: FilePath?
}

extension PreferencesFile {
  /// The synchronization that makes all changes so far survive a power failure; nil if there is no file.
  private var pendingSync: PendingSync? {
    descriptor.map { PendingSync(descriptor: $0, folder: folderNeedsSync ? location.folder : nil) }
  }

  /// Synchronizes the file, and its folder if necessary, so that the values survive a power failure.
  ///
  /// After a failure, it is unknown which bytes have reached the disk, so all values are written again.
  ///
  /// - Throws: An error if writing all values again fails.
  private func finish(_ pending: PendingSync) throws(PreferenceError) {
    var failure: SystemError?
    do throws(SystemError) {
      try pending.descriptor.synchronize(withFolder: pending.folder)
    } catch { failure = error }
    guard let cause = failure else {
      // If another thread holds the `Turn` lock now, `folderNeedsSync` stays true, and the next synchronization
      // includes the folder again.
      if pending.folder != nil {
        try? inTurn(within: .zero) { if descriptor === pending.descriptor { folderNeedsSync = false } }
      }
      return
    }
    do throws(PreferenceError) {
      try perform(WriteTerms()) { () throws(PreferenceError) in
        if descriptor?.syncFailure != nil { try rewrite() }
        if folderNeedsSync { try synchronizeFolder() }
      }
    } catch {
      throw PreferenceError(
        error.code == .noSpace ? .noSpace : .unwritable,
        "could not be synchronized, so the last changes may not survive a power failure, and they could not be"
          + " written again; look after the disk, then synchronize() again", path: name,
        underlying: error.underlying ?? cause)
    }
  }
}
