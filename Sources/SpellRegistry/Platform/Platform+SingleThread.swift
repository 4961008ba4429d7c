// WebAssembly without threads has a single thread, which waits for no other thread and never ends.

#if os(WASI) && !_runtime(_multithreaded)
  /// The thread-local pointer of the program's only thread.
  ///
  /// The thread never ends, so `cleanUp` is never called.
  ///
  /// `@unchecked Sendable`: there is only one thread.
  @safe struct ThreadLocalPointer: @unchecked Sendable {
    private let place = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)

    init(atThreadEnd cleanUp: @convention(c) (UnsafeMutableRawPointer) -> Void) { unsafe place.initialize(to: nil) }

    var pointer: UnsafeMutableRawPointer? {
      get { unsafe place.pointee }
      nonmutating set { unsafe place.pointee = newValue }
    }
  }

  /// Runs `body` on the only thread.
  func onNewThread(_ body: () -> Void) { body() }

  /// Returns nil, because WebAssembly has no dynamic linker.
  func symbol(_ name: String) -> UnsafeMutableRawPointer? { nil }

  /// Returns nil, because the bounds of the stack aren't known.
  ///
  /// A chain of initializers that overflows the stack is therefore not detected.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? { nil }
#endif
