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

/// Sleeps for some microseconds; for zero, lets another thread go first.
func sleep(microseconds: UInt32) {
  #if os(Windows)
    if microseconds == 0 { _ = SwitchToThread() } else { Sleep(max(1, microseconds / 1_000)) }
  #else
    if microseconds == 0 { sched_yield() } else { usleep(microseconds) }
  #endif
}

/// A limited wait for a lock that can only be tried, not waited for.
///
/// A waiting thread tries the lock again and again: without a pause at first, since most turns are short, and about every
/// millisecond in the end, at random, so that each of several threads is the next as often as any other.
struct Patience {
  // Time in which the machine sleeps doesn't count.
  private let end: SuspendingClock.Instant
  private var tries = 0

  init(_ limit: Duration) { end = .now + limit }

  /// Sleeps for a moment and returns true, or returns false when the limit is reached.
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
