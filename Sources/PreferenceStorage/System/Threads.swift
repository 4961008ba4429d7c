internal import Support

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
  // The time in which the machine sleeps is nobody's fault.
  private let end: SuspendingClock.Instant
  private var tries = 0

  init(_ limit: Duration) { end = .now + limit }

  /// Whether some milliseconds were waited.
  var isLong: Bool { tries >= 100 }

  /// Waits a little; false once the limit is reached.
  ///
  /// Less if the lock is free until the thread wakes up, which then is the next to take it.
  mutating func wait(isNext: Bool = false) -> Bool {
    tries += 1
    guard SuspendingClock.now < end else { return false }
    switch tries {
    case ..<20: sched_yield()
    case ..<100: usleep(50)
    case ..<600: usleep(500)
    default: usleep(isNext ? 1_000 : 16_000)
    }
    return true
  }
}

/// For how long a lock was kept, so that others who wait for it get their chance.
///
/// Who waits for `flock` by trying again finds it taken whenever it looks, if another process takes it again as soon as it
/// has given it back.
struct LongHold {
  private let end: SuspendingClock.Instant
  private let length: Duration

  /// Nil where it was kept for less than 100 microseconds.
  init?(since start: SuspendingClock.Instant) {
    end = .now
    length = end - start
    if length < .microseconds(100) { return nil }
  }

  /// Sleeps until the lock has been free for a tenth of the time for which it was kept, and no longer than 100 ms.
  func letOthersIn() {
    let pause = min(length / 10, .milliseconds(100)) - (.now - end)
    if pause > .zero { usleep(UInt32(max(1, pause / .microseconds(1)))) }
  }
}
