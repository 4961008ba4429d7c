import Support
import Synchronization

/// The following of what others write to a file: the watch on the file, and when readers have to look themselves.
final class FileFollower: Sendable {
  /// The extent to which the file is followed; each stage includes those before it.
  private enum Stage: UInt8, AtomicRepresentable {
    case unread
    case read
    /// The file has to be watched even without a listener, because a store or a property has read values.
    case wanted
    /// Changes by others are read as they happen, since the file is watched, and was read after the watch had started.
    ///
    /// The stage stays even if the watch has a problem later.
    case followed
  }

  private let path: FilePath
  private let system: FileSystem
  private let hub: PreferenceHub
  private let stage = Atomic(Stage.unread)
  private let watch = Lock<FileWatch?>(nil)

  init(of path: FilePath, in system: FileSystem, reportingTo hub: PreferenceHub) {
    (self.path, self.system, self.hub) = (path, system, hub)
  }

  /// Whether a read has to do anything to see what others have written.
  var mustAct: Bool { stage.load(ordering: .acquiring) != .followed }

  /// Reads the file before the first read of a store, if it was last looked at a while ago, and follows it from the
  /// second read on.
  ///
  /// A tool that reads one value and exits needs no watch.
  func noteRead(for file: PreferencesFile) {
    if !stage.compareExchange(expected: .unread, desired: .read, ordering: .relaxed).exchanged {
      return follow(for: file)
    }
    if file.values.isOutdated { _ = file.catchUp(within: Patience.briefLimit) }
  }

  /// Starts to read changes by others as they happen.
  ///
  /// If the file can't be watched, or another thread uses it for more than 50 milliseconds, a later call tries again.
  func follow(for file: PreferencesFile) {
    for earlier in [Stage.unread, .read] {
      _ = stage.compareExchange(expected: earlier, desired: .wanted, ordering: .relaxed)
    }
    _ = watchIfNeeded(for: file)
    let isWatched = watch.withLock { $0?.problem == nil }
    guard isWatched || file.values.isOutdated else { return }
    if file.catchUp(within: Patience.briefLimit), isWatched { stage.store(.followed, ordering: .releasing) }
  }

  // MARK: Watching

  /// Whether the file has to be watched, for a listener or for reads of current values.
  private var isWatchNeeded: Bool {
    [.wanted, .followed].contains(stage.load(ordering: .relaxed)) || hub.hasListeners
  }

  /// Starts to watch the file if a watch is needed and there is none yet.
  ///
  /// - Returns: Whether this call has started a watch. The watch doesn't report changes from before its start, so the
  ///   caller has to read the file.
  func watchIfNeeded(for file: PreferencesFile) -> Bool {
    let new = watch.withLock { watch -> FileWatch? in
      // Without `isWatchNeeded`, a watch could start after the last listener has ended. This watch could run until the
      // file is closed.
      guard watch == nil, isWatchNeeded else { return nil }
      watch = system.watch(path) { [weak file] in
        guard let file else { return true }
        // A file that can't be opened or read now may become readable without an event, so the watch tries again.
        return file.catchUp(within: Patience.defaultLimit) && file.values.failure?.code != .unreadable
      }
      return watch
    }
    guard let new else { return false }
    if let problem = new.problem {
      hub.report(
        PreferenceError(
          .unwatchable,
          "can't be watched now, so what other processes change is seen only once a second, or after a write or a reload;"
            + " it is tried again every second", path: path.description, underlying: problem))
    }
    return true
  }

  func endIfNotNeeded() {
    let ended = watch.withLock { watch -> FileWatch? in
      if isWatchNeeded { return nil }
      defer { watch = nil }
      return watch
    }
    ended?.cancel()
  }

  func end() { watch.withLock { $0 }?.cancel() }
}
