// WebAssembly without threads: there is nothing to wait for, and nothing ends.

#if os(WASI) && !_runtime(_multithreaded)
  /// One pointer.
  ///
  /// `@unchecked Sendable`: there is one thread.
  @safe struct ThreadLocalPointer: @unchecked Sendable {
    private let place = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)

    init(atThreadEnd cleanUp: @convention(c) (UnsafeMutableRawPointer) -> Void) { unsafe place.initialize(to: nil) }

    var pointer: UnsafeMutableRawPointer? {
      get { unsafe place.pointee }
      nonmutating set { unsafe place.pointee = newValue }
    }
  }

  /// A lock that is always free.
  struct SystemMonitor: Sendable {
    func lock() {}
    func unlock() {}
    func wakeAll() {}

    /// Stops the program: no other thread could end the wait.
    func sleep() { trap("A value is waited for that is made by the only thread there is.") }
  }

  /// Not known, so a chain of initializers that is too long isn't found out.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? { nil }

  func pauseBriefly(afterLooks looks: Int) {}
#endif
