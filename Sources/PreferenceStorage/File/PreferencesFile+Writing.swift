import Support

struct WriteTerms: Sendable {
  var durability = Durability.written
  var lockWaitLimit = Turn.defaultLimit
  /// A closure to call before the file's lock is taken, which returns a closure to call when the write is over.
  var aroundLock: (@Sendable () -> @Sendable () -> Void)?
}

extension PreferencesFile {
  /// Sets the text of the key; with `known`, does so only if the key still has that value, and returns whether it does.
  ///
  /// With `erasing`, compacts the file afterward, which erases the former value.
  @discardableResult
  func set(
    _ text: JSONText?, forKey key: String, _ terms: WriteTerms, ifStill known: PreferenceChange? = nil,
    erasing: Bool = false
  ) throws(PreferenceError) -> Bool {
    try perform(terms) { () throws(PreferenceError) in
      var old = entry(forKey: key)
      var confirmation: SuspendingClock.Instant?
      if old?.text == text {
        // An equal value needs no new line if the file certainly has it.
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
        // Equal values need no new line if the file certainly has them.
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

  /// After a long transaction, makes the thread pause before it takes the lock again.
  ///
  /// Other processes poll the lock. If this thread took it again at once, they would never find it free.
  private func leaveRoom(since start: SuspendingClock.Instant) {
    let length = .now - start
    if length < .microseconds(100) { return }
    lockPause = (currentThread, .now + min(max(length / 10, .milliseconds(2)), .milliseconds(100)))
  }

  /// Erases former values if one has just been replaced or removed, or if an earlier attempt to erase one has failed.
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

  /// Runs `body` in the thread's turn and under the file's lock, and synchronizes the file if the terms say so.
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

  /// Runs `body` in the calling thread's turn, and notifies listeners after the turn has ended.
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

  /// Takes the file's lock and brings memory up to date; creates the file if there is none.
  ///
  /// - Throws: `.busy` if another process holds the lock for longer than the limit.
  private func begin(within limit: Duration) throws(PreferenceError) {
    if readOnly != nil { descriptor = nil }
    for _ in 0..<1000 {
      let opened: Descriptor?
      do throws(PreferenceError) { opened = try openFile(making: true) } catch {
        // What was put in the place of the file isn't a file of the store.
        if error.isOfAnotherFile { noteFailure(error) }
        throw error
      }
      guard let descriptor = opened else { continue }
      if readOnly == nil { try lock(descriptor, within: limit) }
      var isReady = false
      defer { if !isReady { unlock() } }
      if let now = try snapshot(), now.identity == identity {
        if now.size != known?.length, try !readTail(to: now.size) { try look(isLocked: true) }
        return isReady = true
      }
      // The path now leads to another file, or to none.
      unlock()
      leave()
    }
    throw neverSettled
  }

  private func lock(_ descriptor: Descriptor, within limit: Duration) throws(PreferenceError) {
    // After a wait that has timed out, the next writes wait for a shorter time.
    var patience = Patience(limit: isBlocked ? min(limit, .milliseconds(50)) : limit)
    do throws(SystemError) {
      repeat { if try system.tryLock(descriptor.number) { return isBlocked = false } } while patience.wait()
    } catch { throw .writing(error, path: name) }
    isBlocked = true
    throw PreferenceError(
      .busy,
      "has been locked by another process for more than \(limit), and the change was not made. Set the value again when the"
        + " lock is gone, or set a longer lockWaitLimit", path: name)
  }

  /// Releases the lock, unless this process is a forked child, whose parent has the lock.
  func unlock() { if let descriptor, !isForked { system.unlock(descriptor.number) } }

  /// Appends the changes as one line to the locked file, and then makes them in memory.
  ///
  /// If it throws, the file and memory have the same values as before.
  func write(_ changes: some Collection<PreferenceChange>) throws(PreferenceError) {
    if changes.isEmpty { return }
    try checkProcess()
    try makeReady()
    // The buffer is moved out of the property, since changing it in place would be checked for exclusive access
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
  /// The file is compacted with the changes. If the compacted file has no room, either, the changes are made in place.
  ///
  /// - Returns: True if the changes were made; false if the file wouldn't be shorter, or if both ways failed.
  private func makeShorter(by changes: [PreferenceChange]) -> Bool {
    guard let length = known?.length, table(after: changes).fileLength < length else { return false }
    do throws(PreferenceError) {
      try rewrite(making: changes)
      return true
    } catch { if error.code != .noSpace { return false } }
    do throws(SystemError) {
      guard try shrinkInPlace(to: table(after: changes), by: changes) else { return false }
    } catch {
      known = nil
      return false
    }
    apply(changes)
    return true
  }

  /// Makes changes in memory that the file already has, and notes those of which listeners are to be notified.
  func apply(_ changes: some Collection<PreferenceChange>) {
    memory.withLock { memory in
      memory.failure = nil
      for change in changes where memory.table.apply(change) && ownHub.isHeard { note(change) }
    }
  }

  /// Notes a change that has been made in memory, of which listeners are to be notified.
  func note(_ change: PreferenceChange) {
    changedKeys.insert(change.key)
    if ownHub.hasRecordReaders { changedRecords.append(change) }
  }

  /// Appends all of the bytes to the file, or none of them.
  func append(_ bytes: [UInt8]) throws(SystemError) {
    guard let descriptor, let length = known?.length else { throw SystemError("write", ESTALE) }
    do throws(SystemError) { try system.writeAll(bytes, to: descriptor.number) } catch {
      takeBack(bytes, from: descriptor, to: length)
      throw error
    }
    bytes.withUnsafeBufferPointer { known?.append($0) }
  }

  /// Prepares the file for a new line: checks that it is writable, repairs damage, and writes a missing header.
  private func makeReady() throws(PreferenceError) {
    if let readOnly { throw .writing(readOnly, path: name) }
    if let length = known?.length, length > repairThreshold { repair() }
    if descriptor?.syncFailure != nil { try rewrite() }
    if known?.length == 0 { try writeHeader() }
  }

  /// Removes what a failed write has left at the end of the file.
  ///
  /// If this fails, or a program that ignores the lock has appended something, the whole file is read again next time.
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

/// A synchronization that is made after the file's lock has been released, since it doesn't need the lock.
private struct PendingSync: Sendable {
  let descriptor: Descriptor
  /// The folder, if it has to be synchronized as well.
  let folder: FilePath?
}

extension PreferencesFile {
  /// The synchronization that is still due, or nil if there is no file.
  private var pendingSync: PendingSync? {
    descriptor.map { PendingSync(descriptor: $0, folder: folderNeedsSync ? location.folder : nil) }
  }

  /// Synchronizes the file, and its folder if necessary, so that the values survive a power failure.
  ///
  /// A failed synchronization guarantees nothing, so all values are then written again.
  private func finish(_ pending: PendingSync) throws(PreferenceError) {
    var failure: SystemError?
    do throws(SystemError) {
      try pending.descriptor.synchronize(withFolder: pending.folder)
    } catch { failure = error }
    guard let cause = failure else {
      if pending.folder == nil { return }
      return try inTurn(within: Turn.defaultLimit) { if descriptor === pending.descriptor { folderNeedsSync = false } }
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
