internal import Dispatch
import Support

/// A watch on a file, which lasts until it is canceled.
///
/// The path is followed again once a second, so that another file to which a symbolic link leads then is watched.
///
/// The handler is called after each event that may concern the file, but several events can share a call. Once a
/// second, the handler is also called if it hasn't been called yet, if its last call returned false, or if the file's
/// status has changed since the last call. The events come from ``FolderEvents``, which has one implementation for
/// Linux and Android, and another for Apple platforms.
package final class FileWatch: Sendable {
  private struct State: Sendable {
    var problem: SystemError?
    /// The status of the file when the handler was last called; nil if there was no file.
    var seen: FileStatus?
    /// Whether the last finished call of the handler returned true; false until the first call has finished.
    var isHandled = false
    /// Whether a call of the handler is already scheduled.
    var isDue = false
    var isCanceled = false
  }

  let path: FilePath
  private let onEvent: @Sendable () -> Bool
  /// The queue that runs only this file's handler, so that a slow handler doesn't delay the handlers of other files.
  let queue = DispatchQueue(label: "preferences")
  private let state = Lock(State())

  init(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) {
    (self.path, self.onEvent) = (path, onEvent)
    // In a forked child, Dispatch doesn't work. Nor does `Mutex`, which mistakes the child's thread for the parent's.
    if Fork.count > 0 { note(SystemError("fork", EPERM)) } else { FolderEvents.shared.add(self) }
  }

  /// The reason why the file can't be watched now; nil if there is no problem.
  var problem: SystemError? { state.withLock(\.problem) }

  /// Records the reason why the file can't be watched, or nil if there is no problem.
  ///
  /// A missing folder isn't a problem, since there is nothing to watch yet.
  func note(_ problem: SystemError?) { state.withLock { $0.problem = problem?.isMissing == true ? nil : problem } }

  /// Ends the watch.
  ///
  /// One call of the handler may still be running or just beginning when this method returns. After that call, the
  /// handler isn't called again.
  func cancel() {
    state.withLock { $0.isCanceled = true }
    if Fork.count == 0 { FolderEvents.shared.remove(self) }
  }

  /// Schedules a call of the handler, unless one is already scheduled.
  func deliver() {
    let isFirst = state.withLock { state in
      defer { state.isDue = true }
      return !state.isDue
    }
    if isFirst { queue.async { self.callHandler() } }
  }

  /// Schedules a call of the handler if it hasn't been called yet, if its last call returned false, or if the file's
  /// status has changed since the last call.
  func lookAgain() {
    let status = look()
    if state.withLock({ !$0.isHandled || $0.seen != status }) { deliver() }
  }

  private func look() -> FileStatus? {
    do throws(SystemError) { return try FileSystem().targetStatus(atPath: path) } catch { return nil }
  }

  /// The path of the file that the path leads to now; the path itself if it leads to no file.
  var target: FilePath {
    do throws(SystemError) { return try FileSystem().resolve(path) } catch { return path }
  }

  private func callHandler() {
    let status = look()
    let isCanceled = state.withLock { state in
      (state.isDue, state.seen) = (false, status)
      return state.isCanceled
    }
    if isCanceled { return }
    let start = ContinuousClock.now
    let isHandled = onEvent()
    state.withLock { $0.isHandled = isHandled }
    // The pause takes 20 times as long as the call, but at most 50 milliseconds. It keeps the load low while a file is
    // written continuously, even if the file is large.
    let pause = (ContinuousClock.now - start) * 20 / .microseconds(1)
    sleep(microseconds: UInt32(min(pause, 50_000)))
  }
}
