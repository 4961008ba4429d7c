// Every call of this module that differs from platform to platform.

#if !canImport(Darwin)
  internal import Dispatch
#endif
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// Whether the caller runs where the main actor does.
///
/// Not the same as being on the main thread: on Linux, `dispatchMain()` gives the main queue to other threads, and the
/// main actor with it. So the queue is asked, by a mark of our own on it.
func isOnMainActor() -> Bool {
  #if canImport(Darwin)
    pthread_main_np() != 0
  #else
    DispatchQueue.getSpecific(key: mainQueueMark) != nil
  #endif
}

#if !canImport(Darwin)
  private let mainQueueMark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()
#endif

/// One pointer for each thread, cleaned up when its thread ends.
struct ThreadLocalPointer: Sendable {
  private let key: pthread_key_t

  /// - Precondition: The process has not run out of thread-specific keys (1,024 on Linux, 512 on Darwin).
  init(atThreadEnd cleanUp: @convention(c) (UnsafeMutableRawPointer) -> Void) {
    var key = pthread_key_t()
    #if canImport(Darwin)
      let status = pthread_key_create(&key, cleanUp)
    #else
      typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void
      let status = pthread_key_create(&key, unsafeBitCast(cleanUp, to: Destructor.self))
    #endif
    precondition(status == 0, "The process has no thread-specific key left (pthread_key_create: \(status)).")
    self.key = key
  }

  var pointer: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    nonmutating set { pthread_setspecific(key, newValue) }
  }
}

/// A lock with a condition to wait for, as Hoare's monitor: `Mutex` has none.
///
/// `@unchecked Sendable`: the two pointers never change, and what they point at is the system's own lock.
final class Monitor: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    let statuses = (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil))
    precondition(statuses == (0, 0), "The system has no lock left (pthread_mutex_init: \(statuses)).")
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }

  /// Gives up the lock until `wakeAll()`, then takes it again; may also wake for no reason.
  ///
  /// - Precondition: The caller is inside `withLock`.
  func wait() { pthread_cond_wait(condition, mutex) }

  func wakeAll() { pthread_cond_broadcast(condition) }
}
