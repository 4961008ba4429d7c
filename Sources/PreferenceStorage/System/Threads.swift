internal import Support

#if os(Windows)
  internal import WinSDK
#endif

/// A number that identifies the calling thread among the threads that exist now.
package var currentThread: UInt {
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

/// A wait with a time limit, for a lock that can only be polled.
///
/// A waiting thread tries the lock repeatedly: at first without a pause, since most turns are short, and later about
/// every millisecond. The pauses are random, so that all waiting threads have the same chance.
struct Patience {
  // The time for which the machine is asleep doesn't count.
  private let end: SuspendingClock.Instant
  private var tries = 0

  init(_ limit: Duration) { end = .now + limit }

  /// Sleeps briefly and returns true, or returns false if the limit is reached.
  mutating func wait() -> Bool {
    tries += 1
    guard SuspendingClock.now < end else { return false }
    switch tries {
    case ..<20: sleep(microseconds: 0)
    case ..<60: sleep(microseconds: 50)
    default: sleep(microseconds: .random(in: 500...1_500))
    }
    return true
  }
}
