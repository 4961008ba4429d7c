// The thread-local storage and the stack bounds of threads on systems with pthreads. Only Windows and WebAssembly
// without threads have no pthreads.

#if !os(Windows) && !(os(WASI) && !_runtime(_multithreaded))
  internal import Support

  /// A pointer with a separate value for each thread.
  struct ThreadLocalPointer: Sendable {
    private let key: pthread_key_t

    /// Creates a pointer that is nil on each thread until the thread sets it.
    ///
    /// - Parameter cleanUp: Called when a thread ends, with the value that the thread has set.
    /// - Precondition: The process has not run out of thread-specific keys (1,024 with glibc, 512 on Darwin).
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

  /// Returns the address of a function that the program or one of its libraries exports; nil if none does.
  func symbol(_ name: String) -> UnsafeMutableRawPointer? {
    #if canImport(Darwin)
      return unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -2), name)  // RTLD_DEFAULT
    #else
      return unsafe dlsym(nil, name)
    #endif
  }

  /// Runs `body` on a new thread, and returns when it is done.
  ///
  /// - Precondition: The system can start another thread.
  func onNewThread(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      let work = unsafe Unmanaged.passRetained(ThreadWork(run: body))
      #if canImport(Darwin) || canImport(Musl)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let status = unsafe pthread_create(
        &thread, nil,
        { argument in
          let pointer: UnsafeMutableRawPointer? = unsafe argument
          if let pointer = unsafe pointer { unsafe Unmanaged<ThreadWork>.fromOpaque(pointer).takeRetainedValue().run() }
          return nil
        }, unsafe work.toOpaque())
      precondition(status == 0, "The system can't start another thread (pthread_create: \(status)).")
      #if canImport(Darwin) || canImport(Musl)
        if let thread = unsafe thread { unsafe pthread_join(thread, nil) }
      #else
        pthread_join(thread, nil)
      #endif
    }
  }

  /// The work of a new thread.
  private final class ThreadWork {
    let run: () -> Void
    init(run: @escaping () -> Void) { self.run = run }
  }

  /// Returns the lowest address and the size of the calling thread's stack, or nil if the system doesn't report them.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? {
    #if canImport(Darwin)
      let size = unsafe pthread_get_stacksize_np(pthread_self())
      return unsafe (UInt(bitPattern: pthread_get_stackaddr_np(pthread_self())) - UInt(size), size)
    #elseif canImport(Glibc) || canImport(Musl) || canImport(Android)
      // Swift doesn't import `pthread_getattr_np`, a GNU extension that glibc, musl and bionic have.
      typealias GetAttributes = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
      guard let symbol = unsafe symbol("pthread_getattr_np") else { return nil }
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
#endif
