// Every call of this module that differs from platform to platform.

internal import Support

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// Whether the caller runs on the main actor's executor.
///
/// Not the same as being on the main thread: `dispatchMain()` gives the main queue to other threads, and the main actor with
/// it. So the queue is asked, by a mark of our own on it. On Darwin the main thread counts too: it may run main-actor code
/// before it runs the queue. Without Dispatch there is one thread.
func isOnMainActor() -> Bool {
  #if canImport(Darwin)
    if pthread_main_np() != 0 { return true }
  #endif
  #if canImport(Dispatch)
    return DispatchQueue.getSpecific(key: mainQueueMark) != nil
  #else
    return true
  #endif
}

#if canImport(Dispatch)
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

/// A value behind a lock with a condition to wait for, as Hoare's monitor; `Mutex` has no condition.
///
/// `@unchecked Sendable`: the pointers never change; two point at the system's own lock, and the state is used only by
/// the thread that holds it.
final class Monitor<State: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  init(_ state: State) {
    self.state = state
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

  func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var current = state
    defer { state = current }
    return try body(&current)
  }

  /// Gives up the lock until `wakeAll()`, then takes it again; may also wake for no reason.
  ///
  /// - Precondition: The caller is inside `withLock`, and passes the state that it was given.
  func sleep(_ current: inout State) {
    state = current
    pthread_cond_wait(condition, mutex)
    current = state
  }

  func wakeAll() { pthread_cond_broadcast(condition) }
}

/// The address on the calling thread's stack below which nothing should be begun any more; 0 if the system doesn't
/// tell.
///
/// A quarter of the stack, between 32 and 128 KiB, is left for what runs besides this module. Costs some microseconds on
/// the main thread, so each thread asks once.
func lowestUsableStackAddress() -> UInt {
  var lowest: UInt = 0
  var size = 0
  #if canImport(Darwin)
    size = pthread_get_stacksize_np(pthread_self())
    lowest = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self())) - UInt(size)
  #elseif canImport(Glibc) || canImport(Musl) || canImport(Android)
    // Not declared to Swift: a GNU extension, which glibc, musl and bionic have.
    typealias GetAttributes = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
    guard let symbol = dlsym(nil, "pthread_getattr_np") else { return 0 }
    let getAttributes = unsafeBitCast(symbol, to: GetAttributes.self)
    var attributes = pthread_attr_t()
    guard getAttributes(pthread_self(), &attributes) == 0 else { return 0 }
    defer { pthread_attr_destroy(&attributes) }
    var address: UnsafeMutableRawPointer?
    guard pthread_attr_getstack(&attributes, &address, &size) == 0 else { return 0 }
    lowest = UInt(bitPattern: address)
  #endif
  return lowest + UInt(Swift.min(Swift.max(size / 4, 32 << 10), 128 << 10))
}

/// Whether the calling function's own frame is below an address.
///
/// A fiber's stack lies anywhere, so an address that is far below says nothing.
@inline(__always) func isStackAddress(below limit: UInt) -> Bool {
  var here: UInt8 = 0
  let address = withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
  return address < limit && limit - address < 1 << 20
}

/// Lets another thread get on while this one waits for it to leave a few instructions.
///
/// After some looks it sleeps for a moment, so that a thread of high priority doesn't keep the one that it waits for
/// from running.
func pauseBriefly(afterLooks looks: Int) {
  if looks < 64 { return }
  if looks < 128 {
    sched_yield()
  } else {
    var pause = timespec(tv_sec: 0, tv_nsec: 50_000)
    nanosleep(&pause, nil)
  }
}
