import Support
import Synchronization

/// The watch of a file, in the process that began it.
struct FileWatchState: Sendable {
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
  /// that the program would stop where that thread and the watching one meet at a lock.
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

extension LockedFile {
  /// Reads what is new after a notice, which may well be of what was written here, and returns when to look again, where
  /// this look can't be sure.
  ///
  /// It waits for no lock: it is called by the thread that serves all watches.
  func followNotice() throws(PreferenceError) -> Duration? {
    let known = try changeIfKnown()
    if let known, stamp?.isSettled == true || age(of: known) <= quietTime { return nextLook }
    try begin(.reading, within: .zero)
    defer { finish() }
    if known != nil || stamp?.changed != changed { try readAll() }
    return nextLook
  }

  /// When the file was last changed, if it seems to be as memory knows it.
  ///
  /// After a write of this store only its length is known. An edit in place at the same instant is found by the next look.
  private func changeIfKnown() throws(PreferenceError) -> Int64? {
    guard descriptor != nil, let end else { return nil }
    do throws(SystemError) {
      let now = try system.snapshot(atPath: path)
      let isKnown = now.identity == identity && now.size == end.size && (stamp == nil || stamp?.changed == now.changed)
      return isKnown ? now.changed : nil
    } catch {
      guard error.isMissing else { throw .reading(error, path: name) }
      return nil
    }
  }

  /// Nil where all of the file was read long enough after its last change.
  ///
  /// What this process has written, and lines that were appended, are known without reading all of the file; so an edit in
  /// place at the same instant shows only then.
  private var nextLook: Duration? {
    guard descriptor != nil else { return nil }
    return end != nil && stamp?.isSettled == true ? nil : .nanoseconds(quietTime) + .milliseconds(5)
  }

  /// For how long a file has to be left alone before all of it is read again: longer for a long one, so that this never
  /// takes more than a hundredth of the time.
  private var quietTime: Int64 { LockedFile.timeStep + Int64(end?.size ?? 0) * 50 }
}
