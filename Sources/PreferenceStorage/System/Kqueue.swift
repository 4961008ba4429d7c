#if canImport(Darwin)
  import Darwin
  import Dispatch
  import Support

  /// Reports what happens to a file, by kqueues on it and on the folders on the way to it, for when another file takes its
  /// name or another folder that of one above it.
  final class KqueueWatch: FileWatch {
    private let path: FilePath
    private let onEvent: @Sendable () -> Duration?
    private let queue = DispatchQueue(label: "preferences", qos: .utility)
    /// Nil once the watch was cancelled.
    private let sources = Lock<[Source]?>([])

    /// A Dispatch source may be used from any thread, which its type doesn't say.
    ///
    /// `@unchecked Sendable`: it lies in the lock `sources`, and Dispatch guards what it points at.
    private struct Source: @unchecked Sendable {
      let source: any DispatchSourceFileSystemObject
    }

    init(_ path: FilePath, onEvent: @escaping @Sendable () -> Duration?) throws(SystemError) {
      self.path = path
      self.onEvent = onEvent
      // So that a folder that can't be watched is an error now.
      (try makeSource(path.folder)).source.cancel()
      follow()
    }

    func call(after time: Duration) {
      queue.asyncAfter(deadline: .now() + time / .seconds(1)) { [weak self] in self?.report() }
    }

    func cancel() {
      let ended = sources.withLock { sources in
        defer { sources = nil }
        return sources
      }
      for source in ended ?? [] { source.source.cancel() }
    }

    /// Watches whatever has the names on the way now.
    private func follow() {
      var new: [Source] = []
      for part in path.ancestors + [path] {
        do throws(SystemError) {
          new.append(try makeSource(part))
        } catch {
          // It isn't there, and the folder above it reports when it is.
        }
      }
      let old = sources.withLock { sources -> [Source]? in
        guard sources != nil else { return new }
        defer { sources = new }
        return sources
      }
      for source in old ?? [] { source.source.cancel() }
    }

    private func handle(_ events: DispatchSource.FileSystemEvent, of part: FilePath) {
      // Every write to a folder may be one that gives another file a name on the way.
      if part != path || !events.isDisjoint(with: [.delete, .rename]) { follow() }
      report()
    }

    private func report() {
      guard sources.withLock({ $0 != nil }), let time = onEvent() else { return }
      call(after: time)
    }

    private func makeSource(_ part: FilePath) throws(SystemError) -> Source {
      let descriptor = try openDescriptor(part, O_EVTONLY | O_CLOEXEC)
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .attrib, .delete, .rename], queue: queue)
      source.setEventHandler { [weak self] in self?.handle(source.data, of: part) }
      source.setCancelHandler { close(descriptor) }
      source.activate()
      return Source(source: source)
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
