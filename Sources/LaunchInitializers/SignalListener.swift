internal import Support
internal import Synchronization

/// A listener for signals, which replaces the signals' former handlers until ``finish()`` is called.
///
/// On Windows, and on platforms without Dispatch, a listener does nothing.
final class SignalListener: Sendable {
  private let id: Int

  #if canImport(Dispatch) && !os(Windows)
    /// Creates a listener that calls a function whenever one of the given signals arrives.
    ///
    /// The function runs on the thread of `SignalPipe`. It gets the signal's number and an arrival number, which counts
    /// the signals of all listeners in the process.
    init(_ signals: [LaunchSignal], _ hear: @escaping @Sendable (Int32, _ arrival: Int) -> Void) {
      id = SignalPipe.shared.add(Set(signals.map(\.rawValue)), hear)
    }

    func finish() { SignalPipe.shared.remove(id) }

    /// Lets the signal's former handler handle the signal or, if the signal had no handler, ends the process.
    ///
    /// The process ends even if it is process 1, which the default action of a signal doesn't end.
    static func endProcess(_ number: Int32) { SignalPipe.shared.raise(number) }
  #else
    init(_ signals: [LaunchSignal], _ hear: @escaping @Sendable (Int32, _ arrival: Int) -> Void) { id = 0 }
    func finish() {}
    static func endProcess(_ number: Int32) {}
  #endif
}

#if canImport(Dispatch) && !os(Windows)
  /// A pipe from the signal handler to the listeners, because a signal handler may do little more than write to a file.
  ///
  /// The thread that reads the pipe does nothing else, so signals are handled even if all other threads are blocked.
  private final class SignalPipe: Sendable {
    static let shared = SignalPipe()

    private struct State {
      var listeners: [Int: (numbers: Set<Int32>, hear: @Sendable (Int32, Int) -> Void)] = [:]
      /// For each signal that the pipe handles, the action that was set before the signal's first listener was added,
      /// and whether that action called a function of the program.
      var former: [Int32: (action: sigaction, isFunction: Bool)] = [:]
      var lastID = 0
      var arrivals = 0
    }

    private let state = Lock(State())

    private init() {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        fatalError("The pipe for signals can't be opened: error \(errno). Close files that are no longer needed.")
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      // The signal handler must not wait if the pipe is full of signals that haven't been read yet.
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
      signalPipeOwner.store(getpid(), ordering: .sequentiallyConsistent)
      signalPipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
      let readEnd = ends[0]
      callOnThread {
        var number: UInt8 = 0
        while true {
          let count = read(readEnd, &number, 1)
          if count == 1 { SignalPipe.shared.arrived(Int32(number)) } else if count == 0 || errno != EINTR { return }
        }
      }
    }

    func add(_ numbers: Set<Int32>, _ hear: @escaping @Sendable (Int32, Int) -> Void) -> Int {
      state.withLock { state in
        state.lastID += 1
        state.listeners[state.lastID] = (numbers, hear)
        for number in numbers where state.former[number] == nil {
          var action = sigaction()
          guard (1..<NSIG).contains(number), sigaction(number, nil, &action) == 0 else { Self.trap(number) }
          // A signal that is already ignored stays ignored. A shell starts a background program with SIGINT ignored,
          // and nohup ignores SIGHUP.
          let former = action.handler
          if former == Self.ignored { continue }
          if unsafeBitCast(signal(number, handleSignal), to: Int.self) == Self.failed { Self.trap(number) }
          state.former[number] = (action, former != Self.standard)
        }
        return state.lastID
      }
    }

    /// The values of `SIG_DFL` (default action), `SIG_IGN` (ignored signal) and `SIG_ERR` (error), as numbers.
    private static let (standard, ignored, failed) = (0, 1, -1)

    private static func trap(_ number: Int32) -> Never {
      fatalError("run(on:) can't wait for signal \(number), which no program can handle. Use .terminate.")
    }

    /// Removes a listener, and restores the former handlers of the signals that no longer have a listener.
    ///
    /// If other code has set a handler in the meantime, that handler stays.
    func remove(_ id: Int) {
      state.withLock { state in
        guard let removed = state.listeners.removeValue(forKey: id) else { return }
        for number in removed.numbers where !state.listeners.values.contains(where: { $0.numbers.contains(number) }) {
          guard var former = state.former.removeValue(forKey: number) else { continue }
          var current = sigaction()
          if sigaction(number, nil, &current) == 0, current.handler == ownHandler {
            _ = sigaction(number, &former.action, nil)
          }
        }
      }
    }

    private func arrived(_ number: Int32) {
      let (listeners, arrival) = state.withLock { state in
        state.arrivals += 1
        return (state.listeners.values.filter { $0.numbers.contains(number) }, state.arrivals)
      }
      for listener in listeners { listener.hear(number, arrival) }
    }

    func raise(_ number: Int32) {
      let former = state.withLock { $0.former[number] }
      let isFunction = former?.isFunction ?? false
      if isFunction, var action = former?.action {
        _ = sigaction(number, &action, nil)
      } else {
        _ = signal(number, SIG_DFL)
      }
      // The calling thread may have inherited a mask that blocks the signal, so it has to unblock the signal.
      var set = sigset_t()
      sigemptyset(&set)
      sigaddset(&set, number)
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
      kill(getpid(), number)
      if !isFunction { _exit(128 + number) }
    }
  }

  /// The end of the pipe to which the signal handler writes.
  ///
  /// The variable is global, because a signal handler has no context.
  private let signalPipeEnd = Atomic<Int32>(-1)

  /// The process that has the pipe's reader; a forked child has only a copy of the handler and of the pipe's ends.
  private let signalPipeOwner = Atomic<Int32>(0)

  /// The address of the function that handles signals.
  private let ownHandler = unsafeBitCast(handleSignal as @convention(c) (Int32) -> Void, to: Int.self)

  extension sigaction {
    /// The address of the signal's handler, or a number that stands for the default action or an ignored signal.
    fileprivate var handler: Int {
      #if canImport(Darwin)
        unsafeBitCast(__sigaction_u.__sa_handler, to: Int.self)
      #elseif canImport(Glibc)
        unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self)
      #elseif canImport(Musl)
        unsafeBitCast(__sa_handler.sa_handler, to: Int.self)
      #else
        unsafeBitCast(sa_handler, to: Int.self)
      #endif
    }
  }

  private func handleSignal(_ number: Int32) {
    let error = errno
    if getpid() == signalPipeOwner.load(ordering: .relaxed) {
      var byte = UInt8(truncatingIfNeeded: number)
      _ = write(signalPipeEnd.load(ordering: .relaxed), &byte, 1)
    } else {
      // A forked child that doesn't replace its program has no one to handle the signal, so its default action applies.
      // The signal is blocked until the handler returns.
      _ = signal(number, SIG_DFL)
      _ = kill(getpid(), number)
    }
    errno = error
  }
#endif
