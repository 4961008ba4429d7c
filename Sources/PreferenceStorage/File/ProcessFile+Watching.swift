import Support

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

  /// Watches the file if it isn't watched and there is a listener.
  ///
  /// Not in a forked child. `Mutex` keeps the number of its thread, which in the thread that has forked is the parent's, so
  /// that the program would stop where that thread and the watching one meet at a lock.
  func keepWatching() {
    let isNew = watch.withLock { state in
      if state.forkCount != system.forkCount { state = FileWatchState(watch: nil, forkCount: system.forkCount) }
      // A listener who went since found no watch to end.
      guard state.watch == nil, contents.changes.isHeard else { return false }
      do throws(SystemError) {
        guard system.forkCount == 0 else { throw SystemError.notPermitted("fork") }
        state.watch = try system.watch(path) { [weak self] in self.flatMap { $0.catchUp() } }
        return true
      } catch {
        contents.errors.report(
          PreferenceError(
            .unwatchable, "can't be watched, so what other processes change is seen only after a write or a reload",
            path: path.description, underlying: error))
        return false
      }
    }
    // Nothing that came before the watch shall be missed.
    if isNew { _ = catchUp() }
  }

  private func stopWatchingIfUnheard() {
    let ended = watch.withLock { state -> FileWatchState in
      if contents.changes.isHeard { return FileWatchState() }
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
    let status = try statusIfKnown()
    if let status, stamp?.isSettled == true || age(of: status) <= quietTime { return nextLook }
    try begin(.reading, within: .zero)
    defer { finish() }
    var mustRead = status != nil
    if !mustRead { mustRead = try !hasStampOfFile() }
    if mustRead { try readAll() }
    return nextLook
  }

  /// The file's status, where it seems to be as memory knows it.
  private func statusIfKnown() throws(PreferenceError) -> FileStatus? {
    guard descriptor != nil, let end else { return nil }
    do throws(SystemError) {
      let status = try system.status(atPath: path)
      let isKnown =
        status.snapshot == FileSnapshot(identity: identity, size: end.size) && stamp?.changed == status.changed
      return isKnown ? status : nil
    } catch {
      guard error.isMissing else { throw .reading(error, path: name) }
      return nil
    }
  }

  private func hasStampOfFile() throws(PreferenceError) -> Bool {
    guard let descriptor else { return true }
    do throws(SystemError) {
      return try system.status(of: descriptor.number).changed == stamp?.changed
    } catch {
      throw .reading(error, path: name)
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
