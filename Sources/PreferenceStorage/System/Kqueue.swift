#if canImport(Darwin)
  import Darwin
  import Dispatch
  import Support

  /// Watches a file, by kqueues on it and on its folder, for when another file takes its name.
  ///
  /// A kqueue is on an open file, not on a name. So after each event, and once a second, the names are looked up, and what has one
  /// of them now is watched instead.
  final class KqueueWatch: FileWatch {
    private let parts: [FilePath]
    private let system = PosixFileSystem()
    private let onEvent: @Sendable () -> Bool
    private let queue = DispatchQueue(label: "preferences", qos: .utility)
    private let state = Lock(State())

    private struct State: Sendable {
      /// For each part that is there, the source on it.
      var sources: [FilePath: Source] = [:]
      var timer: Timer?
      var isCancelled = false
      /// The file as it was when the handler was last called; nil before that.
      var seen: FileSnapshot?
      var problem: SystemError?
    }

    /// A Dispatch source may be used from any thread, which its type doesn't say.
    ///
    /// `@unchecked Sendable`: Dispatch guards what the source points at, and the rest never changes.
    private struct Source: @unchecked Sendable {
      let source: any DispatchSourceFileSystemObject
      let identity: FileIdentity
    }

    /// `@unchecked Sendable`: as above.
    private struct Timer: @unchecked Sendable {
      let source: any DispatchSourceTimer
    }

    init(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) {
      parts = [path.folder, path]
      self.onEvent = onEvent
      follow()
      let timer = Timer(source: DispatchSource.makeTimerSource(queue: queue))
      timer.source.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
      timer.source.setEventHandler { [weak self] in self?.lookAgain() }
      timer.source.activate()
      state.withLock { $0.timer = timer }
    }

    deinit { cancel() }

    var problem: SystemError? { state.withLock(\.problem) }

    func cancel() {
      let ended = state.withLock { state in
        defer { (state.sources, state.timer, state.isCancelled) = ([:], nil, true) }
        return state
      }
      for source in ended.sources.values { source.source.cancel() }
      ended.timer?.source.cancel()
    }

    private func look() -> FileSnapshot? {
      do throws(SystemError) { return try system.status(atPath: parts[1]).snapshot } catch { return nil }
    }

    /// Watches what has the names now, the folder first: a name that is taken after this look is an event of the folder.
    private func follow() {
      for part in parts {
        do throws(SystemError) {
          let identity = try system.snapshot(atPath: part).identity
          if state.withLock({ $0.sources[part]?.identity == identity }) { continue }
          replace(part, with: try makeSource(part))
          state.withLock { $0.problem = nil }
        } catch {
          replace(part, with: nil)
          if !error.isMissing { state.withLock { $0.problem = error } }
        }
      }
    }

    private func replace(_ part: FilePath, with new: Source?) {
      let old = state.withLock { state in
        if state.isCancelled { return new }
        defer { state.sources[part] = new }
        return state.sources[part]
      }
      old?.source.cancel()
    }

    private func lookAgain() {
      follow()
      if look() != state.withLock(\.seen) { report() }
    }

    private func report() {
      let isCancelled = state.withLock { state in
        state.seen = look()
        return state.isCancelled
      }
      if !isCancelled, !onEvent() { state.withLock { $0.seen = nil } }
    }

    private func handle() {
      follow()
      report()
    }

    private func makeSource(_ part: FilePath) throws(SystemError) -> Source {
      let descriptor = try openDescriptor(part, O_EVTONLY | O_CLOEXEC)
      let identity: FileIdentity
      do throws(SystemError) {
        identity = try system.status(of: descriptor).snapshot.identity
      } catch {
        Darwin.close(descriptor)
        throw error
      }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .attrib, .delete, .rename], queue: queue)
      source.setEventHandler { [weak self] in self?.handle() }
      // Dispatch registers it some time after the activation, and what happens until then isn't an event.
      source.setRegistrationHandler { [weak self] in self?.handle() }
      source.setCancelHandler { Darwin.close(descriptor) }
      source.activate()
      return Source(source: source, identity: identity)
    }
  }

  extension PosixFileSystem {
    package func watch(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) -> any FileWatch {
      KqueueWatch(path, onEvent: onEvent)
    }
  }
#endif
