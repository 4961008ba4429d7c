import Support

struct WriteTerms: Sendable {
  var durability = Durability.written
  var lockWaitLimit = Patience.defaultLimit
  /// A closure to call before a write waits for any lock.
  ///
  /// It returns another closure to call at the end of the write, after all locks are released.
  var aroundLock: (@Sendable () -> @Sendable () -> Void)?
}

/// A preferences file, shared by the stores of this process on its path.
///
/// The file has three parts, each with its own state: what readers see (`FileValues`), the log file (`LogFile`), which
/// one thread at a time may use, and the following of changes by others (`FileFollower`).
///
/// A store has an unshared `PreferencesFile` if it has its own `FileSystem`.
final class PreferencesFile: Sendable {
  let location: FileLocation
  private let system: FileSystem
  let values: FileValues
  private let log: Turn<LogFile>
  private let follower: FileFollower
  private let forkCount = Fork.count

  init(at location: FileLocation, in system: FileSystem, compactingAbove minimum: Int? = nil) {
    (self.location, self.system) = (location, system)
    values = FileValues(hub: PreferenceHub())
    follower = FileFollower(of: location.path, in: system, reportingTo: values.hub)
    log = Turn(
      LogFile(at: location, in: system, values: values, compactingAbove: minimum), of: location.path.description)
  }

  deinit {
    if isForked { return }
    follower.end()
    OpenFiles.current.remove(location)
  }

  var name: String { location.path.description }
  /// Whether this process is a forked child of the process that opened the file.
  var isForked: Bool { forkCount != Fork.count }
  /// The file's hub, or in a forked child, a new hub without listeners.
  var hub: PreferenceHub { isForked ? PreferenceHub() : values.hub }

  /// Throws `.forked` in a forked child, since a thread of the parent may have been changing the state at the fork.
  func checkProcess() throws(PreferenceError) {
    guard isForked else { return }
    throw PreferenceError(
      .forked,
      "the store was opened before this process was forked off, and is its parent's; nothing was read or written. Open it"
        + " again in the child: try FilePreferenceStore(url: file)", path: name)
  }

  /// Runs `body` while no other thread uses the log file, and then notifies listeners.
  private func inTurn<Result>(
    within limit: Duration, _ body: (inout LogFile) throws(PreferenceError) -> Result
  ) throws(PreferenceError) -> Result {
    try checkProcess()
    var keys: Set<String> = []
    defer { if !keys.isEmpty { hub.tell(keys) } }
    return try log.take(within: limit) { log throws(PreferenceError) in
      defer { keys = log.takeNews() }
      return try body(&log)
    }
  }
}

// MARK: Reading

extension PreferencesFile: TransactionValues {
  func home(ofKey key: String) -> (hub: PreferenceHub, key: String)? { (hub, key) }

  /// Returns the JSON text of the key's value, or nil if the key has no value.
  ///
  /// If there is an error instead of values, this method first tries to read the file again, at most ten times a second.
  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    try checkProcess()
    do throws(PreferenceError) { return try values.text(forKey: key) } catch {
      guard tryAgain() else { throw error }
      return try values.text(forKey: key)
    }
  }

  var keys: [String] {
    if !isForked { _ = tryAgain() }
    return table.keys
  }

  /// The values, of which a forked child has none.
  ///
  /// Another thread of the parent may have had the lock of `values` at the fork, so a child must not take it.
  var table: ValueTable { isForked ? ValueTable() : values.table }
  var recovery: PreferenceRecovery? { isForked ? nil : values.recovery }

  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    let old = values.entry(forKey: key)
    return old?.text == text ? nil : PreferenceChange(key: old?.key ?? key, text: text)
  }

  /// Reads the file again if reads throw an error; returns whether this call has done so.
  private func tryAgain() -> Bool {
    guard values.failure != nil, values.beginTry() else { return false }
    // If the file still can't be opened or read, `reload` records the error for readers.
    try? reload()
    values.endTry()
    return true
  }

  /// Brings memory up to date with the file that the path leads to now.
  ///
  /// A file that seems damaged is read again under its lock, if that is free.
  func reload() throws(PreferenceError) {
    _ = try refresh(within: Patience.defaultLimit, waiting: .zero) { error, log in log.noteFailure(error) }
  }

  /// Brings memory up to date, and waits for the lock of a file that seems damaged.
  ///
  /// - Returns: False if the file seems damaged, but could not be locked within the limit.
  func check(within limit: Duration) throws(PreferenceError) -> Bool {
    try refresh(within: limit, waiting: limit) { _, _ in }
  }

  /// Brings memory up to date for readers, and reports an error, unless they already get one with the same code.
  ///
  /// - Returns: False if another thread uses the file for longer than the limit, or if this thread uses it.
  func catchUp(within limit: Duration) -> Bool {
    var isNew = false
    do throws(PreferenceError) {
      _ = try refresh(within: limit, waiting: .zero) { error, log in isNew = log.noteFailure(error) }
    } catch {
      if error.code == .busy || error.code == .nestedTransaction { return false }
      if isNew { values.hub.report(error) }
    }
    return true
  }

  private func refresh(
    within limit: Duration, waiting lockLimit: Duration, _ onFailure: (PreferenceError, inout LogFile) -> Void
  ) throws(PreferenceError) -> Bool {
    try inTurn(within: limit) { log throws(PreferenceError) in
      do throws(PreferenceError) { return try log.refresh(waiting: lockLimit) } catch {
        onFailure(error, &log)
        throw error
      }
    }
  }
}

// MARK: Following

extension PreferencesFile {
  /// Returns future changes to all keys, or to one key, and watches the file while there is a listener.
  func listen(to key: String? = nil) -> PreferenceChanges {
    let changes = hub.changes(of: key) { [self] in stopListening() }
    startListening()
    return changes
  }

  /// Returns a stream of all future changes, in order, and watches the file while the stream has a reader.
  func records() -> AsyncStream<PreferenceChange> {
    let records = hub.records { [self] in stopListening() }
    startListening()
    return records
  }

  private func startListening() {
    // If another thread uses the file now, the watch tries again within about a second.
    if !isForked, follower.watchIfNeeded(for: self) { _ = catchUp(within: .zero) }
  }

  private func stopListening() { if !isForked { follower.endIfNotNeeded() } }

  /// Brings memory up to date before a store reads values from memory, for instance in `json(forKey:)`.
  func noteRead() { if follower.mustAct, !isForked { follower.noteRead(for: self) } }

  /// Starts to read changes by other processes as they happen, until this process closes the file.
  func follow() { if follower.mustAct, !isForked { follower.follow(for: self) } }
}

// MARK: Writing

extension PreferencesFile {
  /// Sets the text of the key, or removes the key if `text` is nil.
  ///
  /// If `erasing` is true and the write replaces or removes a value, the file is also rewritten, which erases that
  /// value.
  ///
  /// - Parameter known: The text, or nil, that the key must still have; nil without an array to set the text in any case.
  /// - Returns: False if nothing was set, because the key no longer has the known value; otherwise, true.
  @discardableResult
  func set(
    _ text: JSONText?, forKey key: String, _ terms: WriteTerms, ifStill known: [JSONText?]? = nil,
    erasing: Bool = false
  ) throws(PreferenceError) -> Bool {
    try writing(terms) { log throws(PreferenceError) in
      var old = values.entry(forKey: key)
      var isConfirmed = false
      if old?.text == text {
        // The key already has this text in memory. If the file is known to have the text too, no new line is needed.
        isConfirmed = try log.confirm()
        old = values.entry(forKey: key)
      }
      if let known, known[0] != old?.text { return false }
      let isEqual = old?.text == text
      if !isEqual || !isConfirmed {
        try log.append(CollectionOfOne(PreferenceChange(key: old?.key ?? key, text: text)))
      }
      if erasing { try log.eraseFormerValues(after: old != nil && !isEqual) }
      return true
    }
  }

  func transaction<Result>(
    _ terms: WriteTerms, _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    var use: (start: SuspendingClock.Instant, folder: FilePath?)?
    defer { if let use { giveWay(after: .now - use.start, inFolder: use.folder) } }
    try writing(terms) { log throws(PreferenceError) in
      use = (.now, log.opening?.path.folder)
      _ = try log.confirm()
      var transaction = PreferenceTransaction(on: self)
      do {
        let answer = try body(&transaction)
        try checkProcess()
        // If the file is confirmed, a change isn't written if its key already has the new value in memory. Otherwise,
        // all changes are written.
        let isCertain = transaction.hasEqualValues ? try log.confirm() : true
        let (isErasing, erasesValues) = (!transaction.erasedKeys.isEmpty, transaction.erasesValues)
        try log.append(isCertain ? transaction.changes : transaction.stagedChanges)
        if isErasing { try log.eraseFormerValues(after: erasesValues) }
        result = .success(answer)
      } catch { result = .failure((error as? PreferenceError)?.at(name) ?? error) }
    }
    return try result!.get()
  }

  /// Lets other threads and processes that wait for the file have it, after a long use or a long wait for the file.
  ///
  /// A time of 100 microseconds or more is long. The others poll the lock, and might never find it free between two long
  /// uses. The method returns as soon as none of them waits, or the next one has the file.
  ///
  /// - Parameter folder: The file's folder, through which other processes show that they wait; nil for threads only.
  private func giveWay(after length: Duration, inFolder folder: FilePath? = nil) {
    if length < .microseconds(100) || isForked { return }
    var patience = Patience(limit: min(max(length / 10, .milliseconds(2)), .milliseconds(100)))
    let count = log.waitingCount
    func isAwaited() -> Bool {
      log.waitingCount >= max(count, 1) || folder.map { system.isLockAwaited(inFolder: $0) } == true
    }
    while isAwaited(), patience.wait() {}
  }

  func compact(_ terms: WriteTerms) throws(PreferenceError) {
    try writing(terms) { log throws(PreferenceError) in
      try log.makeReady()
      try log.rewrite()
    }
  }

  /// Runs `body` with the file's lock, and synchronizes the file if the terms demand this.
  @inline(__always) private func writing<Result>(
    _ terms: WriteTerms, _ body: (inout LogFile) throws(PreferenceError) -> Result
  ) throws(PreferenceError) -> Result {
    let afterLock = terms.aroundLock?()
    defer { afterLock?() }
    let (limit, isSynced) = (terms.lockWaitLimit, terms.durability == .synced)
    var (pending, waited) = (nil as PendingSync?, Duration.zero)
    let result = try inTurn(within: limit) { log throws(PreferenceError) in
      waited = try log.lock(within: limit)
      defer { log.unlock() }
      let result = try body(&log)
      if isSynced { pending = log.pendingSync }
      return result
    }
    // The other threads had to wait for as long as this one has waited for another process.
    giveWay(after: waited)
    if let pending { try finish(pending) }
    return result
  }

  // MARK: Synchronizing

  func synchronize() throws(PreferenceError) {
    let pending = try inTurn(within: Patience.defaultLimit) { log throws(PreferenceError) in
      try log.refresh()
      return log.pendingSync
    }
    if let pending { try finish(pending) }
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
      // If another thread uses the file now, `folderNeedsSync` stays true, and the next synchronization includes the
      // folder again.
      if pending.folder != nil {
        try? inTurn(within: .zero) { log in
          if log.opening?.descriptor === pending.descriptor { log.folderNeedsSync = false }
        }
      }
      return
    }
    do throws(PreferenceError) {
      try writing(WriteTerms()) { log throws(PreferenceError) in
        if log.opening?.descriptor.syncFailure != nil { try log.rewrite() }
        if log.folderNeedsSync { try log.synchronizeFolder() }
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
