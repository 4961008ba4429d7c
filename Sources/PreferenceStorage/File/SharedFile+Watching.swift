import Locking

extension SharedFile {
  /// The keys that change from now on.
  ///
  /// The file is watched while anyone listens.
  func listen() -> PreferenceChanges {
    let changes = PreferenceChanges(of: values.changes) { [self] in stopWatchingIfUnheard() }
    keepWatching()
    return changes
  }

  /// Watches the file if it isn't watched: from the first listener on, and again when its folder was gone and is back.
  func keepWatching() {
    let isNew = watch.withLock { watch in
      if let watch, watch.isAlive { return false }
      do throws(SystemError) {
        let new = try system.watch(path) { [weak self] in self?.catchUp() }
        watch?.cancel()
        watch = new
        return true
      } catch {
        values.errors.report(
          PreferenceError(
            .unreadable, "can't be watched, so what other processes change is seen only after a reload",
            path: path, underlying: error))
        return false
      }
    }
    // Nothing that came before the watch shall be missed.
    if isNew { catchUp() }
  }

  private func stopWatchingIfUnheard() {
    watch.withLock { watch in
      if values.changes.isHeard { return }
      watch?.cancel()
      watch = nil
    }
  }
}
