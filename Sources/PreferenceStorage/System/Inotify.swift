#if os(Linux) || os(Android)
  import Support

  /// Watches files, by inotify on their folders: a file's own watch would end with the file.
  ///
  /// There is one descriptor and one thread for all files of the process, from the first watch to the last. Once a second the
  /// thread looks at what can't be watched: a folder that isn't there or was replaced, a system without descriptors or
  /// watches to spare, a folder above that was moved away. Each handler runs on a thread of its own, and delays no other.
  final class Inotify: Sendable {
    private struct Watch: Sendable {
      let path: FilePath
      let onEvent: @Sendable () -> Bool
      /// The number of the watched folder; nil if it can't be watched now.
      var folder: Int32?
      var problem: SystemError?
      /// The file as it was when its handler was last called; nil before that.
      var seen: FileSnapshot?
      var isRunning = false
      var isDue = false
    }

    private struct State: Sendable {
      /// The descriptor of the notices; -1 while there is none.
      var notices: Int32 = -1
      var hasThread = false
      var watches: [Int: Watch] = [:]
      var nextNumber = 0
    }

    private static let process = PerProcess<Inotify>()
    private let state = Lock(State())

    private static let events = UInt32(
      IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
    // The module map of the C library has no name for this one.
    private static let onlyFolders: UInt32 = 0x0100_0000

    static func watch(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) -> any FileWatch {
      let inotify = process.object { Inotify() }
      return inotify.state.withLock { state in
        var watch = Watch(path: path, onEvent: onEvent)
        state.nextNumber += 1
        // A thread of a forked child could stop the program: `Mutex` takes the thread that forked for the parent's.
        if Fork.count > 0 {
          watch.problem = .notPermitted("fork")
        } else {
          state.watches[state.nextNumber] = watch
          if !state.hasThread { state.hasThread = startThread { inotify.run() } }
          Inotify.follow(state.nextNumber, &state)
          watch.problem = state.watches[state.nextNumber]?.problem
        }
        return InotifyWatch(inotify: inotify, number: state.nextNumber, problem: watch.problem)
      }
    }

    fileprivate func cancel(_ number: Int) {
      // What the handler holds is let go of outside the lock. The thread ends within a second of the last watch.
      let removed = state.withLock { state in
        let removed = state.watches.removeValue(forKey: number)
        if let folder = removed?.folder { Inotify.unwatch(folder, in: state) }
        return removed
      }
      withExtendedLifetime(removed) {}
    }

    private static func unwatch(_ folder: Int32, in state: State) {
      if !state.watches.values.contains(where: { $0.folder == folder }) { inotify_rm_watch(state.notices, folder) }
    }

    /// Watches the folder that is at the path now.
    private static func follow(_ number: Int, _ state: inout State) {
      guard let path = state.watches[number]?.path, let old = state.watches[number]?.folder as Int32?? else { return }
      defer { if let old, old != state.watches[number]?.folder { unwatch(old, in: state) } }
      do throws(SystemError) {
        if state.notices < 0 {
          state.notices = try aboveStandardStreams(
            retrying("inotify_init1") { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
        }
        let notices = state.notices
        state.watches[number]?.folder = try retrying("inotify_add_watch") {
          path.folder.withCString { inotify_add_watch(notices, $0, events | onlyFolders) }
        }
        state.watches[number]?.problem = nil
      } catch {
        state.watches[number]?.folder = nil
        // A folder that isn't there needs no watch yet.
        state.watches[number]?.problem = error.isMissing ? nil : error
      }
    }

    private static func look(at path: FilePath) -> FileSnapshot? {
      do throws(SystemError) { return try PosixFileSystem().status(atPath: path).snapshot } catch { return nil }
    }

    // MARK: The thread

    private func run() {
      nameThread()
      withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
        var nextTick = ContinuousClock.now + .seconds(1)
        while let notices = noticesToWaitFor() {
          var descriptor = pollfd(fd: notices, events: Int16(POLLIN), revents: 0)
          _ = poll(&descriptor, 1, Int32(max(0, (nextTick - .now) / .milliseconds(1)).rounded(.up)))
          let isTick = nextTick <= .now
          if isTick { nextTick = .now + .seconds(1) }
          let count = notices < 0 ? 0 : read(notices, buffer.baseAddress, buffer.count)
          let events = count > 0 ? Inotify.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) : []
          for number in dueWatches(events, isTick: isTick) { deliver(number) }
          // The next events come together: a program that writes without a pause would otherwise wake this thread with each
          // write (benchmark "Set an Int, written").
          if count > 0 { sleep(microseconds: 10_000) }
        }
      }
    }

    /// The descriptor of the notices; nil once the last watch has ended.
    private func noticesToWaitFor() -> Int32? {
      state.withLock { state in
        if !state.watches.isEmpty { return state.notices }
        if state.notices >= 0 { PosixFileSystem().close(state.notices) }
        (state.notices, state.hasThread) = (-1, false)
        return nil
      }
    }

    /// The watches that the events concern, or, once a second, those whose file isn't as it was seen last.
    private func dueWatches(_ events: [Event], isTick: Bool) -> [Int] {
      state.withLock { state in
        let isOverflow = events.contains { $0.mask & UInt32(IN_Q_OVERFLOW) != 0 }
        var due: [Int] = []
        for (number, watch) in state.watches {
          let own = events.filter { $0.folder == watch.folder }
          let isGone = own.contains { $0.mask & UInt32(IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF) != 0 }
          // Another folder may have the path now, or the same, for which the system gives the same number.
          if isTick || isGone { Inotify.follow(number, &state) }
          if isGone || isOverflow || own.contains(where: { $0.name == watch.path.name }) {
            due.append(number)
          } else if isTick, Inotify.look(at: watch.path) != watch.seen {
            due.append(number)
          }
        }
        return due
      }
    }

    /// Calls the handler on another thread, or again when it is through if it is running.
    private func deliver(_ number: Int) {
      let isNew = state.withLock { state in
        guard let watch = state.watches[number] else { return false }
        state.watches[number]?.isDue = true
        state.watches[number]?.isRunning = true
        return !watch.isRunning
      }
      // Without another thread it has to be this one.
      if isNew, !startThread({ self.callHandler(of: number) }) { callHandler(of: number) }
    }

    private func callHandler(of number: Int) {
      while true {
        let watch = state.withLock { state -> Watch? in
          guard let watch = state.watches[number], watch.isDue else {
            state.watches[number]?.isRunning = false
            return nil
          }
          state.watches[number]?.isDue = false
          state.watches[number]?.seen = Inotify.look(at: watch.path)
          return watch
        }
        guard let watch else { return }
        let start = ContinuousClock.now
        if !watch.onEvent() { state.withLock { $0.watches[number]?.seen = nil } }
        // A file that is written without a pause is to cost little, also if it is a large one.
        let pause = (ContinuousClock.now - start) * 20 / .microseconds(1)
        sleep(microseconds: UInt32(min(pause, 100_000)))
      }
    }

    // MARK: Events

    private struct Event {
      var folder: Int32
      var mask: UInt32
      var name: FilePath
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
            mask: bytes.load(fromByteOffset: offset + 4, as: UInt32.self), name: FilePath(bytes: name)))
        offset += 16 + length
      }
      return events
    }
  }

  private struct InotifyWatch: FileWatch {
    let inotify: Inotify
    let number: Int
    let problem: SystemError?
    func cancel() { inotify.cancel(number) }
  }

  extension PosixFileSystem {
    package func watch(_ path: FilePath, onEvent: @escaping @Sendable () -> Bool) -> any FileWatch {
      Inotify.watch(path, onEvent: onEvent)
    }
  }

  // MARK: Threads

  /// Names the calling thread, for those who look at the program's threads.
  private func nameThread() {
    do throws(SystemError) {
      let file = try openDescriptor("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      _ = write(file, "preferences", 11)
      PosixFileSystem().close(file)
    } catch {
      // It has the program's name then.
    }
  }

  /// Runs the body on a new thread, which no signal of the program's reaches; false if there can't be another one.
  private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Work: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
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
    let argument = Unmanaged.passRetained(Work(body))
    let failure = pthread_create(
      &thread, nil,
      { argument in
        pthread_detach(pthread_self())
        // Neither is optional in Bionic.
        Unmanaged<Work>.fromOpaque((argument as UnsafeMutableRawPointer?)!).takeRetainedValue().body()
        #if os(Android)
          return UnsafeMutableRawPointer(bitPattern: 1)!
        #else
          return nil
        #endif
      }, argument.toOpaque())
    if failure != 0 { argument.release() }
    return failure == 0
  }
#elseif !canImport(Darwin)
  #error("PreferenceStorage can't watch files here. Write PosixFileSystem.watch(_:onEvent:), as in this file.")
#endif
