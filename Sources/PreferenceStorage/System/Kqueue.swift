#if canImport(Darwin)
  import Darwin
  import Dispatch
  import Support

  /// Reports what happens to a file, by kqueues on it and on the folders on the way to it, for when another file takes its
  /// name or another folder that of one above it.
  ///
  /// A kqueue is on an open file, not on a name, and a folder's says nothing more once the folder was removed or renamed. So
  /// after each event of a folder the names are looked up, and what has one of them now is watched instead.
  final class KqueueWatch: FileWatch {
    private let parts: [FilePath]
    private let system = PosixFileSystem()
    private let onEvent: @Sendable () -> Duration?
    private let queue = DispatchQueue(label: "preferences", qos: .utility)
    /// For each part that is there, the source on it; nil once the watch was cancelled.
    private let sources = Lock<[FilePath: Source]?>([:])

    /// A Dispatch source may be used from any thread, which its type doesn't say.
    ///
    /// `@unchecked Sendable`: Dispatch guards what the source points at, and the rest never changes.
    private struct Source: @unchecked Sendable {
      let source: any DispatchSourceFileSystemObject
      let identity: FileIdentity
    }

    /// - Throws: If the file's folder is there and can't be watched.
    init(_ path: FilePath, onEvent: @escaping @Sendable () -> Duration?) throws(SystemError) {
      parts = path.ancestors + [path]
      self.onEvent = onEvent
      for part in parts {
        do throws(SystemError) {
          try follow(part)
        } catch {
          // A folder above it may be one that the program can't open, and the file is watched when it can be opened.
          if part == path.folder { throw error }
        }
      }
    }

    deinit { cancel() }

    func call(after time: Duration) {
      queue.asyncAfter(deadline: .now() + time / .seconds(1)) { [weak self] in self?.report() }
    }

    func cancel() {
      let ended = sources.withLock { sources in
        defer { sources = nil }
        return sources
      }
      for source in (ended ?? [:]).values { source.source.cancel() }
    }

    /// Watches what has the name now, unless it is what is watched already.
    ///
    /// A name that is taken after this look is an event of the folder above it, which is watched before.
    private func follow(_ part: FilePath) throws(SystemError) {
      do throws(SystemError) {
        let identity = try system.snapshot(atPath: part).identity
        if sources.withLock({ $0?[part]?.identity == identity }) { return }
        replace(part, with: try makeSource(part))
      } catch {
        replace(part, with: nil)
        if !error.isMissing { throw error }
      }
    }

    private func followAll() {
      for part in parts {
        // What can't be watched is looked up again after the next event of a folder above it.
        do throws(SystemError) { try follow(part) } catch {}
      }
    }

    private func replace(_ part: FilePath, with new: Source?) {
      let old = sources.withLock { sources in
        guard sources != nil else { return new }
        let old = sources?[part]
        sources?[part] = new
        return old
      }
      old?.source.cancel()
    }

    private func handle(_ part: FilePath) {
      // Every write to a folder may be one that gives another file a name on the way.
      followAll()
      report()
    }

    private func report() {
      guard sources.withLock({ $0 != nil }), let time = onEvent() else { return }
      call(after: time)
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
      source.setEventHandler { [weak self] in self?.handle(part) }
      // Dispatch registers it some time after the activation, and what happens until then isn't an event.
      source.setRegistrationHandler { [weak self] in self?.handle(part) }
      source.setCancelHandler { Darwin.close(descriptor) }
      source.activate()
      return Source(source: source, identity: identity)
    }
  }

  extension PosixFileSystem {
    package func watch(
      _ path: FilePath, onEvent: @escaping @Sendable () -> Duration?
    ) throws(SystemError) -> any FileWatch {
      try KqueueWatch(path, onEvent: onEvent)
    }
  }
#endif
