internal import Support

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// Calls a function that may block, on a new thread if the system provides one.
///
/// For example, the function may write a log or run the cancellation handlers of steps. The new thread doesn't belong
/// to Dispatch, because other libraries may block every thread that Dispatch has for queues. On Windows, or if no
/// thread can be created, a Dispatch queue calls the function. On a platform without Dispatch, a task calls it.
func callOnThread(_ body: @escaping @Sendable () -> Void) {
  if startThread(body) { return }
  #if canImport(Dispatch)
    DispatchQueue(label: "LaunchInitializers.call").async(execute: body)
  #else
    Task { body() }
  #endif
}

/// Calls a function on a new thread, and returns false if the system provides none.
private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  #if canImport(Dispatch) && !os(Windows)
    let argument = Unmanaged.passRetained(ThreadBody(call: body)).toOpaque()
    #if canImport(Darwin) || canImport(Musl)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let error = pthread_create(
      &thread, nil,
      { argument in
        pthread_detach(pthread_self())
        let argument: UnsafeMutableRawPointer? = argument
        if let argument { Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().call() }
        return nil
      }, argument)
    // The process may already have the maximum number of threads.
    if error != 0 { Unmanaged<ThreadBody>.fromOpaque(argument).release() }
    return error == 0
  #else
    return false
  #endif
}

/// An object that contains a function, because a new thread gets only a pointer.
private final class ThreadBody: Sendable {
  let call: @Sendable () -> Void

  init(call: @escaping @Sendable () -> Void) { self.call = call }
}

/// Calls a function that may block, on a thread that it shares with other such functions.
///
/// Timers that are due at once so need few threads, and functions that block their threads delay no others for long.
func callOnSharedThread(_ body: @escaping @Sendable () -> Void) { SharedThreads.shared.call(body) }

private final class SharedThreads: Sendable {
  static let shared = SharedThreads()

  /// The number of threads that there may be at first, and of those that may be added when all are blocked.
  private static let count = 16
  /// The time after which all threads count as blocked, if none of them has taken a function in it.
  private static let patience = Duration.milliseconds(250)

  private struct State {
    /// The functions to call; nil for those that have been called.
    var bodies: [(@Sendable () -> Void)?] = []
    /// The index of the first function in `bodies` that hasn't been called.
    var next = 0
    /// The number of threads, and the number that there may be; the second grows if all of them are blocked.
    var (threads, limit) = (0, SharedThreads.count)
    /// The number of functions that threads have taken.
    var taken = 0
    /// Whether a timer is set that looks for blocked threads.
    var isWatched = false

    mutating func take() -> (@Sendable () -> Void)? {
      if next == bodies.count {
        (bodies, next) = ([], 0)
        threads -= 1
        if threads == 0 { limit = SharedThreads.count }
        return nil
      }
      taken += 1
      // The list must not release the function in the lock, because the function may have the last reference to a
      // sequence.
      let body = bodies[next].take()
      next += 1
      if next >= 1_000 {
        bodies.removeFirst(next)
        next = 0
      }
      return body
    }
  }

  private let state = Lock(State())

  func call(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.bodies.append(body) }
    addThread()
  }

  /// Adds a thread for the functions that wait; if there may be no further one, makes sure that blocked ones are noticed.
  private func addThread() {
    let (isNeeded, isPermitted) = state.withLock { state in
      let isNeeded = state.next < state.bodies.count
      let isPermitted = isNeeded && state.threads < state.limit
      if isPermitted { state.threads += 1 }
      return (isNeeded, isPermitted)
    }
    if !isNeeded || isPermitted && startThread({ [self] in work() }) { return }
    if isPermitted {
      // The process may have no more threads. Then the threads that there are call the function.
      let isAlone = state.withLock { state in
        if state.threads == 1 { return true }
        state.threads -= 1
        return false
      }
      if isAlone { return callOnThread { [self] in work() } }
    }
    watch()
  }

  /// Permits further threads if no thread takes a function for a time while functions wait.
  private func watch() {
    let former = state.withLock { state -> Int? in
      defer { state.isWatched = true }
      return state.isWatched ? nil : state.taken
    }
    guard let former else { return }
    LaunchClock.callOnTimerThread(after: Self.patience) { [self] in
      let isBlocked = state.withLock { state in
        state.isWatched = false
        if state.taken == former { state.limit = state.threads + Self.count }
        return state.taken == former
      }
      // The last call looks for blocked threads again, if functions still wait.
      for _ in 0...(isBlocked ? Self.count : 0) { addThread() }
    }
  }

  private func work() {
    while let body = state.withLock({ $0.take() }) { body() }
  }
}
