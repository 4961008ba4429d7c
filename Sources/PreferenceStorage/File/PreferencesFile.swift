import Support
import Synchronization

/// A preferences file, opened once in this process and shared by all stores on its path: its values, and the part of
/// the file that is known.
///
/// `PreferencesFile+Writing.swift` has the steps of a write: wait for other threads, lock the file, compare it with
/// memory, append, unlock. <doc:TheFile> lists the states in which a file can be, and what the store does in each.
///
/// `@unchecked Sendable`: what several threads read has a lock or is atomic; all other variables are guarded by the
/// hub's turn, whose atomic `owner` is exchanged acquiring and stored releasing.
final class PreferencesFile: @unchecked Sendable {
  let path: FilePath
  let system: FileSystem
  /// The size up to which the file is never compacted automatically: 256 KiB, unless a test sets another.
  let compactionMinimum: Int
  private let forkCount = Fork.count

  // MARK: State for any thread

  struct Memory: Sendable {
    var table = ValueTable()
    /// The error that readers get if the file could not be read and memory has no values.
    var failure: PreferenceError?
    /// The time at which a reader last tried to open a file that couldn't be opened.
    var lastTry: SuspendingClock.Instant?
    var recovery: PreferenceRecovery?
    /// The time at which the file was last read without its lock.
    var lastLook: ContinuousClock.Instant?
  }
  let memory = Lock(Memory())
  /// The hub of the process that opened the file: its turn, its listeners and its readers of errors.
  let ownHub: PreferenceHub
  private let watch = Lock<FileWatch?>(nil)
  /// Whether changes by other processes are to be read as they happen, even without a listener.
  private let isToBeFollowed = Atomic(false)
  /// Whether changes are read as they happen: the file is watched, and was read after the watch had begun.
  private let isFollowed = Atomic(false)
  private let wasRead = Atomic(false)

  // MARK: State for the thread that has the turn

  var location: FileLocation
  /// The open file; nil before there is one, and after it was deleted or replaced.
  var descriptor: Descriptor?
  var identity = FileIdentity()
  /// The error that kept the file from being opened for writing, if it could be opened only for reading.
  var readOnly: SystemError?
  /// The part of the file that memory reflects; nil if the whole file has to be read.
  var known: KnownPart?
  /// The damage in the file, which remains until a new file replaces it.
  var damage = PreferenceRecovery()
  /// The length above which the next write repairs the file: 0 if there is damage, twice the length after a repair has
  /// failed, and `.max` if there is no damage.
  var repairThreshold = Int.max
  /// Whether the file has a former value that should have been erased.
  var hasValueToErase = false
  /// Whether the folder has to be synchronized so that the file's name survives a power failure.
  var folderNeedsSync = true
  /// The length above which a compaction is tried again after it has failed.
  var compactionThreshold = 0
  /// The mode of a file that other users can write to; nil once the store has found that this is a preferences file and
  /// has revoked their write access.
  var unsafeMode: UInt32?
  /// The keys whose last values this process has written, so that it can report if another program discards them.
  var written: Set<String> = []
  /// The values of the file that was at the path before there was none; another file may take its place.
  var lastTable: ValueTable?
  /// Whether the previous file at the path was replaced by a compaction, which carried over all of its values.
  var wasCarriedOver = false
  /// The changed keys of which listeners haven't been notified yet.
  var changedKeys: Set<String> = []
  /// The changes that the readers of each change haven't been passed yet.
  var changedRecords: [PreferenceChange] = []
  /// Whether the last wait for the file's lock timed out, so that the next writes wait only briefly.
  var isBlocked = false
  /// The time until which a thread leaves the lock to others, after a long transaction of its own.
  var lockPause: (thread: UInt, end: SuspendingClock.Instant)?
  var buffer: [UInt8] = []

  /// The longest time that a reader waits for other threads, or for the lock of a file that seems damaged.
  static let readingLimit = Duration.seconds(1)
  /// The age of what readers get while the file isn't followed, and the longest time that they wait for other threads.
  private static let followingLimit = Duration.milliseconds(50)

  init(at location: FileLocation, in system: FileSystem, compactingAbove minimum: Int? = nil) {
    path = location.path
    ownHub = PreferenceHub(ofFile: location.path.description)
    (self.location, self.system) = (location, system)
    compactionMinimum = minimum ?? 256 * 1024
  }

  deinit {
    if isForked { return }
    watch.withLock { $0?.cancel() }
    OpenFiles.current.remove(path)
  }

  var name: String { path.description }
  /// Whether this process is a forked child of the process that opened the file.
  var isForked: Bool { forkCount != Fork.count }
  /// The hub of the file; in a forked child, a new one without listeners.
  var hub: PreferenceHub { isForked ? PreferenceHub() : ownHub }

  /// Throws `.forked` in a forked child, since another thread of the parent may have been changing the state.
  func checkProcess() throws(PreferenceError) {
    guard isForked else { return }
    throw PreferenceError(
      .forked,
      "the store was opened before this process was forked off, and is its parent's; nothing was read or written. Open it"
        + " again in the child: try FilePreferenceStore(url: file)", path: name)
  }
}

// MARK: Reading values

extension PreferencesFile: TransactionValues {
  func home(ofKey key: String) -> (hub: PreferenceHub, key: String)? { (hub, key) }

  /// Returns the text of the key's value, or nil if there is none; tries again to open a file that couldn't be opened.
  func text(forKey key: String) throws(PreferenceError) -> JSONText? {
    try checkProcess()
    let (text, failure) = memory.withLock { memory in
      memory.failure == nil ? (memory.table.text(forKey: key), nil) : (nil, memory.failure)
    }
    guard let failure else { return text }
    if openAgain() { return try self.text(forKey: key) }
    throw failure
  }

  var keys: [String] {
    if isForked { return [] }
    _ = openAgain()
    return memory.withLock(\.table).keys
  }

  /// Returns the key and the text of its value, both as the file has them; nil if the key has no value.
  func entry(forKey key: String) -> PreferenceChange? { memory.withLock { $0.table.entry(forKey: key) } }

  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    let old = entry(forKey: key)
    return old?.text == text ? nil : PreferenceChange(key: old?.key ?? key, text: text)
  }

  /// Tries again to open a file that couldn't be opened, at most ten times a second; returns whether it tried.
  private func openAgain() -> Bool {
    let isDue = memory.withLock { memory in
      guard memory.failure != nil else { return false }
      if let last = memory.lastTry, .now - last < .milliseconds(100) { return false }
      memory.lastTry = .now
      return true
    }
    guard isDue else { return false }
    // If the file can't be opened again, `reload` notes the error.
    try? reload()
    memory.withLock { $0.lastTry = .now }
    return true
  }
}

// MARK: Watching

extension PreferencesFile {
  /// Returns the changes to all keys, or to one, from now on; the file is watched while there is a listener.
  func listen(to key: String? = nil) -> PreferenceChanges {
    let changes = hub.changes(of: key) { [self] in stopWatchingIfUnheard() }
    keepWatching()
    return changes
  }

  /// Returns each change from now on, in order; the file is watched while there is a reader.
  func records() -> AsyncStream<PreferenceChange> {
    let records = hub.records { [self] in stopWatchingIfUnheard() }
    keepWatching()
    return records
  }

  /// Brings memory up to date for a direct read of values, and follows the file from the second one on: a tool that
  /// reads one value and exits needs no watch.
  func noteRead() {
    if isFollowed.load(ordering: .acquiring) || isForked { return }
    if wasRead.exchange(true, ordering: .relaxed) { return follow() }
    if isOutdated { _ = catchUp(within: PreferencesFile.followingLimit) }
  }

  /// Reads other processes' changes as they happen, from now on, as long as this process has the file open.
  ///
  /// While the file can't be watched, or other threads keep their turn, each direct read tries again.
  func follow() {
    if isFollowed.load(ordering: .acquiring) || isForked { return }
    isToBeFollowed.store(true, ordering: .relaxed)
    keepWatching()
    let isWatched = watch.withLock { $0?.problem == nil }
    guard isWatched || isOutdated else { return }
    if catchUp(within: PreferencesFile.followingLimit), isWatched { isFollowed.store(true, ordering: .releasing) }
  }

  /// Whether the file was last read longer ago than a reader accepts.
  private var isOutdated: Bool {
    memory.withLock(\.lastLook).map { .now - $0 > PreferencesFile.followingLimit } ?? true
  }

  /// Whether the file has to be watched, because it is followed or has a listener.
  private var isWatchNeeded: Bool { isToBeFollowed.load(ordering: .relaxed) || ownHub.hasListeners }

  /// Starts to watch the file if this is necessary and it isn't watched yet.
  private func keepWatching() {
    if isForked { return }
    let new = watch.withLock { watch -> FileWatch? in
      // If the last listener has ended in the meantime, nothing would cancel a new watch.
      guard watch == nil, isWatchNeeded else { return nil }
      watch = system.watch(path) { [weak self] in self?.catchUp(within: PreferencesFile.readingLimit) ?? true }
      return watch
    }
    guard let new else { return }
    if let problem = new.problem {
      ownHub.report(
        PreferenceError(
          .unwatchable,
          "can't be watched now, so what other processes change is seen only after a write or a reload; it is tried again"
            + " every second", path: name, underlying: problem))
    }
    // Changes from before the watch have no event. If another thread has the turn, the watch tries again in a second.
    _ = catchUp(within: .zero)
  }

  private func stopWatchingIfUnheard() {
    if isForked { return }
    let ended = watch.withLock { watch -> FileWatch? in
      if isWatchNeeded { return nil }
      defer { watch = nil }
      return watch
    }
    ended?.cancel()
  }

  /// Reads the changes that an event has announced; returns false if another thread has the turn.
  private func catchUp(within limit: Duration) -> Bool {
    var isNew = false
    do throws(PreferenceError) {
      try inTurn(within: limit) { () throws(PreferenceError) in
        do throws(PreferenceError) { try lookAround(waiting: .zero) } catch {
          isNew = noteFailure(error)
          throw error
        }
      }
    } catch {
      if error.code == .busy || error.code == .nestedTransaction { return false }
      // A failure that readers already get isn't reported again.
      if isNew { ownHub.report(error) }
    }
    return true
  }

  /// Makes readers throw the error if memory has no values, or if what is at the path can't be opened; returns true
  /// unless they already get an error of its code.
  @discardableResult
  func noteFailure(_ error: PreferenceError) -> Bool {
    if descriptor == nil { removeAllFromMemory() }
    return memory.withLock { memory in
      let known = memory.failure
      if known != nil || memory.table.isEmpty { memory.failure = error }
      return known?.code != error.code
    }
  }
}

// MARK: Opening

extension PreferencesFile {
  /// Returns the open file, created if `making` is true; nil if there is none, or a process just created or removed it.
  func openFile(making: Bool) throws(PreferenceError) -> Descriptor? {
    if let descriptor { return descriptor }
    guard try location.prepare(making: making, in: system) else { return nil }
    let translate = making ? PreferenceError.writing : PreferenceError.reading
    let status = try asking(translate) { () throws(SystemError) in try system.find(location.path) }
    guard status != nil || making else { return nil }
    guard status == nil || status?.kind == .file else {
      throw PreferenceError(
        .notAPreferencesFile,
        "is not a file but a folder, a link or a device; it was not touched. Move it away or choose another path",
        path: name)
    }
    let opened = try asking(translate) { () throws(SystemError) -> (file: Int32, refusal: SystemError?)? in
      do throws(SystemError) {
        return (try system.open(location.path, for: status == nil ? .creating : .appending), nil)
      } catch {
        if error.isTaken || error.isMissing { return nil }
        guard error.isRefusal, status != nil else { throw error }
        return (try system.open(location.path, for: .reading), error)
      }
    }
    guard let opened else { return nil }
    if status == nil { (written, lastTable) = ([], nil) }
    return try adopt(Descriptor(opened.file, of: system), readOnly: opened.refusal)
  }

  private func adopt(_ new: Descriptor, readOnly: SystemError?) throws(PreferenceError) -> Descriptor {
    let status = try asking { () throws(SystemError) in try system.status(of: new.number) }
    if system.hasOtherUsers, status.isForeign(to: system.user) {
      throw PreferenceError(
        .insecureFile,
        "the file belongs to another user, who could change it; it was not read. Remove it or choose another path",
        path: name)
    }
    unsafeMode = system.hasOtherUsers && status.mode & 0o022 != 0 ? status.mode : nil
    (self.readOnly, folderNeedsSync) = (readOnly, true)
    replace(with: new, identity: status.identity, known: nil)
    return new
  }

  /// Switches to another open file, and discards the recorded damage and failures of the old one.
  func replace(with new: Descriptor, identity: FileIdentity, known: KnownPart?) {
    (descriptor, self.identity, self.known) = (new, identity, known)
    (damage, repairThreshold, compactionThreshold, hasValueToErase) = (PreferenceRecovery(), .max, 0, false)
  }

  /// Revokes the right of other users to write to the file, which has proved to be a preferences file.
  func keepOthersOut() throws(PreferenceError) {
    guard let descriptor, let mode = unsafeMode else { return }
    do throws(SystemError) {
      try system.setMode(mode & 0o755, of: descriptor.number)
      unsafeMode = nil
    } catch {
      throw PreferenceError(
        .insecureFile,
        "others can write the file, and that right could not be taken from them; it was not read. Allow its owner only"
          + " (chmod go-w) or choose another path", path: name, underlying: error)
    }
  }

  var neverSettled: PreferenceError {
    PreferenceError(
      .unwritable, "is replaced over and over, so it could not be locked; find out which program does that", path: name)
  }

  /// Runs `body`, and translates errors of its system calls into errors of the store.
  func asking<Result>(
    _ translate: (SystemError, String) -> PreferenceError = PreferenceError.reading,
    _ body: () throws(SystemError) -> Result
  ) throws(PreferenceError) -> Result {
    do throws(SystemError) { return try body() } catch { throw translate(error, name) }
  }

  /// Returns the identity and the size of the file at the path; nil if there is none.
  func snapshot() throws(PreferenceError) -> FileStatus? {
    do throws(SystemError) { return try system.snapshot(atPath: location.path) } catch {
      if error.isMissing { return nil }
      throw .reading(error, path: name)
    }
  }
}
