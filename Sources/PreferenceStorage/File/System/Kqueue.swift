#if canImport(Darwin)
  import Darwin
  import Dispatch
  import Support

  /// The kqueue events of all watched files and of their folders.
  ///
  /// A kqueue watches an open file, not a name. If another file takes the name, the new file has no events until it is
  /// watched, but its folder has an event. After each event, and once a second, the paths of the file and its folder
  /// are looked up again. If a new folder or file is at a path, it is watched instead of the old one.
  final class FolderEvents: Sendable {
    private struct Entry: Sendable {
      let file: FileWatch
      /// The event sources of the folder and the file, by path; a missing folder or file has no source.
      var sources: [FilePath: FileSource] = [:]
    }

    private struct State: Sendable {
      var entries: [ObjectIdentifier: Entry] = [:]
      var timer: TimerSource?
    }

    /// An event source of Dispatch.
    ///
    /// `@unchecked Sendable`: Any thread may use a source, although the types of Dispatch sources aren't `Sendable`.
    private struct Source<Base>: @unchecked Sendable {
      let source: Base
      /// The identity of the watched folder or file; nil for the timer.
      var identity: FileIdentity?
    }
    private typealias FileSource = Source<any DispatchSourceFileSystemObject>
    private typealias TimerSource = Source<any DispatchSourceTimer>

    static let shared = FolderEvents()
    private let queue = DispatchQueue(label: "preferences.notices", qos: .utility)
    private let state = Lock(State())

    func add(_ file: FileWatch) {
      state.withLock { state in
        state.entries[ObjectIdentifier(file)] = Entry(file: file)
        if state.timer == nil { state.timer = makeTimer() }
      }
      follow(file)
    }

    func remove(_ file: FileWatch) {
      let (removed, timer) = state.withLock { state in
        let removed = state.entries.removeValue(forKey: ObjectIdentifier(file))
        guard state.entries.isEmpty else { return (removed, nil as TimerSource?) }
        defer { state.timer = nil }
        return (removed, state.timer)
      }
      removed?.sources.values.forEach { $0.source.cancel() }
      timer?.source.cancel()
    }

    private func makeTimer() -> TimerSource {
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
      timer.setEventHandler { [self] in
        for entry in state.withLock(\.entries).values {
          follow(entry.file)
          entry.file.lookAgain()
        }
      }
      timer.activate()
      return TimerSource(source: timer)
    }

    /// Watches the folder first and then the file, so that a rename or replacement of the file in between is noticed.
    private func follow(_ file: FileWatch) {
      let target = file.target
      for part in [target.folder, target] {
        do throws(SystemError) {
          let identity = try FileSystem().snapshot(atPath: part).identity
          let old = state.withLock { $0.entries[ObjectIdentifier(file)]?.sources[part]?.identity }
          if old != identity { replace(part, of: file, with: try makeSource(part, for: file)) }
          file.note(nil)
        } catch {
          replace(part, of: file, with: nil)
          file.note(error)
        }
      }
    }

    private func replace(_ part: FilePath, of file: FileWatch, with new: FileSource?) {
      let old = state.withLock { state in
        guard let entry = state.entries[ObjectIdentifier(file)] else { return new }
        state.entries[ObjectIdentifier(file)]?.sources[part] = new
        return entry.sources[part]
      }
      old?.source.cancel()
    }

    private func makeSource(_ part: FilePath, for file: FileWatch) throws(SystemError) -> FileSource {
      let descriptor = Descriptor(try openDescriptor(part, O_EVTONLY | O_CLOEXEC), of: FileSystem())
      let identity = try FileSystem().status(of: descriptor.number).identity
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor.number, eventMask: [.write, .extend, .attrib, .delete, .rename], queue: queue)
      let handle: @Sendable () -> Void = { [self, weak file] in
        guard let file else { return }
        follow(file)
        file.deliver()
      }
      source.setEventHandler(handler: handle)
      // Dispatch registers the source some time after its activation. Changes before the registration have no event, so
      // the handler is also called at the registration.
      source.setRegistrationHandler(handler: handle)
      source.setCancelHandler { withExtendedLifetime(descriptor) {} }
      source.activate()
      return FileSource(source: source, identity: identity)
    }
  }
#endif
