#if os(Linux) || os(Android)
  import Support

  /// Reports what happens to files, by inotify on the folders on the way to them: a file's own watch would end with the
  /// file, and a folder's says nothing of a folder above it that is moved away.
  ///
  /// There is one descriptor and one thread for all files of the process, from the first watch to the last. The thread
  /// sleeps in `poll`. It wakes at an event, at the time at which a handler is to be called again, and when the other end of
  /// a socket pair is written to (there is a new time) or closed (the last watch has ended).
  final class Inotify: Sendable {
    private struct Watch: Sendable {
      let path: FilePath
      let onEvent: @Sendable () -> Duration?
      /// The watched folders on the way to the file, the root first.
      var steps: [Step] = []
      /// Whether the file's own folder is there and watched.
      var isComplete = false
      var nextCall: ContinuousClock.Instant?
    }

    /// A watched folder, and the name in it that is on the way to a file.
    private struct Step: Sendable, Equatable {
      let folder: Int32
      let name: FilePath
    }

    /// What the thread was started with; nil while there is none.
    private struct Channel: Sendable, Equatable {
      let events: Int32
      /// The ends of a socket pair: what is written to the second wakes the thread, and closing it ends the thread.
      let wakening: Int32
      let running: Int32
    }

    private struct State: Sendable {
      var channel: Channel?
      var watches: [Int: Watch] = [:]
      var nextNumber = 0
      /// Which watches the name in a watched folder is on the way of.
      var watchers: [Int32: [FilePath: Set<Int>]] = [:]
      /// Those that want to be called again.
      var waiting: Set<Int> = []
    }

    private static let process = PerProcess<Inotify>()
    private let state = Lock(State())

    private static let folderEvents = UInt32(
      IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
    private static let ancestorEvents = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF)
    // The module map of the C library has no names for these.
    private static let addToMask: UInt32 = 0x2000_0000
    private static let onlyFolders: UInt32 = 0x0100_0000

    static func watch(_ path: FilePath, onEvent: @escaping @Sendable () -> Duration?) throws(SystemError)
      -> InotifyWatch
    {
      let inotify = process.object { Inotify() }
      let number = try inotify.state.withLock { state throws(SystemError) in
        if state.channel == nil { state.channel = try inotify.start() }
        state.nextNumber += 1
        state.watches[state.nextNumber] = Watch(path: path, onEvent: onEvent)
        do throws(SystemError) {
          try Inotify.follow(state.nextNumber, &state)
        } catch {
          Inotify.end(state.nextNumber, &state)
          throw error
        }
        return state.nextNumber
      }
      return InotifyWatch(number: number)
    }

    static func cancel(_ number: Int) {
      // What the handler holds is let go of outside the lock.
      let removed = process.existing?.state.withLock { state in end(number, &state) }
      withExtendedLifetime(removed) {}
    }

    static func call(_ number: Int, after time: Duration) {
      process.existing?.state.withLock { state in
        callAgain(number, after: time, &state)
        // A socket that is full wakes the thread too.
        if let channel = state.channel { _ = send(channel.running, "w", 1, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
      }
    }

    @discardableResult
    private static func end(_ number: Int, _ state: inout State) -> Watch? {
      unfollow(state.watches[number]?.steps ?? [], number, &state)
      state.waiting.remove(number)
      let watch = state.watches.removeValue(forKey: number)
      if state.watches.isEmpty, let channel = state.channel {
        // Its thread closes the others.
        state.channel = nil
        state.watchers = [:]
        Inotify.close(channel.running)
      }
      return watch
    }

    /// Watches the folders on the way to the file, as far as there are any.
    ///
    /// From the root on, so that a folder which is moved while this goes on is an event of the one above it.
    ///
    /// - Throws: If the file's own folder is there and can't be watched. One above it that may not be read isn't watched.
    private static func follow(_ number: Int, _ state: inout State) throws(SystemError) {
      guard var watch = state.watches[number], let channel = state.channel else { return }
      let old = watch.steps
      watch.steps = []
      watch.isComplete = false
      defer {
        state.watches[number] = watch
        unfollow(old.filter { !watch.steps.contains($0) }, number, &state)
      }
      let folders = watch.path.ancestors
      for (folder, next) in zip(folders, folders.dropFirst() + [watch.path]) {
        let isLast = next == watch.path
        let descriptor = folder.withCString {
          inotify_add_watch(
            channel.events, $0, (isLast ? folderEvents : ancestorEvents) | addToMask | onlyFolders)
        }
        if descriptor >= 0 {
          watch.steps.append(Step(folder: descriptor, name: next.name))
          state.watchers[descriptor, default: [:]][next.name, default: []].insert(number)
          watch.isComplete = isLast
          continue
        }
        let error = SystemError("inotify_add_watch", errno)
        if error.isMissing { return }
        if isLast || error.isLimit { throw error }
      }
    }

    private static func unfollow(_ steps: [Step], _ number: Int, _ state: inout State) {
      for step in steps {
        // In place, as all files of the process may have a folder in common.
        state.watchers[step.folder]?[step.name]?.remove(number)
        guard state.watchers[step.folder]?[step.name]?.isEmpty == true else { continue }
        state.watchers[step.folder]?[step.name] = nil
        guard state.watchers[step.folder]?.isEmpty == true else { continue }
        state.watchers[step.folder] = nil
        if let channel = state.channel { _ = inotify_rm_watch(channel.events, step.folder) }
      }
    }

    private func start() throws(SystemError) -> Channel {
      let events = try aboveStandardStreams(
        retrying("inotify_init1") { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
      Fork.register(events)
      var ends: [Int32] = [-1, -1]
      let channel: Channel
      do throws(SystemError) {
        _ = try retrying("socketpair") { socketpair(AF_UNIX, Inotify.streamSocket, 0, &ends) }
        // One that can't be moved is closed already.
        for index in ends.indices {
          let end = ends[index]
          ends[index] = -1
          ends[index] = try aboveStandardStreams(end)
        }
        channel = Channel(events: events, wakening: ends[0], running: ends[1])
      } catch {
        for descriptor in [events] + ends where descriptor >= 0 { Inotify.close(descriptor) }
        throw error
      }
      for end in ends { Fork.register(end) }
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
      let argument = Unmanaged.passRetained(Runner(of: self, channel))
      let failure = pthread_create(
        &thread, nil,
        { argument in
          // Neither is optional in Bionic.
          Unmanaged<Runner>.fromOpaque((argument as UnsafeMutableRawPointer?)!).takeRetainedValue().run()
          #if os(Android)
            return UnsafeMutableRawPointer(bitPattern: 1)!
          #else
            return nil
          #endif
        }, argument.toOpaque())
      guard failure == 0 else {
        argument.release()
        for descriptor in [channel.events, channel.wakening, channel.running] { Inotify.close(descriptor) }
        throw SystemError("pthread_create", failure)
      }
      return channel
    }

    // The module map has neither `eventfd` nor `pipe2`, and a plain pipe would for an instant be open to a new program.
    #if canImport(Glibc)
      private static let streamSocket = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #else
      private static let streamSocket = SOCK_STREAM | SOCK_CLOEXEC
    #endif

    private static func close(_ descriptor: Int32) { PosixFileSystem().close(descriptor) }

    private final class Runner: Sendable {
      let inotify: Inotify
      let channel: Channel

      init(of inotify: Inotify, _ channel: Channel) {
        self.inotify = inotify
        self.channel = channel
      }

      func run() { inotify.run(channel) }
    }

    private func run(_ channel: Channel) {
      pthread_detach(pthread_self())
      nameThread()
      withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
        var isBusy = false
        while let wait = waitingTime(channel) {
          if isBusy { rest(channel) }
          var descriptors = [channel.events, channel.wakening].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
          _ = poll(&descriptors, 2, wait)
          if descriptors[1].revents & Int16(POLLIN) != 0 {
            _ = read(channel.wakening, buffer.baseAddress, buffer.count)
          }
          let count = read(channel.events, buffer.baseAddress, buffer.count)
          isBusy = count > 0
          let events = count > 0 ? Inotify.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count])) : []
          for (number, handler) in dueHandlers(events, channel) {
            let wait = handler()
            if let wait { state.withLock { Inotify.callAgain(number, after: wait, &$0) } }
          }
        }
      }
      for descriptor in [channel.events, channel.wakening] { Inotify.close(descriptor) }
    }

    /// Lets the next events come together.
    ///
    /// A program that writes without a pause would otherwise wake this thread with each write (benchmark "Add to an Int, written").
    private func rest(_ channel: Channel) {
      var ending = pollfd(fd: channel.wakening, events: Int16(POLLIN), revents: 0)
      _ = poll(&ending, 1, 10)
    }

    /// How many milliseconds to sleep, -1 for ever; nil once the last watch has ended.
    private func waitingTime(_ channel: Channel) -> Int32? {
      state.withLock { state in
        guard state.channel == channel else { return nil }
        guard let next = state.waiting.compactMap({ state.watches[$0]?.nextCall }).min() else { return -1 }
        return Int32(min(60_000, max(0, ((next - .now) / .milliseconds(1)).rounded(.up))))
      }
    }

    private static func callAgain(_ number: Int, after time: Duration, _ state: inout State) {
      guard state.watches[number] != nil else { return }
      state.watches[number]?.nextCall = .now + time
      state.waiting.insert(number)
    }

    /// For those who look at the program's threads.
    private func nameThread() {
      do throws(SystemError) {
        let file = try openDescriptor("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        _ = write(file, "preferences", 11)
        Inotify.close(file)
      } catch {
        // It has the program's name then.
      }
    }

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

    /// The handlers that the events concern, and those whose time has come.
    private func dueHandlers(_ events: [Event], _ channel: Channel) -> [(Int, @Sendable () -> Duration?)] {
      state.withLock { state in
        guard state.channel == channel else { return [] }
        let now = ContinuousClock.now
        var due = state.waiting.filter { state.watches[$0]?.nextCall ?? now <= now }
        var lost: Set<Int> = []
        for event in events {
          if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { lost.formUnion(state.watches.keys) }
          guard let names = state.watchers[event.folder] else { continue }
          let isGone = event.mask & UInt32(IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF) != 0
          let concerned = isGone ? names.values.reduce(into: []) { $0.formUnion($1) } : names[event.name] ?? []
          for number in concerned {
            due.insert(number)
            let isOnTheWay =
              state.watches[number].map { !$0.isComplete || $0.steps.last?.folder != event.folder } ?? false
            if isGone || isOnTheWay { lost.insert(number) }
          }
        }
        for number in due.union(lost) { state.waiting.remove(number) }
        for number in lost { refollow(number, &state) }
        return due.union(lost).compactMap { number in state.watches[number].map { (number, $0.onEvent) } }
      }
    }

    /// Watches the way to a file, which may lead through other folders now.
    private func refollow(_ number: Int, _ state: inout State) {
      // What can't be watched is watched again as soon as something happens to what can.
      do throws(SystemError) { try Inotify.follow(number, &state) } catch {}
    }
  }

  struct InotifyWatch: FileWatch {
    let number: Int
    func call(after time: Duration) { Inotify.call(number, after: time) }
    func cancel() { Inotify.cancel(number) }
  }

  extension PosixFileSystem {
    package func watch(
      _ path: FilePath, onEvent: @escaping @Sendable () -> Duration?
    ) throws(SystemError) -> any FileWatch {
      try Inotify.watch(path, onEvent: onEvent)
    }
  }
#elseif !canImport(Darwin)
  #error("PreferenceStorage can't watch files here. Write PosixFileSystem.watch(_:onEvent:), as in this file.")
#endif
