#if os(Linux) || os(Android)
  internal import Dispatch
  import Support

  /// The inotify events for all watched files.
  ///
  /// The events come from watches on the folders of the files. A watch on a file itself would end when the file is
  /// deleted or replaced. All watched files of the process share one descriptor and one thread, which exist while there
  /// is a watch, and for up to a second afterward.
  ///
  /// Once a second, the thread looks for changes that had no event. Events are missing if a folder doesn't exist or was
  /// replaced, if one of its ancestors was moved, or if the system has no free descriptors or watches.
  final class FolderEvents: Sendable {
    private struct Entry: Sendable {
      let file: FileWatch
      /// The name in the folder of the file that the path leads to.
      var name: FilePath
      /// The watch descriptor of the folder; nil if the folder can't be watched now.
      var folder: Int32?
    }

    private struct State: Sendable {
      /// The inotify descriptor; -1 while there is none.
      var notices: Int32 = -1
      var isRunning = false
      var entries: [ObjectIdentifier: Entry] = [:]
    }

    static let shared = FolderEvents()

    private static let events = UInt32(
      IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
    // This is `IN_ONLYDIR`, a constant that the module map of the C library lacks.
    private static let onlyFolders: UInt32 = 0x0100_0000

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "preferences.notices")

    func add(_ file: FileWatch) {
      let isFirst = state.withLock { state in
        state.entries[ObjectIdentifier(file)] = Entry(file: file, name: file.path.name)
        follow(file, in: &state)
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if isFirst { queue.async { self.run() } }
    }

    /// Ends the watch on the file.
    ///
    /// When no watch remains, the thread ends within about a second.
    func remove(_ file: FileWatch) {
      state.withLock { state in
        unwatch(state.entries.removeValue(forKey: ObjectIdentifier(file))?.folder, in: state)
      }
    }

    private func unwatch(_ folder: Int32?, in state: State) {
      guard let folder, !state.entries.values.contains(where: { $0.folder == folder }) else { return }
      inotify_rm_watch(state.notices, folder)
    }

    private func follow(_ file: FileWatch, in state: inout State) {
      let old = state.entries[ObjectIdentifier(file)]?.folder
      let target = file.target
      var new: Int32?
      do throws(SystemError) {
        if state.notices < 0 {
          state.notices = try aboveStandardStreams(
            retrying("inotify_init1") { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
        }
        let notices = state.notices
        new = try retrying("inotify_add_watch") {
          target.folder.withCString {
            inotify_add_watch(notices, $0, FolderEvents.events | FolderEvents.onlyFolders)
          }
        }
        file.note(nil)
      } catch {
        file.note(error)
      }
      state.entries[ObjectIdentifier(file)] = Entry(file: file, name: target.name, folder: new)
      if old != new { unwatch(old, in: state) }
    }

    // MARK: The thread

    private func run() {
      withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
        var nextTick = ContinuousClock.now + .seconds(1)
        while let notices = noticesToWaitFor() {
          var descriptor = pollfd(fd: notices, events: Int16(POLLIN), revents: 0)
          _ = poll(&descriptor, 1, Int32(max(0, (nextTick - .now) / .milliseconds(1)).rounded(.up)))
          let isTick = nextTick <= .now
          if isTick { nextTick = .now + .seconds(1) }
          let count = notices < 0 ? 0 : read(notices, buffer.baseAddress, buffer.count)
          handle(FolderEvents.parse(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)])), isTick: isTick)
          // During the pause, events accumulate. Without the pause, a program that writes continuously would wake this
          // thread with each write (benchmark "Set an Int, written").
          if count > 0 { sleep(microseconds: 10_000) }
        }
      }
    }

    /// Returns the inotify descriptor, which is -1 if there is none.
    ///
    /// If no watch remains, the method closes the descriptor and returns nil.
    private func noticesToWaitFor() -> Int32? {
      state.withLock { state in
        if !state.entries.isEmpty { return state.notices }
        if state.notices >= 0 { FileSystem().close(state.notices) }
        (state.notices, state.isRunning) = (-1, false)
        return nil
      }
    }

    /// Schedules a call of the handler of each file that has an event or may have missed an event.
    ///
    /// Once a second, `isTick` is true. Then the method also checks all other files, and schedules a call of a file's
    /// handler in three cases: the file's status has changed, the handler hasn't been called yet, or the handler's last
    /// call returned false.
    private func handle(_ events: [Event], isTick: Bool) {
      let (due, others) = state.withLock { state in
        let isOverflow = events.contains { $0.mask & UInt32(IN_Q_OVERFLOW) != 0 }
        var (due, others): ([FileWatch], [FileWatch]) = ([], [])
        for entry in state.entries.values {
          let own = events.filter { $0.folder == entry.folder }
          let isGone = own.contains { $0.mask & UInt32(IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF) != 0 }
          // Another folder may be at the path now, so the folder at the path is watched again. If the folder is still
          // the same, the system returns the existing watch descriptor.
          if isTick || isGone { follow(entry.file, in: &state) }
          if isGone || isOverflow || own.contains(where: { $0.name == entry.name }) {
            due.append(entry.file)
          } else if isTick {
            others.append(entry.file)
          }
        }
        return (due, others)
      }
      for file in due { file.deliver() }
      for file in others { file.lookAgain() }
    }

    // MARK: Events

    private typealias Event = (folder: Int32, mask: UInt32, name: FilePath)

    private static func parse(_ bytes: UnsafeRawBufferPointer) -> [Event] {
      var events: [Event] = []
      var offset = 0
      while offset + 16 <= bytes.count {
        let length = Int(bytes.load(fromByteOffset: offset + 12, as: UInt32.self))
        let name = bytes[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
        let folder = bytes.load(fromByteOffset: offset, as: Int32.self)
        events.append((folder, bytes.load(fromByteOffset: offset + 4, as: UInt32.self), FilePath(bytes: name)))
        offset += 16 + length
      }
      return events
    }
  }
#elseif !canImport(Darwin)
  #error("PreferenceStorage can't watch files here. Write FolderEvents, as in this file.")
#endif
