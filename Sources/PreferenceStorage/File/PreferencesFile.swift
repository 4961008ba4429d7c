import Support
import Synchronization

/// One preferences file, open once in this process and shared by every store on its path: its values, and what memory
/// knows of the file.
///
/// Writing is in `PreferencesFile+Writing.swift`: take the turn, lock the file, look at it, append, unlock. <doc:TheFile> has
/// the states that the file can be found in, and what is done in each.
///
/// `@unchecked Sendable`: what several threads read has a lock or is atomic; all other variables are guarded by the hub's
/// turn, whose atomic `owner` is exchanged acquiring, and given back releasing.
final class PreferencesFile: @unchecked Sendable {
  let path: FilePath
  let system: FileSystem
  /// A file up to this size, 256 KiB unless a test says otherwise, is never compacted by itself.
  let compactionMinimum: Int
  private let forkCount = Fork.count

  // MARK: What any thread may read

  struct Memory: Sendable {
    var table = ValueTable()
    /// The error for which there is nothing to read, if the file could not be read.
    var failure: PreferenceError?
    /// When a file that couldn't be opened was last tried again by a reader.
    var lastTry: SuspendingClock.Instant?
    var recovery: PreferenceRecovery?
  }
  let memory = Lock(Memory())
  /// The turn, the listeners and the readers of errors.
  let ownHub: PreferenceHub
  private let watch = Lock<FileWatch?>(nil)
  /// Whether what others change is read as they change it, also without a listener.
  private let isFollowed = Atomic(false)
  private let wasRead = Atomic(false)

  // MARK: What the thread that has the turn may use

  var location: FileLocation
  /// The open file; nil before there is one, and after it was deleted or replaced.
  var descriptor: Descriptor?
  var identity = FileIdentity()
  /// The reason that the file can only be read.
  var readOnly: SystemError?
  /// The state of the file as memory knows it; nil if all of it has to be read.
  var known: KnownPart?
  /// The damage that is still in the file, until a new file takes its place.
  var damage = PreferenceRecovery()
  /// Whether that failed, so that the next try is the next compaction's.
  var repairFailed = false
  /// The error of a synchronization, after which only a new file is safe: the system may call the next one a success.
  var syncFailure: SystemError?
  /// Whether the file's name may not survive a power cut yet.
  var folderNeedsSync = true
  var sizeLimit: Int?
  /// The length above which compaction is looked into.
  var compactionThreshold = 0
  /// The file's mode if others may write it, a right that is taken from them once it is known to be a preferences file.
  var unsafeMode: UInt32?
  /// The keys that were written here, whose values no other program replaces without a word.
  var written: Set<String> = []
  /// Whether a compaction replaced the file before this one, and carried everything over.
  var wasCarriedOver = false
  /// The keys that changed since the listeners were last notified, if there is one.
  var changedKeys: Set<String> = []
  /// Whether the file's lock was waited for in vain, and hasn't been free since.
  var isBlocked = false
  /// Until when a thread leaves the lock to others, after a transaction that held it for long.
  var lockPause: (thread: UInt, end: SuspendingClock.Instant)?
  var buffer: [UInt8] = []

  /// For how long a reader waits for the other threads, or for the lock of a file that seems to be damaged.
  static let readingLimit = Duration.seconds(1)

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
  /// Whether the process was forked off from the one that opened the file.
  var isForked: Bool { forkCount != Fork.count }
  /// The file's hub, of which a forked child has another one, without listeners.
  var hub: PreferenceHub { isForked ? PreferenceHub() : ownHub }

  /// Throws in a forked child: another thread of the parent may have been in the midst of anything.
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
  /// The text of the key's value, or nil if there is none; a file that couldn't be opened is tried again.
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

  /// The key as it is spelled here, with its text; nil if it has none.
  func entry(forKey key: String) -> PreferenceChange? { memory.withLock { $0.table.entry(forKey: key) } }

  func change(to text: JSONText?, forKey key: String) -> PreferenceChange? {
    let old = entry(forKey: key)
    return old?.text == text ? nil : PreferenceChange(key: old?.key ?? key, text: text)
  }

  /// Opens a file that couldn't be opened, unless that was tried in the last tenth of a second, and returns whether it was
  /// tried.
  private func openAgain() -> Bool {
    let isDue = memory.withLock { memory in
      guard memory.failure != nil else { return false }
      if let last = memory.lastTry, .now - last < .milliseconds(100) { return false }
      memory.lastTry = .now
      return true
    }
    guard isDue else { return false }
    // If it fails again, the reason is noted.
    try? reload()
    memory.withLock { $0.lastTry = .now }
    return true
  }
}

// MARK: Watching

extension PreferencesFile {
  /// The keys that change from now on, or one of them; the file is watched while there is a listener.
  func listen(to key: String? = nil) -> PreferenceChanges {
    let changes = hub.changes(of: key) { [self] in stopWatchingIfUnheard() }
    keepWatching()
    return changes
  }

  /// Follows the file from the second value that is read directly: a tool that reads one and ends needs no thread.
  func noteRead() {
    if isFollowed.load(ordering: .relaxed) { return }
    if wasRead.exchange(true, ordering: .relaxed) { follow() }
  }

  /// Reads what others change as they change it, from now on, as long as the process has the file open.
  func follow() {
    if isForked || isFollowed.exchange(true, ordering: .relaxed) { return }
    keepWatching()
  }

  /// Whether what others change is to be read as they change it.
  private var isWatchNeeded: Bool { isFollowed.load(ordering: .relaxed) || ownHub.hasListeners }

  /// Watches the file if it isn't watched, and there is a listener or a reader who follows it.
  private func keepWatching() {
    if isForked { return }
    let new = watch.withLock { watch -> FileWatch? in
      // A listener that ended since then found no watch to end.
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
    // What came before the watch would be missed. If another thread works on the file now, it is looked at in a second.
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

  /// Reads what a notice announces, and returns whether it could.
  private func catchUp(within limit: Duration) -> Bool {
    do throws(PreferenceError) {
      try inTurn(within: limit) { () throws(PreferenceError) in try lookAround(waiting: .zero) }
    } catch {
      if error.code == .busy || error.code == .nestedTransaction { return false }
      // What lasts is reported once.
      if noteFailure(error) { ownHub.report(error) }
    }
    return true
  }

  /// Makes readers throw the error, unless memory has values to go on with; returns whether it isn't known yet.
  @discardableResult
  func noteFailure(_ error: PreferenceError) -> Bool {
    memory.withLock { memory in
      let known = memory.failure
      if known != nil || memory.table.isEmpty { memory.failure = error }
      return known?.code != error.code
    }
  }
}
