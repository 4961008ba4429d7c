internal import SpellRegistry
internal import Support
internal import Synchronization

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// A signal of the operating system, such as SIGTERM.
public struct LaunchSignal: RawRepresentable, Hashable, Sendable {
  /// The signal's number.
  public let rawValue: Int32

  /// Creates the signal with a number.
  public init(rawValue: Int32) { self.rawValue = rawValue }
}

extension LaunchSignal {
  #if os(Windows)
    /// A request to end the program.
    public static let terminate = LaunchSignal(rawValue: 15)
    /// Ctrl-C.
    public static let interrupt = LaunchSignal(rawValue: 2)
  #else
    /// SIGTERM: a request to end the program, as service managers and containers send it.
    public static let terminate = LaunchSignal(rawValue: SIGTERM)
    /// SIGINT: Ctrl-C in a terminal.
    public static let interrupt = LaunchSignal(rawValue: SIGINT)
    /// SIGHUP: the terminal was closed.
    public static let hangUp = LaunchSignal(rawValue: SIGHUP)
    /// SIGQUIT: Ctrl-\ in a terminal.
    public static let quit = LaunchSignal(rawValue: SIGQUIT)
    /// SIGUSR1: for a program's own purposes.
    public static let user1 = LaunchSignal(rawValue: SIGUSR1)
    /// SIGUSR2: for a program's own purposes.
    public static let user2 = LaunchSignal(rawValue: SIGUSR2)
  #endif
}

/// A policy for a second signal that comes during the shut-down.
public enum SecondSignalPolicy: Sendable, Hashable {
  /// The second signal is handled as before ``LaunchSequence/run(on:secondSignal:shutDownWithin:)``: unless a handler was
  /// set, it ends the process at once. So a second Ctrl-C ends a program that takes too long.
  case endProcess
  /// The second signal ends the shut-down: steps under way are cancelled, and the remaining ones aren't shut down.
  case endShutDown
  /// The second signal does nothing.
  case ignore
}

// MARK: Listening

/// A listener for signals.
///
/// From its creation until ``finish()``, the signals' former handlers aren't called.
final class SignalListener: Sendable {
  private let arrivals: AsyncStream<LaunchSignal?>
  private let arrival: AsyncStream<LaunchSignal?>.Continuation

  init(_ signals: [LaunchSignal]) {
    (arrivals, arrival) = AsyncStream.makeStream()
    #if canImport(Dispatch) && !os(Windows)
      let arrival = arrival
      let numbers = Set(signals.map(\.rawValue))
      Self.check(numbers)
      let id = SignalPipe.shared.add(numbers) { arrival.yield(LaunchSignal(rawValue: $0)) }
      arrival.onTermination = { _ in SignalPipe.shared.remove(id) }
    #endif
  }

  /// Waits for a signal, or nil from ``wake()``, for which the condition holds.
  ///
  /// Also returns nil if the task is cancelled or the listener has finished.
  @discardableResult
  func first(where isWanted: @Sendable (LaunchSignal?) -> Bool = { _ in true }) async -> LaunchSignal? {
    for await signal in arrivals where isWanted(signal) { return signal }
    return nil
  }

  /// Ends the wait without a signal.
  func wake() { arrival.yield(nil) }

  /// Ends the listener, and restores the former handlers.
  func finish() { arrival.finish() }
}

#if canImport(Dispatch) && !os(Windows)
  extension SignalListener {
    /// Stops the program unless there are signals that it can handle.
    fileprivate static func check(_ numbers: Set<Int32>) {
      if numbers.isEmpty {
        trap("run(on:) was called without signals. Pass the signals to wait for, such as [.terminate, .interrupt].")
      }
      for number in numbers where !(1..<NSIG).contains(number) || number == SIGKILL || number == SIGSTOP {
        refuse(number)
      }
    }

    /// Stops the program for a signal that this platform doesn't have, or that no program can handle.
    fileprivate static func refuse(_ number: Int32) -> Never {
      trap(
        "run(on:) can't wait for signal \(number), which no program can handle on this platform (its signals are 1 to"
          + " \(NSIG - 1)). Use .terminate or .interrupt.")
    }
  }

  /// A pipe from the signal handler, which may do little more than write, to the listeners.
  ///
  /// The handler is set as soon as a listener is added, so no signal is lost. Programs that this one starts don't inherit
  /// it; they would inherit that a signal is ignored.
  private final class SignalPipe: Sendable {
    static let shared = SignalPipe()

    private typealias Handler = @convention(c) (Int32) -> Void
    private struct State {
      var listeners: [Int: (numbers: Set<Int32>, hear: @Sendable (Int32) -> Void)] = [:]
      /// The handlers that the signals had before the first listener.
      var former: [Int32: Handler?] = [:]
      var lastID = 0
    }

    private let state = Lock(State())
    private let source: Lock<any DispatchSourceRead>

    private init() {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        trap("The pipe for signals can't be opened: error \(errno). Close files that are no longer needed.")
      }
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
      signalPipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
      let readEnd = ends[0]
      let source = DispatchSource.makeReadSource(
        fileDescriptor: readEnd, queue: DispatchQueue(label: "LaunchInitializers.signals"))
      self.source = Lock(source)
      self.source.withLock { source in
        source.setEventHandler {
          var number: UInt8 = 0
          while read(readEnd, &number, 1) == 1 { SignalPipe.shared.arrived(Int32(number)) }
        }
        source.resume()
      }
    }

    func add(_ numbers: Set<Int32>, _ hear: @escaping @Sendable (Int32) -> Void) -> Int {
      state.withLock { state in
        state.lastID += 1
        state.listeners[state.lastID] = (numbers, hear)
        for number in numbers where state.former[number] == nil {
          let former: Handler? = signal(number, handleSignal)
          // SIG_ERR: the C library keeps the signal for itself.
          if unsafeBitCast(former, to: Int.self) == -1 { SignalListener.refuse(number) }
          state.former.updateValue(former, forKey: number)
        }
        return state.lastID
      }
    }

    /// Removes a listener; the last one to a signal restores the handler that it had before.
    func remove(_ id: Int) {
      state.withLock { state in
        guard let removed = state.listeners.removeValue(forKey: id) else { return }
        for number in removed.numbers where !state.listeners.values.contains(where: { $0.numbers.contains(number) }) {
          if let former = state.former.removeValue(forKey: number) { _ = signal(number, former) }
        }
      }
    }

    private func arrived(_ number: Int32) {
      let listeners = state.withLock { $0.listeners.values.filter { $0.numbers.contains(number) } }
      for listener in listeners { listener.hear(number) }
    }
  }

  /// The end of the pipe that the handler writes to; a global because a handler has no context.
  private let signalPipeEnd = Atomic<Int32>(-1)

  private func handleSignal(_ number: Int32) {
    let error = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipeEnd.load(ordering: .relaxed), &byte, 1)
    errno = error
  }
#endif
