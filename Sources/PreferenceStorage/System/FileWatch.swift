internal import Dispatch
import Support

/// A watch of a file, which goes on until it is canceled.
///
/// The handler is called after each event that may concern the file, and once a second if the file isn't as it was. What the
/// system says of events is ``FolderEvents``, which isn't the same on all systems.
package final class FileWatch: Sendable {
  private struct State: Sendable {
    var problem: SystemError?
    /// The file as it was when the handler was last called; nil before that.
    var seen: FileStatus?
    /// The handler is about to be called.
    var isDue = false
    var isCanceled = false
  }

  let path: FilePath
  private let onEvent: @Sendable () -> Bool
  /// The file's own, so that a slow handler delays no other file's.
  private let queue = DispatchQueue(label: "preferences")
  private let state = Lock(State())

  init(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) {
    (self.path, self.onEvent) = (path, onEvent)
    // Dispatch doesn't work in a forked child, nor does `Mutex`, which takes the thread that forked for the parent's.
    if Fork.count > 0 { note(SystemError("fork", EPERM)) } else { FolderEvents.shared.add(self) }
  }

  /// The reason that the file can't be watched now; nil if it is.
  var problem: SystemError? { state.withLock(\.problem) }

  /// Notes why the file can't be watched, unless it is for want of the folder, which needs no watch yet.
  func note(_ problem: SystemError?) { state.withLock { $0.problem = problem?.isMissing == true ? nil : problem } }

  /// Ends the watch; the handler may still be running, and isn't called again.
  func cancel() {
    state.withLock { $0.isCanceled = true }
    if Fork.count == 0 { FolderEvents.shared.remove(self) }
  }

  /// Calls the handler soon, once for all events until then.
  func deliver() {
    let isFirst = state.withLock { state in
      defer { state.isDue = true }
      return !state.isDue
    }
    if isFirst { queue.async { self.callHandler() } }
  }

  /// Calls the handler if the file isn't as it was seen last.
  func lookAgain() {
    let status = look()
    if state.withLock({ $0.seen != status }) { deliver() }
  }

  private func look() -> FileStatus? {
    do throws(SystemError) { return try FileSystem().status(atPath: path) } catch { return nil }
  }

  private func callHandler() {
    let status = look()
    let isCanceled = state.withLock { state in
      (state.isDue, state.seen) = (false, status)
      return state.isCanceled
    }
    if isCanceled { return }
    let start = ContinuousClock.now
    if !onEvent() { state.withLock { $0.seen = nil } }
    // A file that is written without a pause is to cost little, also if it is a large one.
    let pause = (ContinuousClock.now - start) * 20 / .microseconds(1)
    sleep(microseconds: UInt32(min(pause, 100_000)))
  }
}
