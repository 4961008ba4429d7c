// The threads of systems with pthreads: all but Windows, and WebAssembly without threads.

#if !os(Windows) && !(os(WASI) && !_runtime(_multithreaded))
  internal import Support

  /// One pointer for each thread, cleaned up when its thread ends.
  struct ThreadLocalPointer: Sendable {
    private let key: pthread_key_t

    /// - Precondition: The process has not run out of thread-specific keys (1,024 on Linux, 512 on Darwin).
    init(atThreadEnd cleanUp: @convention(c) (UnsafeMutableRawPointer) -> Void) {
      var key = pthread_key_t()
      #if canImport(Darwin)
        let status = unsafe pthread_key_create(&key, cleanUp)
      #else
        typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void
        let status = unsafe pthread_key_create(&key, unsafe unsafeBitCast(cleanUp, to: Destructor.self))
      #endif
      precondition(status == 0, "The process has no thread-specific key left (pthread_key_create: \(status)).")
      self.key = key
    }

    var pointer: UnsafeMutableRawPointer? {
      get { unsafe pthread_getspecific(key) }
      nonmutating set { unsafe pthread_setspecific(key, newValue) }
    }
  }

  /// The system's lock and condition, at an address that doesn't change.
  ///
  /// `@unchecked Sendable`: the pointers never change, and point at what the system guards.
  @safe struct SystemMonitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
      unsafe mutex.initialize(to: pthread_mutex_t())
      unsafe condition.initialize(to: pthread_cond_t())
      let statuses = unsafe (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil))
      precondition(statuses == (0, 0), "The system has no lock left (pthread_mutex_init: \(statuses)).")
    }

    func lock() { unsafe pthread_mutex_lock(mutex) }
    func unlock() { unsafe pthread_mutex_unlock(mutex) }
    func sleep() { unsafe pthread_cond_wait(condition, mutex) }
    func wakeAll() { unsafe pthread_cond_broadcast(condition) }
  }

  /// The low end of the calling thread's stack, and its size; nil if the system doesn't tell.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? {
    #if canImport(Darwin)
      let size = unsafe pthread_get_stacksize_np(pthread_self())
      return unsafe (UInt(bitPattern: pthread_get_stackaddr_np(pthread_self())) - UInt(size), size)
    #elseif canImport(Glibc) || canImport(Musl) || canImport(Android)
      // Not declared to Swift: a GNU extension, which glibc, musl and bionic have.
      typealias GetAttributes = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
      guard let symbol = unsafe dlsym(nil, "pthread_getattr_np") else { return nil }
      let getAttributes = unsafe unsafeBitCast(symbol, to: GetAttributes.self)
      var attributes = pthread_attr_t()
      guard unsafe getAttributes(pthread_self(), &attributes) == 0 else { return nil }
      defer { unsafe pthread_attr_destroy(&attributes) }
      var address: UnsafeMutableRawPointer?
      var size = 0
      guard unsafe pthread_attr_getstack(&attributes, &address, &size) == 0 else { return nil }
      return (UInt(bitPattern: address), size)
    #else
      return nil
    #endif
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
      unsafe nanosleep(&pause, nil)
    }
  }
#endif
