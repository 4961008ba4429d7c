import Locking

#if canImport(Darwin)
  import Darwin
  import Dispatch

  /// Tells of what happens to a file, by a kqueue on it and one on its folder, for when another file takes its name.
  final class DispatchFileWatch: FileWatch {
    private let path: String
    private let onEvent: @Sendable () -> Void
    private let queue = DispatchQueue(label: "preferences", qos: .utility)
    private let sources = Lock<(folder: Source?, file: Source?)>((nil, nil))

    /// A Dispatch source may be used from any thread, which its type doesn't say.
    ///
    /// `@unchecked Sendable`: it lies in the lock `sources`, and Dispatch guards what it points at.
    private struct Source: @unchecked Sendable {
      let source: any DispatchSourceFileSystemObject
    }

    init(_ path: String, onEvent: @escaping @Sendable () -> Void) throws(SystemError) {
      self.path = path
      self.onEvent = onEvent
      let folder = try makeSource(FileLocation.folder(of: path), [.write, .delete, .rename]) { [weak self] in
        self?.watchFile()
        self?.onEvent()
      }
      sources.withLock { $0.folder = folder }
      watchFile()
    }

    var isAlive: Bool { sources.withLock { $0.folder.map { !$0.source.isCancelled } ?? false } }

    func cancel() {
      let ended = sources.withLock { sources in
        defer { sources = (nil, nil) }
        return sources
      }
      ended.folder?.source.cancel()
      ended.file?.source.cancel()
    }

    /// Watches the file that has the name now, if there is one.
    private func watchFile() {
      let new: Source?
      do {
        new = try makeSource(path, [.write, .extend, .delete, .rename]) { [weak self] in self?.onEvent() }
      } catch {
        new = nil
      }
      let old = sources.withLock { sources in
        guard sources.folder != nil else { return new }
        defer { sources.file = new }
        return sources.file
      }
      old?.source.cancel()
    }

    private func makeSource(
      _ path: String, _ events: DispatchSource.FileSystemEvent, _ handler: @escaping @Sendable () -> Void
    ) throws(SystemError) -> Source {
      let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemError("open", errno) }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: events, queue: queue)
      source.setEventHandler(handler: handler)
      source.setCancelHandler { close(descriptor) }
      source.activate()
      return Source(source: source)
    }
  }

  extension RealFileSystem {
    package func watch(
      _ path: String, onEvent: @escaping @Sendable () -> Void
    ) throws(SystemError) -> any FileWatch {
      try DispatchFileWatch(path, onEvent: onEvent)
    }
  }
#endif
