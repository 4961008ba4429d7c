internal import Support

#if os(Windows)
  internal import WinSDK
#endif

/// A number that identifies the running thread among those that run now.
package var currentThread: UInt {
  #if os(Windows)
    return UInt(GetCurrentThreadId())
  #elseif canImport(Glibc)
    return UInt(pthread_self())
  #else
    return UInt(bitPattern: pthread_self())
  #endif
}

#if !os(Windows)
  /// The identifier of the process, for the names of its temporary files.
  var processIdentifier: Int32 { getpid() }
#endif

/// Sleeps for some microseconds; for zero, lets another thread go first.
private func rest(microseconds: UInt32) {
  #if os(Windows)
    if microseconds == 0 { _ = SwitchToThread() } else { Sleep(max(1, microseconds / 1_000)) }
  #else
    if microseconds == 0 { sched_yield() } else { usleep(microseconds) }
  #endif
}

/// A limited wait for a lock that can only be tried, not waited for.
///
/// Neither `flock` nor `Mutex` has a wait with a limit. A thread that waits tries the lock, sleeps for a moment, and tries
/// again, as SQLite's busy handler does: without a pause at first, since most turns are short, and 64 times a second in the
/// end.
struct Patience {
  // Time in which the machine sleeps doesn't count.
  private let end: SuspendingClock.Instant
  private var tries = 0

  init(_ limit: Duration) { end = .now + limit }

  /// Whether the wait has taken some milliseconds.
  var isLong: Bool { tries >= 100 }

  /// Sleeps for a moment and returns true, or returns false when the limit is reached.
  ///
  /// - Parameter isNext: Whether the lock is kept free for this thread, which then sleeps for shorter moments.
  mutating func wait(isNext: Bool = false) -> Bool {
    tries += 1
    guard SuspendingClock.now < end else { return false }
    switch tries {
    case ..<20: rest(microseconds: 0)
    case ..<100: rest(microseconds: 50)
    case ..<600: rest(microseconds: 500)
    default: rest(microseconds: isNext ? 1_000 : 16_000)
    }
    return true
  }
}

/// A lock that was held for long, after which other processes get a chance to take it.
///
/// A process that tries the lock now and then finds it taken every time if another one takes it again at once.
struct LongHold {
  private let end: SuspendingClock.Instant
  private let length: Duration

  /// Returns nil if the lock was held for less than 100 microseconds.
  init?(since start: SuspendingClock.Instant) {
    end = .now
    length = end - start
    if length < .microseconds(100) { return nil }
  }

  /// Sleeps until the lock has been free for a tenth of the time for which it was held, and for 100 ms at most.
  func letOthersIn() {
    let pause = min(length / 10, .milliseconds(100)) - (.now - end)
    if pause > .zero { rest(microseconds: UInt32(max(1, pause / .microseconds(1)))) }
  }
}
