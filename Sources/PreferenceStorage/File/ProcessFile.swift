import Support
import Synchronization

/// One file, open once in this process, and shared by every store on its path.
final class ProcessFile: Sendable {
  let path: FilePath
  let contents = StoreContents()
  let system: any FileSystem
  private let watch = Lock(FileWatchState())
  /// Whether what others change is read as they change it, also without a listener.
  private let isFollowed = Atomic(false)
  /// How many values were read directly.
  private let readCount = Atomic<Int>(0)
  /// When a file that couldn't be opened was last tried again, in nanoseconds.
  private let lastTry = Atomic<Int64>(0)
  private let location: FileLocation
  private let compactionMinimum: Int
  private let lockedFile = PerProcess<LockedFile>()

  /// A file up to this size is never compacted by itself.
  static var compactionMinimum: Int { 256 * 1024 }
  /// For how long a file that couldn't be opened isn't tried again by a read, in nanoseconds.
  private static var retryPause: Int64 { 100_000_000 }
  /// For how long a reader waits for the lock, before it reads without.
  static let readingLimit = Duration.seconds(1)

  init(
    at location: FileLocation, in system: any FileSystem, compactingAbove minimum: Int = compactionMinimum
  ) {
    path = location.path
    self.location = location
    self.system = system
    compactionMinimum = minimum
  }

  deinit {
    watch.withLock { $0.watch?.cancel() }
    OpenFileTable.forget(path)
  }

  var recovery: PreferenceRecovery? { contents.recovery.withLock { $0 } }

  /// What is known of the file in this process.
  private var current: LockedFile {
    lockedFile.object {
      LockedFile(at: location, in: system, contents: contents, compactingAbove: compactionMinimum)
    }
  }

  /// Whether the calling thread has the turn, and works on another object than this one.
  func isInTurn(besides file: LockedFile) -> Bool { current !== file && current.turn.isMine }

  /// The text of the key's value; nil if there is none.
  ///
  /// A file that couldn't be opened is tried again.
  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    do throws(PreferenceError) {
      return try contents.text(forKey: key)
    } catch {
      guard openAgain() else { throw error }
      return try contents.text(forKey: key)
    }
  }

  /// Opens a file that couldn't be opened, unless that was tried a moment ago, and returns whether it was tried.
  func openAgain() -> Bool {
    let (last, now) = (lastTry.load(ordering: .relaxed), system.time)
    guard contents.failure != nil, abs(now - last) >= ProcessFile.retryPause, !current.turn.isMine,
      lastTry.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
    else { return false }
    do throws(PreferenceError) { try open() } catch { contents.fail(with: error) }
    return true
  }

  /// Counts a value that is read directly; from the second on the file is followed.
  ///
  /// A tool that reads a value and ends needs no thread.
  func noteRead() {
    if isFollowed.load(ordering: .relaxed) { return }
    if readCount.add(1, ordering: .relaxed).oldValue > 0 { follow() }
  }

  /// Reads the file, or what is new in it, and puts right what is damaged.
  func open() throws(PreferenceError) {
    let limit = ProcessFile.readingLimit
    let needsRepair = try perform(.reading, within: limit) { file throws(PreferenceError) in
      try file.readAllIfChanged()
      return file.needsRepair
    }
    guard needsRepair else { return }
    do throws(PreferenceError) {
      try perform(.writing, within: limit) { file throws(PreferenceError) in
        if file.needsRepair { file.repair() }
      }
    } catch {
      // What is whole was read, and the next write repairs the rest.
      guard error.code == .busy else { throw error }
    }
  }

  func set(_ text: JSONText?, forKey key: String, _ terms: WriteTerms) throws(PreferenceError) {
    try perform(.writing, terms) { file throws(PreferenceError) in
      // An equal value needs no line, unless another program has written the file in place.
      var change = contents.change(to: text, forKey: key)
      if change == nil {
        try file.readAllIfChanged()
        change = contents.change(to: text, forKey: key)
      }
      if let change { try file.write(CollectionOfOne(change)) }
    }
  }

  func removeAll(_ terms: WriteTerms) throws(PreferenceError) {
    try perform(.writing, terms) { file throws(PreferenceError) in
      let changes = contents.keys.map { PreferenceChange(key: $0, text: nil) }
      if !changes.isEmpty { try file.write(changes) }
    }
  }

  func transaction<Result>(
    _ terms: WriteTerms, _ body: (inout PreferenceTransaction) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try perform(.writing, terms) { file throws(PreferenceError) in
      let start = SuspendingClock.now
      defer { file.longHold = LongHold(since: start) }
      var transaction = PreferenceTransaction(on: contents, path: file.name)
      do {
        let answer = try body(&transaction)
        let changes = transaction.changes
        if !changes.isEmpty { try file.write(changes) }
        result = .success(answer)
      } catch {
        result = .failure(error)
      }
    }
    return try result!.get()
  }

  func compact(_ terms: WriteTerms) throws(PreferenceError) -> (before: Int, after: Int) {
    try perform(.writing, terms) { file throws(PreferenceError) in
      let before = file.end?.length ?? 0
      try file.compact()
      return (before, file.end?.length ?? 0)
    }
  }

  func synchronize() throws(PreferenceError) {
    try perform(.reading, within: ProcessFile.readingLimit, then: .synced) { _ in }
  }

  /// Reads what a notice announces, without waiting for anyone, and returns when to look again.
  func catchUp() -> Duration? {
    let file = current
    guard file.turn.tryTake() else { return file.turn.isMine ? nil : .milliseconds(20) }
    do throws(PreferenceError) {
      var changed: Set<String> = []
      defer { contents.changes.tell(changed) }
      return try inTurn(file, &changed) { () throws(PreferenceError) in try file.followNotice() }
    } catch {
      guard let failure = contents.failure else {
        contents.errors.report(error)
        return nil
      }
      // The file couldn't be opened yet, which is reported once for each reason.
      if failure.code != error.code {
        contents.fail(with: error)
        contents.errors.report(error)
      }
      return .milliseconds(500)
    }
  }

  /// Does what has to be done in the caller's turn and under the file's lock, and tells the listeners when it has neither
  /// any more.
  private func perform<Result>(
    _ purpose: LockedFile.Purpose, _ terms: WriteTerms,
    _ body: (LockedFile) throws(PreferenceError) -> Result
  ) throws(PreferenceError) -> Result {
    let afterLock = terms.aroundLock?()
    defer { afterLock?() }
    return try perform(purpose, within: terms.lockWaitLimit, then: terms.durability, body)
  }

  private func perform<Result>(
    _ purpose: LockedFile.Purpose, within limit: Duration, then durability: Durability = .written,
    _ body: (LockedFile) throws(PreferenceError) -> Result
  ) throws(PreferenceError) -> Result {
    let file = current
    var changed: Set<String> = []
    var pending: PendingSync?
    try file.turn.take(within: limit)
    defer { contents.changes.tell(changed) }
    let result = try inTurn(file, &changed) { () throws(PreferenceError) in
      try file.begin(purpose, within: limit)
      defer { file.finish() }
      let result = try body(file)
      if durability == .synced { pending = PendingSync(of: file) }
      return result
    }
    if let pending { try finish(pending) }
    return result
  }

  /// Runs the body, hands over the keys that changed, and gives the turn back.
  private func inTurn<Result>(
    _ file: LockedFile, _ changed: inout Set<String>, _ body: () throws(PreferenceError) -> Result
  ) throws(PreferenceError) -> Result {
    defer {
      if !file.changedKeys.isEmpty { swap(&changed, &file.changedKeys) }
      file.turn.giveBack()
    }
    return try body()
  }
}

/// How a store writes.
struct WriteTerms: Sendable {
  var durability: Durability
  var lockWaitLimit: Duration
  /// Called before the file's lock is taken; what it returns is called when the write is over.
  var aroundLock: (@Sendable () -> @Sendable () -> Void)?
}

// MARK: Synchronizing

/// What is to be synchronized once the file's lock was given back, which a synchronization doesn't need.
private struct PendingSync: Sendable {
  let descriptor: Descriptor
  /// The folder whose names are to be synchronized, too.
  let folder: FilePath?
  let earlierFailure: SystemError?

  /// Nil if there is no file.
  init?(of file: LockedFile) {
    guard let descriptor = file.descriptor else { return nil }
    self.descriptor = descriptor
    folder = file.folderNeedsSync ? file.location.folder : nil
    earlierFailure = file.syncFailure
  }
}

extension ProcessFile {
  /// Returns when what was written would survive a power cut.
  private func finish(_ pending: PendingSync) throws(PreferenceError) {
    do throws(SystemError) {
      if let failure = pending.earlierFailure { throw failure }
      try system.synchronize(pending.descriptor.number)
      if let folder = pending.folder { try system.synchronizeFolder(folder) }
    } catch {
      return try writeAgain(insteadOf: pending.descriptor, error)
    }
    if pending.folder != nil { noteFolderSynced(of: pending.descriptor) }
  }

  /// What a failed synchronization leaves may be anything, so everything is written again, to a new file.
  private func writeAgain(insteadOf descriptor: Descriptor, _ cause: SystemError) throws(PreferenceError) {
    do throws(PreferenceError) {
      try rewriteAfterFailedSync(of: descriptor, cause)
    } catch {
      throw PreferenceError(
        error.code == .noSpace ? .noSpace : .unwritable,
        "could not be synchronized, so the last changes may not survive a power cut, and no new file could be"
          + " written; look after the disk, then synchronize() again",
        path: path.description, underlying: error.underlying ?? cause)
    }
  }

  /// Runs a body in the turn, for a synchronization that failed.
  private func rewriteAfterFailedSync(
    of descriptor: Descriptor, _ cause: SystemError
  ) throws(PreferenceError) {
    try perform(.writing, within: FilePreferenceStore.defaultLockWaitLimit) { file throws(PreferenceError) in
      if file.descriptor === descriptor { file.syncFailure = cause }
      if file.syncFailure != nil { try file.rewrite() }
      if file.folderNeedsSync { try file.synchronizeFolder() }
    }
  }

  /// Notes that the file's name would survive a power cut.
  private func noteFolderSynced(of descriptor: Descriptor) {
    let file = current
    guard file.turn.tryTake() else { return }
    if file.descriptor === descriptor { file.folderNeedsSync = false }
    file.turn.giveBack()
  }
}

// MARK: Watching

/// The watch of a file, in the process that began it.
private struct FileWatchState: Sendable {
  var watch: (any FileWatch)?
  var forkCount = 0
}

extension ProcessFile {
  /// The keys that change from now on, or one of them.
  ///
  /// The file is watched while there is a listener.
  func listen(to key: String? = nil) -> PreferenceChanges {
    let changes = PreferenceChanges(of: contents.changes, to: key) { [self] in stopWatchingIfUnheard() }
    keepWatching()
    return changes
  }

  /// Reads what others change as they change it, from now on, as long as the process has the file open.
  func follow() {
    if isFollowed.exchange(true, ordering: .relaxed) { return }
    keepWatching()
  }

  /// Whether what others change is to be read as they change it.
  private var isWatchNeeded: Bool { isFollowed.load(ordering: .relaxed) || contents.changes.hasListeners }

  /// Watches the file if it isn't watched, and there is a listener or a reader who follows it.
  ///
  /// Not in a forked child. `Mutex` keeps the number of its thread, which in the thread that has forked is the parent's, so
  /// that the program would stop if that thread and the watching one meet at a lock.
  func keepWatching() {
    let new: (any FileWatch)? = watch.withLock { state in
      if state.forkCount != system.forkCount { state = FileWatchState(watch: nil, forkCount: system.forkCount) }
      // A listener who went since found no watch to end.
      guard state.watch == nil, isWatchNeeded else { return nil }
      do throws(SystemError) {
        if system.forkCount != 0, !contents.changes.hasListeners { return nil }
        guard system.forkCount == 0 else { throw SystemError.notPermitted("fork") }
        state.watch = try system.watch(path) { [weak self] in self.flatMap { $0.catchUp() } }
        return state.watch
      } catch {
        contents.errors.report(
          PreferenceError(
            .unwatchable, "can't be watched, so what other processes change is seen only after a write or a reload",
            path: path.description, underlying: error))
        return nil
      }
    }
    // What came before the watch would be missed. If another thread works on the file now, it is looked at after that.
    guard let new else { return }
    if let time = catchUp() { new.call(after: time) }
  }

  private func stopWatchingIfUnheard() {
    let ended = watch.withLock { state -> FileWatchState in
      if isWatchNeeded { return FileWatchState() }
      defer { state.watch = nil }
      return state
    }
    if ended.forkCount == system.forkCount { ended.watch?.cancel() }
  }
}
