internal import Support
import Synchronization

#if os(Windows)
  internal import WinSDK
#endif

// MARK: Threads

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
/// A waiting thread tries the lock repeatedly: at first without a pause, since most locks are held only briefly, then
/// every 50 microseconds, and later about every millisecond. The pauses of about a millisecond are random, so that all
/// waiting threads have an equal chance.
struct Patience {
  let limit: Duration
  /// The time at which the wait ends; nil before the first call of `wait()`.
  ///
  /// The clock stops while the machine sleeps.
  var end: SuspendingClock.Instant?
  var tries = 0

  /// Pauses the calling thread briefly, unless the time limit is reached.
  ///
  /// - Returns: False if the time limit is reached; otherwise true.
  mutating func wait() -> Bool {
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

/// A lock between the threads of this process, with a time limit for waiting.
///
/// The lock knows which thread holds it. If a thread writes to the store within its own transaction, the write throws
/// an error at once, because it would wait in vain for its own thread.
final class Turn: Sendable {
  /// The number of the thread that holds the lock, as returned by `currentThread`; 0 if no thread holds it.
  ///
  /// The value is exchanged with acquiring order and stored with releasing order. This way, a thread that has the lock
  /// sees everything that earlier owners have written.
  private let owner = Atomic<UInt>(0)
  /// The path of the store's file, for error messages; nil for a store without a file.
  private let path: String?

  init(of path: String?) { self.path = path }

  /// The longest time that a thread waits for the lock, unless a store has another limit.
  static let defaultLimit = Duration.seconds(5)

  /// Takes the lock, and waits for other threads no longer than the limit.
  ///
  /// - Throws: `.nestedTransaction` if the calling thread already holds the lock; `.busy` if the limit is reached.
  func take(within limit: Duration) throws(PreferenceError) {
    let thread = currentThread
    var patience = Patience(limit: limit)
    while true {
      let (isTaken, owner) = owner.compareExchange(expected: 0, desired: thread, ordering: .acquiring)
      if isTaken { return }
      if owner == thread {
        throw PreferenceError(
          .nestedTransaction,
          "a store was written to, reloaded or synchronized from within a transaction on it; use the transaction that"
            + " the closure is given", path: path)
      }
      guard patience.wait() else {
        throw PreferenceError(
          .busy,
          "another thread has been in a transaction on it for more than \(limit), and the change was not made; make the"
            + " transaction shorter or set a longer lockWaitLimit", path: path)
      }
    }
  }

  func giveBack() { owner.store(0, ordering: .releasing) }
}

// MARK: Forks

/// The detection of forks, after which a child must not use the state of its parent.
///
/// A store of the parent throws `.forked` in the child, since a thread of the parent may have been changing the state
/// of the store during the fork. As soon as the child starts, it closes the descriptors of locked files. Otherwise, if
/// the parent ended without unlocking a file, the file would stay locked for as long as the child runs.
enum Fork {
  private static let counter = Atomic<Int>(0)
  private static let lockedFiles = LockedFiles()
  private static let registration: Void = {
    _ = lockedFiles
    // Windows has no fork.
    #if !os(Windows)
      _ = pthread_atfork(nil, nil) {
        Fork.counter.add(1, ordering: .relaxed)
        for index in 0..<LockedFiles.capacity {
          let file = Fork.lockedFiles.slots[index].exchange(-1, ordering: .relaxed)
          if file >= 0 { _ = close(file) }
        }
      }
    #endif
  }()

  /// The number of forks between the process that first read this property and the current process.
  ///
  /// The first access registers a handler for forks. Any other access takes one atomic load and no system call.
  static var count: Int {
    registration
    return counter.load(ordering: .relaxed)
  }

  /// Records that the file is locked, or that it is no longer locked.
  static func note(_ file: Int32, isLocked: Bool) {
    let (old, new) = isLocked ? (-1, file) : (file, -1)
    for index in 0..<LockedFiles.capacity
    where lockedFiles.slots[index].compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged { return }
  }

  /// A list of the descriptors of locked files, which a forked child closes.
  ///
  /// The child can read the list without a mutex, because it consists of atomics. If more files are locked than the
  /// capacity allows, the child doesn't close the excess descriptors.
  ///
  /// `@unchecked Sendable`: The pointer never changes, and it points to atomics.
  private final class LockedFiles: @unchecked Sendable {
    static let capacity = 64
    let slots = UnsafeMutablePointer<Atomic<Int32>>.allocate(capacity: capacity)

    init() { for index in 0..<LockedFiles.capacity { (slots + index).initialize(to: Atomic(-1)) } }
  }
}

/// A holder of one object per process, so that a forked child doesn't use the object of its parent.
struct PerProcess<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private final class Entry: Sendable {
    let object: Object
    let forkCount = Fork.count
    /// The next entry, which belongs to a forked descendant of the process that has created this entry.
    let next = AtomicLazyReference<Entry>()

    init(_ object: Object) { self.object = object }
  }

  private let first = AtomicLazyReference<Entry>()

  /// Returns the object of this process, which the first call in the process creates with `make`.
  ///
  /// If several threads make the first calls at the same time, each may call `make`, but all get the same object.
  func object(_ make: () -> Object) -> Object {
    var entry = first.load() ?? first.storeIfNil(Entry(make()))
    while entry.forkCount != Fork.count { entry = entry.next.load() ?? entry.next.storeIfNil(Entry(make())) }
    return entry.object
  }
}
