import Support
import Synchronization

/// A preferences file with its values in memory, shared by the stores of this process on its path.
///
/// A store has an unshared `PreferencesFile` if it has its own `FileSystem`, or if it is the standard store and
/// couldn't be opened at first.
///
/// The class records which part of the file the values in memory reflect (`KnownPart`).
///
/// `PreferencesFile+Writing.swift` has the steps of a write: wait for other threads, lock the file, compare it with
/// memory, append a line, unlock the file. <doc:TheFile> lists the states of a file, and what the store does in each
/// state.
///
/// `@unchecked Sendable`: The locks `memory` and `watch` guard what they contain, and any thread may read the atomics.
/// The hub's `Turn` lock guards all other variables. A thread takes this lock with acquiring order, and gives it back
/// with releasing order.
final class PreferencesFile: @unchecked Sendable {
  let path: FilePath
  let system: FileSystem
  /// The length that the file must exceed to be compacted because of its length: 256 KiB, except in some tests.
  let compactionMinimum: Int
  private let forkCount = Fork.count

  // MARK: State for any thread

  struct Memory: Sendable {
    var table = ValueTable()
    /// The error that reads throw because the file couldn't be read and `table` is empty; nil if reads don't throw.
    var failure: PreferenceError?
    /// The time at which a reader last tried again to open or read the file after a failure (`openAgain()`).
    var lastTry: SuspendingClock.Instant?
    var recovery: PreferenceRecovery?
    /// The time at which `lookAround` last began to read the file; nil before the first time.
    var lastLook: ContinuousClock.Instant?
  }
  let memory = Lock(Memory())
  /// The hub that the process that opened the file uses; a forked child uses a new hub instead.
  ///
  /// The hub has the `Turn` lock, the listeners, and the streams of errors.
  let ownHub: PreferenceHub
  private let watch = Lock<FileWatch?>(nil)
  /// Whether the file has to be watched even without a listener, because a store or a property has read values.
  private let isToBeFollowed = Atomic(false)
  /// Whether changes by other processes are read as they happen.
  ///
  /// This is true once the file is watched, and was read after the watch had started. It stays true even if the watch
  /// has a problem later.
  private let isFollowed = Atomic(false)
  private let wasRead = Atomic(false)

  // MARK: State guarded by the `Turn` lock

  var location: FileLocation
  /// The descriptor of the open file; nil while no file is open, such as after the file was deleted.
  var descriptor: Descriptor?
  var identity = FileIdentity()
  /// The error of opening the file for writing, if it could be opened only for reading; otherwise nil.
  var readOnly: SystemError?
  /// The part of the file that memory reflects; nil if the whole file has to be read.
  var known: KnownPart?
  /// The damage that the last read of the whole file found, if that read had the file's lock; otherwise empty.
  ///
  /// The next rewrite of the file removes the damage.
  var damage = PreferenceRecovery()
  /// The file length above which the next write repairs the file.
  ///
  /// It is `.max` if there is no damage, 0 once damage is found, and twice the file's length after a failed repair.
  var repairThreshold = Int.max
  /// Whether the open file contains a former value that a caller has asked to erase; false after a file is opened.
  var hasValueToErase = false
  /// Whether the folder has to be synchronized so that the file's name survives a power failure.
  var folderNeedsSync = true
  /// The file length above which a failed compaction is tried again; 0 if no compaction has failed.
  var compactionThreshold = 0
  /// The permission bits that the file had when it was opened, if they let other users write to it; otherwise nil.
  ///
  /// The store revokes the write access of other users once it has found that the file is a preferences file.
  var unsafeMode: UInt32?
  /// The keys whose last values this process has written.
  ///
  /// If another program discards one of these values, the store reports the loss.
  var written: Set<String> = []
  /// The last `LineParser.uniqueMark` of the file, which distinguishes a rewriting in place from a restored copy.
  var uniqueMark: UInt32?
  /// The values of a file that was removed from the path or seems damaged, to compare with the next read; nil if none.
  var lastTable: ValueTable?
  /// Whether the previous file at the path ended with `Line.mark`, because a rewrite carried over all of its values.
  var wasCarriedOver = false
  /// The changed keys that listeners haven't been notified of yet.
  var changedKeys: Set<String> = []
  /// The changes that haven't been passed to the readers of ``records()`` yet.
  var changedRecords: [PreferenceChange] = []
  /// The longest wait for the file's lock that timed out since a write last took the lock; zero if there was none.
  ///
  /// If the limit of a write isn't longer than this wait, the write waits at most 50 milliseconds for the lock.
  var waitInVain = Duration.zero
  /// The thread that last kept the file locked for a long time, and the time at which its pause ends.
  ///
  /// The thread doesn't lock the file during its pause, so that other processes can lock the file.
  var lockPause: (thread: UInt, end: SuspendingClock.Instant)?
  var buffer: [UInt8] = []

  /// The longest time that `reload()` waits for the lock of a file that seems damaged.
  ///
  /// The watch waits equally long for other threads, and a rewrite waits equally long for the lock of the folder.
  static let readingLimit = Duration.seconds(1)
  /// The age above which the values in memory count as outdated while `isFollowed` is false.
  ///
  /// A store that reads an outdated value first reads the file. To do so, the store waits at most `followingLimit` for
  /// other threads. If they take longer, the store reads the value from memory as it is.
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
  /// The file's hub, or in a forked child, a new hub without listeners.
  var hub: PreferenceHub { isForked ? PreferenceHub() : ownHub }

  /// Throws `.forked` in a forked child, since a thread of the parent may have been changing the state at the fork.
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

  /// Returns the JSON text of the key's value, or nil if the key has no value.
  ///
  /// If memory contains an error instead of values, this method first tries to open the file again (`openAgain()`).
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

  /// Returns the key as the file spells it, with the text of its value; nil if the key has no value.
  func entry(forKey key: String) -> PreferenceChange? { memory.withLock { $0.table.entry(forKey: key) } }

  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    let old = entry(forKey: key)
    return old?.text == text ? nil : PreferenceChange(key: old?.key ?? key, text: text)
  }

  /// Tries again to open or read the file if memory contains an error, at most ten times a second.
  ///
  /// The method calls `reload()`, which can wait up to five seconds for other threads.
  ///
  /// - Returns: Whether this call has tried to open or read the file.
  private func openAgain() -> Bool {
    let isDue = memory.withLock { memory in
      guard memory.failure != nil else { return false }
      if let last = memory.lastTry, .now - last < .milliseconds(100) { return false }
      memory.lastTry = .now
      return true
    }
    guard isDue else { return false }
    // If the file still can't be opened or read, `reload` records the error for readers.
    try? reload()
    memory.withLock { $0.lastTry = .now }
    return true
  }
}

// MARK: Watching

extension PreferencesFile {
  /// Returns future changes to all keys, or to one key, and watches the file while there is a listener.
  func listen(to key: String? = nil) -> PreferenceChanges {
    let changes = hub.changes(of: key) { [self] in stopWatchingIfUnheard() }
    keepWatching()
    return changes
  }

  /// Returns a stream of all future changes, in order, and watches the file while the stream has a reader.
  func records() -> AsyncStream<PreferenceChange> {
    let records = hub.records { [self] in stopWatchingIfUnheard() }
    keepWatching()
    return records
  }

  /// Brings memory up to date before a store reads values from memory, for instance in `json(forKey:)`.
  ///
  /// The first call doesn't watch the file, because a tool that reads one value and exits needs no watch. It just reads
  /// the file, unless the file was read in the last 50 milliseconds. The second call starts to watch the file
  /// (`follow()`).
  func noteRead() {
    if isFollowed.load(ordering: .acquiring) || isForked { return }
    if wasRead.exchange(true, ordering: .relaxed) { return follow() }
    if isOutdated { _ = catchUp(within: PreferencesFile.followingLimit) }
  }

  /// Starts to read changes by other processes as they happen, until this process closes the file.
  ///
  /// If the file can't be watched, or another thread holds the `Turn` lock for more than 50 milliseconds, a later call
  /// tries again.
  func follow() {
    if isFollowed.load(ordering: .acquiring) || isForked { return }
    isToBeFollowed.store(true, ordering: .relaxed)
    keepWatching()
    let isWatched = watch.withLock { $0?.problem == nil }
    guard isWatched || isOutdated else { return }
    if catchUp(within: PreferencesFile.followingLimit), isWatched { isFollowed.store(true, ordering: .releasing) }
  }

  /// Whether the last read of the file began more than `followingLimit` ago, or the file was never read.
  private var isOutdated: Bool {
    memory.withLock(\.lastLook).map { .now - $0 > PreferencesFile.followingLimit } ?? true
  }

  /// Whether the file has to be watched, for a listener or for reads of current values.
  private var isWatchNeeded: Bool { isToBeFollowed.load(ordering: .relaxed) || ownHub.hasListeners }

  /// Starts to watch the file if a watch is needed and there is none yet.
  private func keepWatching() {
    if isForked { return }
    let new = watch.withLock { watch -> FileWatch? in
      // Without `isWatchNeeded`, a watch could start after the last listener has ended. This watch could run until the
      // file is closed.
      guard watch == nil, isWatchNeeded else { return nil }
      watch = system.watch(path) { [weak self] in self?.catchUp(within: PreferencesFile.readingLimit) ?? true }
      return watch
    }
    guard let new else { return }
    if let problem = new.problem {
      ownHub.report(
        PreferenceError(
          .unwatchable,
          "can't be watched now, so what other processes change is seen only once a second, or after a write or a reload;"
            + " it is tried again every second", path: name, underlying: problem))
    }
    // The watch doesn't report changes from before its start, so they are read now. If another thread holds the `Turn`
    // lock, the watch tries again within about a second.
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

  /// Reads the changes by other processes, and reports an error unless memory has an error with the same code.
  ///
  /// - Returns: False if the `Turn` lock isn't free within the limit, or if this thread holds it; otherwise, true.
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
      // An error isn't reported if memory already contains an error with the same code.
      if isNew { ownHub.report(error) }
    }
    return true
  }

  /// Makes reads throw the error, unless memory still contains values that reads can return.
  ///
  /// If no file is open, the method first removes all values from memory.
  ///
  /// - Returns: False if memory already contains an error with the same code; otherwise, true.
  @discardableResult
  func noteFailure(_ error: PreferenceError) -> Bool {
    let known = memory.withLock(\.failure)
    if descriptor == nil {
      removeAllFromMemory(because: error)
    } else {
      memory.withLock { if known != nil || $0.table.isEmpty { $0.failure = error } }
    }
    return known?.code != error.code
  }
}

// MARK: Opening

extension PreferencesFile {
  /// Returns the open file, and creates a missing file if `making` is true.
  ///
  /// - Returns: Nil if there is no file and `making` is false, or if another process has just created or removed the
  ///   file.
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

  /// Switches to a new or rewritten file, and discards what is recorded about damage and failures in the old file.
  func replace(with new: Descriptor, identity: FileIdentity, known: KnownPart?) {
    (descriptor, self.identity, self.known) = (new, identity, known)
    (damage, repairThreshold, compactionThreshold, hasValueToErase) = (PreferenceRecovery(), .max, 0, false)
  }

  /// Revokes the write access of other users, after the store has found that the file is a preferences file.
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

  /// Returns the identity and the size of the file at the path; nil if there is no file.
  func snapshot() throws(PreferenceError) -> FileStatus? {
    do throws(SystemError) { return try system.snapshot(atPath: location.path) } catch {
      if error.isMissing { return nil }
      throw .reading(error, path: name)
    }
  }
}
