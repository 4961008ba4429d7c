import Locking

#if os(Linux)

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Tells of what happens to files, by inotify on their folders, since a file's own watch ends with the file.
  ///
  /// There is one descriptor and one thread for all files of the process, from the first watch to the last.
  enum InotifyWatcher {
    private struct Watch: Sendable {
      /// Less than 0: the folder is gone.
      var folder: Int32
      let name: String
      let onEvent: @Sendable () -> Void
    }

    private struct State: Sendable {
      var descriptor: Int32 = -1
      var watches: [Int: Watch] = [:]
      var nextWatch = 0
      var processGeneration = 0
    }

    private static let state = Lock(State())
    private static let mask = UInt32(
      IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)

    static func watch(
      folder: String, name: String, onEvent: @escaping @Sendable () -> Void
    ) throws(SystemError) -> InotifyWatch {
      try state.withLock { state throws(SystemError) in
        if state.processGeneration != ProcessGeneration.current {
          // The thread stayed behind in the parent.
          if state.descriptor >= 0 { close(state.descriptor) }
          state = State()
          state.processGeneration = ProcessGeneration.current
        }
        if state.descriptor < 0 { state.descriptor = try start() }
        let watch = inotify_add_watch(state.descriptor, folder, mask)
        guard watch >= 0 else {
          let number = errno
          if state.watches.isEmpty { stop(&state) }
          throw SystemError("inotify_add_watch", number)
        }
        state.nextWatch += 1
        state.watches[state.nextWatch] = Watch(folder: watch, name: name, onEvent: onEvent)
        return InotifyWatch(number: state.nextWatch)
      }
    }

    static func isAlive(_ number: Int) -> Bool {
      state.withLock {
        $0.processGeneration == ProcessGeneration.current && ($0.watches[number]?.folder ?? -1) >= 0
      }
    }

    static func cancel(_ number: Int) {
      // What the handler holds is let go of outside the lock.
      let removed = state.withLock { state -> Watch? in
        guard let watch = state.watches.removeValue(forKey: number) else { return nil }
        if watch.folder >= 0, !state.watches.values.contains(where: { $0.folder == watch.folder }) {
          _ = inotify_rm_watch(state.descriptor, watch.folder)
        }
        if state.watches.isEmpty { stop(&state) }
        return watch
      }
      withExtendedLifetime(removed) {}
    }

    private static func start() throws(SystemError) -> Int32 {
      let descriptor = inotify_init1(Int32(IN_CLOEXEC))
      guard descriptor >= 0 else { throw SystemError("inotify_init1", errno) }
      // The program's signals are none of this thread's business.
      var all = sigset_t()
      var old = sigset_t()
      sigfillset(&all)
      pthread_sigmask(SIG_SETMASK, &all, &old)
      defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
      #if canImport(Musl)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let failure = pthread_create(
        &thread, nil,
        { argument in
          InotifyWatcher.run(Int32(Int(bitPattern: argument)))
          return nil
        }, UnsafeMutableRawPointer(bitPattern: Int(descriptor)))
      guard failure == 0 else {
        close(descriptor)
        throw SystemError("pthread_create", failure)
      }
      return descriptor
    }

    /// Leaves the descriptor to its thread, which closes it, and wakes the thread: the end of a watch is an event.
    private static func stop(_ state: inout State) {
      let descriptor = state.descriptor
      state.descriptor = -1
      let bell = inotify_add_watch(descriptor, "/", UInt32(IN_DELETE_SELF))
      if bell >= 0 { _ = inotify_rm_watch(descriptor, bell) }
    }

    private static func run(_ descriptor: Int32) {
      pthread_detach(pthread_self())
      nameThread()
      withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
        while true {
          let count = read(descriptor, buffer.baseAddress, buffer.count)
          if count < 0, errno == EINTR { continue }
          let events = count > 0 ? parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) : []
          guard let handlers = handlers(for: events, descriptor), count > 0 else {
            close(descriptor)
            return
          }
          for handler in handlers { handler() }
        }
      }
    }

    /// For those who look at the program's threads.
    private static func nameThread() {
      let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { return }
      _ = write(file, "preferences", 11)
      close(file)
    }

    private struct Event {
      var folder: Int32
      var mask: UInt32
      var name: String
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer) -> [Event] {
      var events: [Event] = []
      var offset = 0
      while offset + 16 <= bytes.count {
        let length = Int(bytes.load(fromByteOffset: offset + 12, as: UInt32.self))
        let name = bytes[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
        events.append(
          Event(
            folder: bytes.load(fromByteOffset: offset, as: Int32.self),
            mask: bytes.load(fromByteOffset: offset + 4, as: UInt32.self),
            name: String(decoding: name, as: UTF8.self)))
        offset += 16 + length
      }
      return events
    }

    /// Whom the events concern; nil when the descriptor's last watch has ended.
    private static func handlers(
      for events: [Event], _ descriptor: Int32
    ) -> [@Sendable () -> Void]? {
      state.withLock { state in
        guard state.descriptor == descriptor else { return nil }
        var concerned: Set<Int> = []
        for event in events {
          let isForAll = event.mask & UInt32(IN_Q_OVERFLOW) != 0
          let folderIsGone = event.mask & UInt32(IN_IGNORED | IN_MOVE_SELF) != 0
          if event.mask & UInt32(IN_MOVE_SELF) != 0 { _ = inotify_rm_watch(descriptor, event.folder) }
          for (number, watch) in state.watches where isForAll || watch.folder == event.folder {
            if folderIsGone { state.watches[number]?.folder = -1 }
            if isForAll || event.name.isEmpty || event.name == watch.name { concerned.insert(number) }
          }
        }
        return concerned.compactMap { state.watches[$0]?.onEvent }
      }
    }
  }

  struct InotifyWatch: FileWatch {
    let number: Int
    var isAlive: Bool { InotifyWatcher.isAlive(number) }
    func cancel() { InotifyWatcher.cancel(number) }
  }

  extension RealFileSystem {
    package func watch(
      _ path: String, onEvent: @escaping @Sendable () -> Void
    ) throws(SystemError) -> any FileWatch {
      try InotifyWatcher.watch(
        folder: FileLocation.folder(of: path), name: FileLocation.name(of: path), onEvent: onEvent)
    }
  }
#endif
