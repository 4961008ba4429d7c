internal import Support
import Synchronization

#if os(Windows)
  internal import WinSDK
#endif

/// A number that identifies the calling thread among the threads that exist now.
var currentThread: UInt {
  #if os(Windows)
    return UInt(GetCurrentThreadId())
  #elseif canImport(Glibc)
    return UInt(pthread_self())
  #else
    return UInt(bitPattern: pthread_self())
  #endif
}

/// Sleeps for a number of microseconds; for zero, yields to another thread.
func sleep(microseconds: UInt32) {
  #if os(Windows)
    if microseconds == 0 { _ = SwitchToThread() } else { Sleep(max(1, microseconds / 1_000)) }
  #else
    if microseconds == 0 { sched_yield() } else { usleep(microseconds) }
  #endif
}

/// A wait with a time limit, for something that can only be polled.
///
/// A waiting thread tries repeatedly: at first without a pause, since most locks are held only briefly, then every 50
/// microseconds, and later about every millisecond. The pauses of about a millisecond are random, so that all waiting
/// threads have an equal chance.
package struct Patience {
  /// The longest time that a write waits for others, unless a store has another limit.
  package static let defaultLimit = Duration.seconds(5)
  /// The longest wait of a read, and of a write if an earlier write has waited in vain.
  static let briefLimit = Duration.milliseconds(50)

  let limit: Duration
  /// The time at which the wait ends; nil before the first call of `wait()`.
  ///
  /// The clock stops while the machine sleeps.
  private var end: SuspendingClock.Instant?
  private var tries = 0

  package init(limit: Duration = Patience.defaultLimit) { self.limit = limit }

  /// The time since the first call of `wait()`; zero before it.
  var elapsed: Duration { end.map { SuspendingClock.now - $0 + limit } ?? .zero }
  /// Whether the next pause is longer than a yield to another thread.
  var isLong: Bool { tries >= 20 }

  /// Pauses the calling thread briefly, unless the time limit is reached.
  ///
  /// - Returns: False if the time limit is reached; otherwise true.
  package mutating func wait() -> Bool {
    tries += 1
    let now = SuspendingClock.now
    let end = end ?? now + limit
    self.end = end
    guard now < end else { return false }
    switch tries {
    case ..<20: sleep(microseconds: 0)
    case ..<60: sleep(microseconds: 50)
    default: sleep(microseconds: .random(in: 500...1_500))
    }
    return true
  }
}

/// A state that one thread of this process at a time may use, with a time limit for waiting.
///
/// The lock knows which thread holds it. If a thread writes to the store within its own transaction, the write throws
/// an error at once, because it would wait in vain for its own thread. Threads only try the lock and never wait in it,
/// so that it works in a forked child, too.
final class Turn<State: Sendable>: Sendable {
  private let state: Lock<State>
  /// The number of the thread that holds the lock, as returned by `currentThread`; 0 if no thread holds it.
  ///
  /// A thread only compares it with its own number, which only the thread itself writes. So relaxed order is enough.
  private let owner = Atomic<UInt>(0)
  /// The number of threads that have waited for longer than most locks are held.
  private let waiting = Atomic<Int>(0)
  /// The path of the store's file, for error messages; nil for a store without a file.
  private let path: String?

  init(_ state: State, of path: String?) {
    self.state = Lock(state)
    self.path = path
  }

  var waitingCount: Int { waiting.load(ordering: .relaxed) }

  /// Runs `body` while no other thread uses the state, and waits for other threads no longer than the limit.
  ///
  /// - Throws: `.nestedTransaction` if the calling thread already uses the state; `.busy` if the limit is reached; or
  ///   what the body throws.
  func take<Result>(
    within limit: Duration, _ body: (inout State) throws(PreferenceError) -> Result
  ) throws(PreferenceError) -> Result {
    let thread = currentThread
    if owner.load(ordering: .relaxed) == thread {
      throw PreferenceError(
        .nestedTransaction,
        "a store was written to, reloaded or synchronized from within a transaction on it; use the transaction that"
          + " the closure is given", path: path)
    }
    var patience = Patience(limit: limit)
    var isCounted = false
    defer { if isCounted { waiting.subtract(1, ordering: .relaxed) } }
    repeat {
      if patience.isLong, !isCounted {
        isCounted = true
        waiting.add(1, ordering: .relaxed)
      }
      var result: Result?
      _ = try state.withLockIfAvailable { state throws(PreferenceError) in
        owner.store(thread, ordering: .relaxed)
        defer { owner.store(0, ordering: .relaxed) }
        result = try body(&state)
      }
      if let result { return result }
    } while patience.wait()
    throw PreferenceError(
      .busy,
      "another thread has been in a transaction on it for more than \(limit), and the change was not made; make the"
        + " transaction shorter or set a longer lockWaitLimit", path: path)
  }
}
