#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A number that no other running thread has.
var currentThread: UInt {
  #if canImport(Glibc)
    return UInt(pthread_self())
  #else
    return UInt(bitPattern: pthread_self())
  #endif
}

/// The process's identifier, for the names of its temporary files.
var processIdentifier: Int32 { getpid() }

/// How long a lock is waited for, by trying again and again.
///
/// Neither `flock` nor `Mutex` can be waited for with a limit. As SQLite's busy handler does, the waiting thread tries,
/// sleeps a little, and tries again: at once for the short turns that are the rule, 64 times a second at last.
struct Patience {
  private let end: ContinuousClock.Instant
  private var tries = 0

  init(_ limit: Duration) { end = .now + limit }

  /// Waits a little; false once the limit is reached.
  mutating func wait() -> Bool {
    tries += 1
    guard ContinuousClock.now < end else { return false }
    switch tries {
    case ..<20: sched_yield()
    case ..<100: usleep(50)
    case ..<600: usleep(500)
    default: usleep(16_000)
    }
    return true
  }
}
